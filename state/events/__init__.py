"""The events: what the log may hold, and the values that they are made of."""
