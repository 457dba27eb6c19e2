"""From a question to ranked turns: the default path, other retrievers, and rerankers."""
