"""EMGAS without a broker: a durable log in one SQLite file, and the Faust transport that uses it."""
