"""Features of the systems that EMGAS is made from, which its default does without: loaded when they are named.

    retrievers/  other ways from a question to its passages: `--mode path`
    gates/       rules that leave turns out of what is counted: `novelty_above`, `worth_words`
    masks.py     turns as a person remembers them who has forgotten some of it: `render="masked"`
    preset_sources.py  what each preset of another system sets, and why
    rerankers/   other formulas that order the best passages again: `rerank="simplemem"`
    windows/     dreams, links that fade, a pace that adapts: settings of a graph turn them on

Each is a policy: an entry point in pyproject.toml names it, and streams/plugins/policies.py loads it.  No other layer
imports this one, but for evaluation, which compares them.  lab/README.md describes all of them.
"""
