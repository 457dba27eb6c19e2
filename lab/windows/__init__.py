"""What windows decide besides, where a graph's settings say so: dreams, links that fade, a pace that adapts."""
