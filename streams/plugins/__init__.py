"""What an operator may plug in: extractors and embedders."""
