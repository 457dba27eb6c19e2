"""Decide how one turn, or feedback on it, changes the existing contents of a graph."""
