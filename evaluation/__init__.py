"""Measure the quality of recall: data sets with evidence, metrics, and methods to compare with.

    datasets.py       bytes of a data set → turns to remember, and questions with their evidence
    answer_strings.py where an answer stands word for word: the evidence of a question that has none labelled
    logged_memory.py  publishes the turns through a worker of its own, and folds its log into graphs
    memory.py         what a method may see: a folded graph and its texts; never the evidence
    methods.py        every method by name: a memory → a ranker of its turns; the peers are in baselines/
    measure.py        asks every question of every method; only afterwards the answers meet the evidence
    metrics.py        R@k, recall within a budget of tokens, nDCG@10, MRR of one ranking
    fitting.py        weights that make the evidence most likely; fitted.py leaves out the conversation that is asked
    bootstrap.py      paired intervals of a difference
    summary.py        means, categories, percentiles and intervals; report.py prints them
    command.py        `emgas measure eval`

This layer lies above `streams` and is neither in the client's wheel nor in the worker's image.  All but the command and
logged_memory.py is pure: the clock and the randomness are arguments.
"""
