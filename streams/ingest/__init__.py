"""From the topic turns to the log: judge, append, fold, close windows."""
