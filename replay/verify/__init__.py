"""Is what a worker holds the fold of the log, and where not?"""
