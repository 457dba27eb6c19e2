"""Habits: what recurs, how it is worded, and which turns belong together."""
