"""Faults of many kinds, by seed, against real workers on a real Kafka: `python -m bench.torture` (__main__.py)."""
