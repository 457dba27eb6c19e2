"""EMGAS on Apache Kafka: the Faust transport, the reader of the log, and the creation of topics."""
