"""Commands on memories: query, who, forget, configure."""
