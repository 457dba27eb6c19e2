"""Stores for the keys of encrypted graphs: files, or a topic of their own.  Never in the log or in a backup."""
