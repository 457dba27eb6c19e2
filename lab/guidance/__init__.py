"""Guidance: how thoroughly to search, in which mood and for whom."""
