"""What an advisor is asked, what it is told, and whether what it says fits: pure functions."""
