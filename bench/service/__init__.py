"""Measure the behaviour of a running worker or server: answers, fairness, failover, attacks."""
