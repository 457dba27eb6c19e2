"""Authentication and authorisation: keys, tokens, and the graphs that each may use."""
