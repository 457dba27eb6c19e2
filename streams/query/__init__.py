"""From the topic queries to an answer."""
