"""Rebuilding and following a fold inside Faust."""
