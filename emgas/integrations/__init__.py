"""Adapters for agent frameworks.  Each framework is imported in one file only."""
