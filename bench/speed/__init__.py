"""Measure the speed of each part, and how its cost grows with a memory: times, sizes, instructions."""
