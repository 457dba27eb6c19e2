"""The command line, `emgas`: parse, call the layer below, print."""
