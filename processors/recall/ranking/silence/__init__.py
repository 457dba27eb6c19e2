"""Whether a memory knows an answer at all: the evidence that reached its turns, and how likely they are right."""
