"""Answers to each kind of question, registered in one table (registry.py), and what they are computed from."""
