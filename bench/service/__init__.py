"""How a running worker or server behaves: answers, fairness, failover, attacks."""
