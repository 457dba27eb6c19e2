"""The settings of a graph: memory settings, modes, and spreading."""
