"""The past: a graph as it was at a moment."""
