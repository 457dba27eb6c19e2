"""Who may do what: keys, tokens, and the graphs that each may reach."""
