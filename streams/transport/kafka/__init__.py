"""EMGAS on Apache Kafka: the Faust transport, the reader of the log, and the making of topics."""
