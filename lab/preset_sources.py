"""The sources of each preset, value by value: the source's value, and the reason if ours differs.

The table in docs/lifecycle.md is written from here (scripts/docs), and a test compares: every setting in which a preset
of a source differs from the defaults stands here, and its value is the one that is in force.

    "not given"     the source names no number: ours is the default, or stands beside it with its reason
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Choice(NamedTuple):
    """One value of a preset.

    name    of a setting; "mode" and "rerank" of how questions are answered; else of what is no setting
    source  what the source has, in its own words and numbers
    why     why ours differs; "" where it does not
    ours    of what is no setting, what there is in its place
    """

    name: str
    source: str
    why: str = ""
    ours: str = ""


UNSTATED: Final = "not given"
SOURCES: Final[dict[str, tuple[Choice, ...]]] = {
    "emgas": (
        Choice("mode", "spreading activation as written, N concepts name passages"),
        Choice("half_life", "e^(−λΔt), λ not given", "a half-life of 60 days: the default"),
        Choice("prune_below", "a threshold, not given", "0.03, the default; ours archives"),
        Choice("long_windows", "no tiers: long-term memory emerges from boosts and decay"),
        Choice("long_recalls", "no tiers"),
        Choice("habit_members", "no abstractions of episodes"),
        Choice("duplicate_above", "no merging"),
    ),
    "soulmem": (
        Choice("mode", "Soul-Retr: direct, sub-graph, weighted PPR, exhaustive, with a test of sufficiency"),
        Choice("end_sessions", "a dialogue's end closes the window, and is summed up"),
        Choice("session_turns", "a sliding window of raw messages, size not given", "20 turns"),
        Choice("topic_shift", "a change of topic closes it, threshold not given", "0.1 of the words in common"),
        Choice("frequent_linked", "the k most frequently retrieved are linked with new notes, k not given", "5"),
        Choice("dream_every", "memory replay when idle, how often is not given", "once a day of the graph's time"),
        Choice("recall_spread", "paths that were used get stronger, by how much is not given", "half of the boost"),
        Choice("links_below", "strength fades by Ebbinghaus, a link goes below a threshold, not given", "0.5"),
        Choice("prune_below", "a node is pruned only with the last of its links"),
        Choice("long_windows", "strength falls exponentially, one curve"),
        Choice("long_recalls", "one curve"),
        Choice("masks", "opacity falls by Ebbinghaus, thresholds θ1 > θ2, not given", "a question says", "`render`"),
    ),
    "memorybank": (
        Choice("mode", "top-k of a dense index (FAISS)", "tf-idf vectors where there is no model of embeddings"),
        Choice("half_life", "R = e^(−t/S), S in days, 1 at first", "ln 2 of a day: the same curve"),
        Choice("stability", "S grows by 1 with every recall", "and with every mention"),
        Choice("prune_below", "forgotten by chance, R is the odds to stay", "archived below 0.05: no chance"),
        Choice(
            "episode_life",
            "a piece that was recalled n times lasts 3 (n + 1) days",
            "words are strengthened here, not turns: a turn gets the 90 days of one recalled 29 times",
        ),
        Choice("long_windows", "one curve"),
        Choice("long_recalls", "one curve"),
    ),
    "maibot": (
        Choice("mode", "current − 1 / strength, 3 edges deep; 3 nodes by squared energy, 2 items of each by cosine"),
        Choice("worth_words", "a model says 1 or 0: worth remembering or not", "2 content words: no model is asked"),
        Choice("links_step", "strength − 1 of what is idle for 48 hours; its code samples 0.8 % each time", "of all"),
        Choice("prune_below", "an idle node is removed", "with the last of its links: archived"),
        Choice("decay_every", "its configuration: 3000 s"),
        Choice("consolidate_every", "its configuration: 1000 s"),
        Choice("duplicate_above", "its configuration: 0.7, of texts", "of words in common"),
        Choice("keep_information", "of similar items the one with more information stays"),
        Choice("long_windows", "no tiers"),
        Choice("long_recalls", "no tiers"),
        Choice("habit_members", "a model sums up samples, by topic", "`recap --topics` does; none are recorded"),
        Choice(
            "running memory", "3 items for 3 turns, none like another by 0.7", "", "`RunningMemory`, with every preset"
        ),
    ),
    "mofox": (
        Choice("mode", "paths: 2 hops, damping 0.85, at most 10 branches"),
        Choice("rerank", "vector 0.4, graph 0.2, importance 0.2, recency 0.2; importance of 0.3 at least"),
        Choice("half_life", "activation × 0.9 a day", "the same curve: 0.5 after 6.58 days"),
        Choice("prune_below", "0.1; more important than 0.8 is protected", "archived; protected just so"),
        Choice(
            "episode_life",
            "a memory that nothing activates lasts 22 days",
            "60 days: room for what would have been activated",
        ),
        Choice("consolidate_every", "hourly"),
        Choice("idle", "a window of 2 hours"),
        Choice("recall_spread", "0.5 to related memories, depth 1"),
        Choice("recall_related", "5 related at most"),
        Choice("duplicate_above", "0.9, of vectors", "of words in common"),
        Choice("consolidate_batch", "100"),
        Choice("link_candidates", "10"),
        Choice("link_importance", "0.5"),
        Choice("link_above", "0.7, of vectors", "of words in common"),
        Choice("link_confidence", "0.7, told by a model", "the affinity: no model is asked"),
    ),
    "simplemem": (
        Choice("mode", "three views in one", "the flow, which has the lexical and the symbolic view in it"),
        Choice("rerank", "0.5 semantic + 0.3 lexical + 0.2 constraints, moved by the question"),
        Choice("novelty_above", "τ 0.35"),
        Choice("novelty_alpha", "α 0.5"),
        Choice("novelty_beta", "β 0.1"),
        Choice(
            "novelty_border", "what is near τ is kept, how near is not given", "0.2 below, if it names something new"
        ),
        Choice("window_tokens", "512 tokens; its code: 40 dialogues", "512 words; the article is followed"),
        Choice("window_overlap", "50 %; its code: 2 dialogues", "the article is followed"),
        Choice("clauses", "sentences are split into clauses"),
        Choice("affinity_above", "0.7 to 0.8, then 0.5 and 0.3", "0.75, and two thirds of it"),
        Choice("affinity_gamma", "γ 0.5"),
        Choice("affinity_tau", "hours for projects, weeks to months for habits", "30 days"),
        Choice("archive_covered", "archived once the abstract is validated", "at once: 1 ms after it was said"),
        Choice("episode_life", "30 days active"),
        Choice("prune_below", "only abstracts and age archive"),
        Choice("steady_growth", "consolidation adapts to growth, by how much is not given", "0.1"),
        Choice(
            "k",
            "3 · (1 + 5.67 C); its code: 25 semantic, 5 lexical, 5 structured",
            "",
            "the article's, 3 to 20, by its C, if no number is set",
        ),
    ),
    "hello-agents": (
        Choice("mode", "vectors", "tf-idf vectors where there is no model of embeddings"),
        Choice("rerank", "(0.7 vector + 0.3 graph) · (0.8 + 0.4 importance), twice as many fetched"),
        Choice(
            "episodes",
            "(0.8 vector + 0.2 recency) · (0.8 + 0.4 importance), five times as many fetched",
            "",
            "`memory=episodic`, so",
        ),
        Choice("idle", "what is worked with lives 60 minutes"),
        Choice("prune_below", "only the working memory forgets"),
        Choice("long_windows", "no tiers within a kind"),
        Choice("long_recalls", "no tiers within a kind"),
        Choice("habit_members", "no abstractions"),
        Choice("duplicate_above", "no merging"),
        Choice(
            "working memory", "50 items, 60 minutes, 0.7 tf-idf + 0.3 keywords", "", "`memory=working`, in every preset"
        ),
        Choice(
            "recency", "episodic 0.05 a day, perceptual 0.1, at least 0.1", "", "`memory=episodic` and `perceptual`, so"
        ),
    ),
}
