"""Stores of folds: the interface, its backends, and the layout of keys."""
