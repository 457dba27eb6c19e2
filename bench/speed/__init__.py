"""How fast each part is, and how its cost grows with a memory: times, sizes, instructions."""
