"""From a query of the wire to its reply: recall, explanation, and what belongs beside the passages."""
