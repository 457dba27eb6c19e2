"""Common code of all routes: errors, paths, and the admission of connections."""
