"""The tables of one graph, and the columns, lists and strings that they are made of."""
