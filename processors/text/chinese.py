"""Chinese text: simplified characters, segmentation into words, and which words are content.

rjieba segments and tags parts of speech; OpenCC turns traditional characters into simplified ones, so that 密鑰 and
密钥 are one node.  Both load when the first Han character comes, once per process.

Three things are added to its cut.  Words of these years (拿铁, data/new_words.tsv) are words.  So are relative weeks
and months (下周四) and 哪天, which its dictionary lacks: else their characters join their neighbours' (苏阳下|周四,
哪|天上|门).  And a long word brings the words inside it (咖啡馆: 咖啡), or its pairs of characters where it stands in
no dictionary (何伟带: 何伟, 伟带), often a wrong cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any, Final

from processors.text import stopwords, tables
from processors.text.scripts import HAN

_ANY: Final = tables.lazy(f"[{HAN}]")
_RUN: Final = tables.lazy(f"[{HAN}]+")
_CRY: Final = tables.lazy("[哈呵嘿嘻嘎啊哦嗯呃唉哎呀哇喔嘛吧呢吗啦咯噢额诶呜嗷唔哼哟呗欸]+")
# Tags that never name a thing: pronouns, numerals, measures, prepositions, conjunctions, adverbs, particles, cries,
# relative places.  One character alone must be a noun, a verb, an adjective or an abbreviation.
_FUNCTION_TAGS: Final = frozenset(
    {"r", "rr", "rz", "m", "mq", "q", "p", "c", "d", "df", "dg", "u", "uj", "ul", "ud", "uz", "ug", "uv", "e", "y", "o"}
    | {"f", "k", "h"}
)
_WEEKDAY: Final = tables.lazy("(?:周|星期|礼拜)[一二三四五六日天末]")
_FREQUENCY: Final = 2000  # of a word of ours among the dictionary's 60 million: as a common word's
LONGEST_RUN: Final = 64  # characters of a run whose words are kept: a text may be one run
_PRONOUNS: Final = frozenset("我你您他她它咱")
_KIN: Final = frozenset("爸妈爹娘哥姐弟妹")  # relatives that one sign names
_DOES: Final = ("v", "d", "p", "a", "t")  # of jieba's tags, as they begin: of what stands behind a subject
_CONTENT_TAGS: Final = ("n", "v", "a", "j")
_NAME_TAGS: Final = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})  # people, places, organisations, brands


def simplified(text: str) -> str:
    """Convert traditional Han characters to simplified ones; a text without Han stays as it is."""
    return _converter()(text) if _ANY.search(text) else text


class Segmenter:
    """Cut Chinese into words: by rjieba's dictionary, our time words, and `words` (Han, two characters and more).

    Loading takes about 0.1 s and 32 MB, when the first run comes.  Raises ValueError for what is no such word.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = tuple(sorted({simplified(clean) for word in words if (clean := word.strip())}))
        for word in self.words:
            if len(word) < 2 or not _RUN.fullmatch(word):
                raise ValueError(
                    f"{word!r} is no Chinese word to add: give two Han characters or more, and nothing else"
                )
        self._known = lru_cache(1 << 9)(self._tagged)
        self.parts = lru_cache(1 << 13)(self._parts)
        self.knows = lru_cache(1 << 13)(self._knows)

    def segmented(self, run: str) -> Sequence[tuple[str, str]]:
        """Cut a run of Han characters into words with jieba's part-of-speech tags; joined, they are the run."""
        return self._known(run) if len(run) <= LONGEST_RUN else self._tagged(run)

    def _tagged(self, run: str) -> Sequence[tuple[str, str]]:
        return [part for word, tag in self._dictionary.tag(run) for part in self._without_subject(word, tag)]

    def _without_subject(self, word: str, tag: str) -> list[tuple[str, str]]:
        """Cut a pronoun or a relative of one sign off what is a guess: 我开 of 我开什么车, 我妈, 爸去."""
        if len(word) < 2 or self.knows(word):
            return [(word, tag)]
        if word[0] in _PRONOUNS and (tag[:1] != "n" or word[1] in _KIN):
            return [(word[0], "r"), *self._without_kin(word[1:])]
        return self._without_kin(word) if word[0] in _KIN else [(word, tag)]

    def _without_kin(self, word: str) -> list[tuple[str, str]]:
        """Cut off a relative of one sign who does what follows; 哥布林 and 妈宝 are no such words."""
        rest = list(self._dictionary.tag(word[1:])) if word[0] in _KIN and not self.knows(word) else []
        is_subject = rest and (rest[0][1].startswith(_DOES) or rest[0][0] == "家")
        return [(word[0], "n"), *rest] if is_subject else list(self._dictionary.tag(word))

    def _knows(self, word: str) -> bool:
        """Return whether a word stands in the dictionary; else it is a guess, and may be a wrong cut."""
        return bool(self._dictionary.has_word(word))

    def _parts(self, word: str, tag: str) -> tuple[str, ...]:
        """Find the words inside a simplified content word of three characters or more; of 下周四, 周四."""
        if word in _time_words():
            return (word[weekday.start() :],) if (weekday := _WEEKDAY.search(word)) else ()
        if len(word) < 3 or not is_content(word, tag):
            return ()
        if self._dictionary.has_word(word):
            return tuple(part for part in self._dictionary.cut_for_search(word) if 1 < len(part) < len(word))
        return tuple(word[start : start + 2] for start in range(len(word) - 1))

    @cached_property
    def _dictionary(self) -> Any:
        import rjieba

        dictionary = rjieba.Jieba()
        for word in sorted(_time_words()):
            dictionary.add_word(word, _FREQUENCY, "t")
        for (word,) in tables.rows(__package__, "new_words"):
            dictionary.add_word(word, max(_FREQUENCY, dictionary.suggest_freq(word)), "n")
        for word in self.words:  # as often as it must be to come out whole
            dictionary.add_word(word, max(_FREQUENCY, dictionary.suggest_freq(word)), "nz")
        return dictionary


STANDARD: Final = Segmenter()  # without added words
segmented: Final = STANDARD.segmented


def is_content(word: str, tag: str) -> bool:
    """Return whether a simplified word with this tag is content: 猫 and 密钥, not 存, 用, 哈哈 or 你好."""
    if tag in _FUNCTION_TAGS or word in _function_words() or _CRY.fullmatch(word):
        return False
    return len(word) > 1 or tag.startswith(_CONTENT_TAGS)


def holds_name(text: str) -> bool:
    """Return whether a simplified text holds a word of two or more Han characters that is tagged as a name."""
    runs = _RUN.findall(text)
    return any(tag in _NAME_TAGS and len(word) > 1 for run in runs for word, tag in segmented(run))


@cache
def _function_words() -> frozenset[str]:
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords("zh")) | stopwords.CHINESE | _time_words()


@cache
def _time_words() -> frozenset[str]:
    """List relative weeks, weekdays and months, and 哪天; no content, for 下周四 is another day every time."""
    weeks = product(
        ("上上", "上", "下下", "下", "这", "本", "每"), ("", "个"), ("周", "星期", "礼拜"), ("", *"一二三四五六日天末")
    )
    months = product(("上上", "上", "下下", "下", "这"), ("个月",))
    return frozenset({*map("".join, weeks), *map("".join, months), "哪天", "哪年"})


@cache
def _converter() -> Callable[[str], str]:
    import opencc

    convert: Callable[[str], str] = opencc.OpenCC("t2s").convert
    return convert
