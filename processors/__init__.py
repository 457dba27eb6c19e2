"""Pure functions over text and graphs: concepts, activation, recall.  No clock, no I/O, no randomness."""
