"""Encrypted events: the keys of a graph, the cipher, and how an event is sealed and opened."""
