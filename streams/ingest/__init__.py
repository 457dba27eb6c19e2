"""From the topic turns to the log: decide, stamp, append, fold, close windows."""
