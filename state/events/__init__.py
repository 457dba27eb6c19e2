"""The events that the log may hold, and their values."""
