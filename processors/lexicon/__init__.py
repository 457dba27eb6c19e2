"""What words mean to each other, written by hand from general knowledge: words only, no rules.

    actions.py, living.py   groups of English words of nearly one meaning
    chinese.py              the same for Chinese, with the English words that mean it
    kinds_of_doing.py,      kinds of things and their members, in both languages at once
    kinds_of_being.py

The lists go through the common words of everyday life field by field (what one does, says, feels, owns, eats; people,
body, home, school, work, towns, arts, nature, technology).  No word is taken from a data set, but whoever wrote them
had read some of what recall missed on LoCoMo's dev conversations.  Words stand as the ids of their concepts: lower
case, dictionary form.  They are read by processors/lexicon/query_expansion.py and processors/lexicon/hyponyms.py.
"""
