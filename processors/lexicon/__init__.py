"""The meanings of words: tables written by hand from general knowledge (data/), and the rules that use them.

    synonyms         words of nearly one meaning                  data/synonyms.tsv
    hyponyms         kinds of things and their members            data/hyponyms.tsv
    word_families    words of one stem                            data/word_families.tsv (endings)
    query_expansion  all three: what counts in part for a word of the question

The tables go through the common words of everyday life field by field (what one does, says, feels, owns, eats; people,
body, home, school, work, towns, arts, nature, technology).  No word is taken from a data set, but anyone who wrote them
had read some of what recall missed on LoCoMo's dev conversations.  Words stand as the ids of their concepts: lower
case, dictionary form.
"""
