"""Adapters: this memory in somebody else's framework, each in the one file that imports that framework."""
