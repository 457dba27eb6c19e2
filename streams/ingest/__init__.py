"""Record the topic `turns` in the log: decide, stamp, append, fold, close windows."""
