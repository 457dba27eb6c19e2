"""The client that other programs import, and its connections."""
