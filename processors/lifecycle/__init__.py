"""What time does to a graph: windows, forgetting, consolidation, themes."""
