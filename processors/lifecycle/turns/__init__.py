"""What one turn, or feedback on it, changes in what a graph already has."""
