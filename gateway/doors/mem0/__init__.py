"""The part of mem0's HTTP API that its clients speak."""
