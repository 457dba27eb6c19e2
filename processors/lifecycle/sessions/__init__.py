"""Conversations: when they end, and what was last mentioned in them."""
