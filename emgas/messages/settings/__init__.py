"""What a graph can be set to: its settings, modes, and how energy spreads in it."""
