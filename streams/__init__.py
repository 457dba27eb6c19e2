"""Kafka and Faust: the only layer that meets them, the clock and the network."""
