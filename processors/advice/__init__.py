"""What an advisor is asked, what it gets, and whether what it says fits: pure functions."""
