"""Questions with known evidence: reading data sets, and rewriting conversations into other forms."""
