"""What a consolidation window finds, and when it ends."""
