"""What every route shares: errors, paths, and how connections are admitted."""
