"""Copies: the log as lines, and stores as snapshots."""
