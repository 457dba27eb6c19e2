"""Rebuild and follow a fold inside Faust."""
