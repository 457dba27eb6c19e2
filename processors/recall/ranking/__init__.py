"""Score how well each turn answers a question: spreading activation, flow to turns, features and their weights."""
