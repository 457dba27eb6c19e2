"""The messages: everything that travels on the wire, by topic."""
