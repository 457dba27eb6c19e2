"""The two transports behind one face, and what travels over them."""
