"""One graph: its fold, its tables, its bytes, and what recall may see of it."""
