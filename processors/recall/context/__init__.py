"""Pack recalled turns into a budget of tokens, as the context of a prompt."""
