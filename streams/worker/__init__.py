"""The worker: the composition root, and its life in a process."""
