"""Where folds are kept: the seam, its backends, and what lies under which key."""
