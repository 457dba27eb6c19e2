"""Consolidation windows: when they end, and what they decide."""
