"""From a turn to its concepts and tags: the extractor seam, and the one on YAKE."""
