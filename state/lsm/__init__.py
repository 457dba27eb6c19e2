"""How a graph is stored: a log-structured merge tree of tables of sorted records."""
