"""Time expressions: what "last Friday" means, given when it was said."""
