"""Hooks of agent programs.  `emgas hook EVENT` runs at every prompt, so it needs only the standard library."""
