"""Build an advisor's tasks, write its prompts, and check its answers: pure functions."""
