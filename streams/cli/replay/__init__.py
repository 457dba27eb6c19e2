"""Commands on the log: verify, rebuild, diff, branch, undo."""
