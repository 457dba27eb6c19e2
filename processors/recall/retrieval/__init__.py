"""Retrieve ranked turns for a question: the default path, other retrievers, and rerankers."""
