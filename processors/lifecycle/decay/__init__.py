"""Remove content from a memory: by fading, on request, by erasing a subject."""
