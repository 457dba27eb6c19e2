"""The client that other programs import, and what carries its records."""
