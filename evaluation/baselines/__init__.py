"""Baselines for recall: other methods that people would use, on the same words and the same graph."""
