"""Commands on memories: publish, query, import, forget."""
