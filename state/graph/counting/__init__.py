"""Counts of concepts, and of pairs of concepts that occur together."""
