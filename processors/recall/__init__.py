"""From a question to the turns that answer it."""
