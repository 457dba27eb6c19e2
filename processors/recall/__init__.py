"""Recall: find the turns that answer a question."""
