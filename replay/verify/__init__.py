"""Check whether a worker's state is the fold of the log, and find where it is not."""
