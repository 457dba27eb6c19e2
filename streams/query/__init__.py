"""Answer questions from the topic `queries`."""
