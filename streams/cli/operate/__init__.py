"""Commands for operators: worker, topics, doctor, snapshots, dead letters."""
