"""The whole worker on a simulated broker, clock and disk: one seed, one run (bench/simulate.py)."""
