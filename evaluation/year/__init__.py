"""A year of talk of our own, in English and in Chinese, and what a person would ask of it: is the right line there?"""
