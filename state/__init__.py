"""The memory: events, the fold, graphs with their counts and decay, and the store.  All but the store is pure."""
