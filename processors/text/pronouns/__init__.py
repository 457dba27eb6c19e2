"""Find the persons and things that pronouns mean."""
