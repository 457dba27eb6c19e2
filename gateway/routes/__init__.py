"""The gateway's own HTTP routes."""
