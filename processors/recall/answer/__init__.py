"""Compute the reply to a query: recall, explanation, habits, people, relations and attachments."""
