"""Store a graph as a log-structured merge tree: tables of sorted records."""
