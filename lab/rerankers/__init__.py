"""Formulas of other systems that order the best passages again."""
