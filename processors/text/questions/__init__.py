"""Classify a question: kind of answer, slot and its owner, complexity, and continuation of the question before."""
