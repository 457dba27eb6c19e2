"""Optional decisions of windows, by a graph's settings: dreams, fading links, an adaptive pace."""
