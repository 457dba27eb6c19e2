"""Every known retriever as a mode of the same question: one file a mode, behind one seam (seam.py)."""
