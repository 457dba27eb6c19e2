"""Reading a log again: rebuild, verify.  Pure over what it is handed to read."""
