"""Importers: bytes of a chat export in, turns out."""
