"""Other retrievers than the default: one file each; those that walk the graph stand behind one seam (seam.py)."""
