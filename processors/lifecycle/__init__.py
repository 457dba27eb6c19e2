"""The effects of time on a graph: windows, forgetting, consolidation, themes."""
