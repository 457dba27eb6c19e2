"""Folding a log again, without a live worker."""
