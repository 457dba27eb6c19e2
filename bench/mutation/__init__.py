"""Small faults, put into the code one by one: which tests notice them (`python -m bench.mutation`)."""
