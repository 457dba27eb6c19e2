"""Fitting weights and thresholds of recall to labelled questions."""
