"""How good recall is: data sets with evidence, what is measured, the methods it is compared with.

    questions.py  bytes of a data set → turns to remember, and questions with their evidence
    memory.py     what a method may see: a folded graph and its texts; never the evidence
    methods.py    every method by name: a memory → a ranker of its turns; the peers are in baselines/
    measure.py    asks every question of every method; only afterwards the answers meet the evidence
    fitted.py     the default and its peers with weights fitted to the other conversations, for `--fit`
    metrics.py    R@k, T531, T973, nDCG@10, MRR of one ranking
    summary.py    means, categories, percentiles and intervals: what the command prints
    bootstrap.py  paired intervals of a difference

Pure, like everything below `streams`: the clock and the randomness are arguments.  The command is in
evaluation/command.py.
"""
