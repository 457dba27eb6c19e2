"""How well each turn answers a question: what wakes, how energy flows to turns, and what each feature is worth."""
