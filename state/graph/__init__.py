"""One graph: its fold, its tables, its bytes, and its view for recall."""
