"""How often concepts occur, and how often two of them occur together."""
