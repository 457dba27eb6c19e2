"""Estimate whether a memory holds an answer at all, from the evidence for a question in its turns."""
