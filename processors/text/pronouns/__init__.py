"""Whom and what pronouns mean."""
