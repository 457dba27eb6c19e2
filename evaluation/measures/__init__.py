"""Measure a memory over time, beside its recall: `emgas measure eval --measures`.  SEEDS P50.

    patterns.py     are recurring habits extracted, and nothing else?
    ageing.py       is what lies long ago found as well as what was said last?
    abstraction.py  do abstracts cover what recurs without hiding the details?
    forgetting.py   does what was rehearsed stay longer, and does nothing come back alone?

Each is pure, of graphs that were folded and of questions that were scored.
"""
