"""Reading a log again: rebuild, verify, the past, snapshots, backups.  No clock; I/O only over what it is handed."""
