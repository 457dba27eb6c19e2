"""What a prompt gets: recalled turns packed into a budget of tokens."""
