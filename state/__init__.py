"""The memory itself: events, the fold, one graph, its counts and decay, the store.  Pure, but for the store."""
