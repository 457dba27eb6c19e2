"""Where the keys of encrypted graphs are kept: files, or a topic of their own.  Never in the log, nor in any backup."""
