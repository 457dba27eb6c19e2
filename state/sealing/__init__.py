"""Events whose content only a key opens: the keys of a graph, the cipher, and how an event is sealed and opened."""
