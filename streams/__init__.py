"""The only layer that uses Kafka, Faust, the clock and the network."""
