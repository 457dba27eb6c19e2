"""The bounds that every message must keep, and the two tests of a string that JSON cannot express.

One place, because the client (which refuses before sending) and the owner of a partition (which dead-letters what a
foreign client sent) must agree to the byte.
"""

from __future__ import annotations

import unicodedata

TEXT_BYTES = 32 * 1024  # a turn's or a query's text, in UTF-8
RECORD_BYTES = 256 * 1024  # a whole record's value
TRANSPORT_BYTES = 8 * 1024 * 1024  # what `turns` lets through, so that an oversized record can become a dead letter
RECEIVED_BYTES = 4 * 1024 * 1024  # of a record with events of a graph that comes from elsewhere; they vary in size
RECEIVED_EVENTS = 1000  # in one of those
GRAPH_ID_CHARACTERS = 128
NAME_CHARACTERS = 256  # a turn id, a session, a speaker
METADATA_ENTRIES = 32
METADATA_CHARACTERS = 1024  # of one key or one string value
METADATA_INTEGER = 2**63 - 1  # either sign: what every language's JSON library reads back
CONCEPTS_PER_TURN = 256
WINDOW_CONCEPTS = 64  # of those, the heaviest, that count as said together
ATTACHMENTS = 16  # of one turn, at most
PHRASES_PER_TURN = 16  # beside those: of several words
RELATIONS_PER_TURN = 16
MENTIONS_PER_TURN = 32  # pronouns whose meaning a turn's event records
DIMENSIONS = 4096  # of the vector that a model of text embeddings gives a turn
SPANS_PER_TURN = 16  # time expressions whose meaning a turn's event records
TOP = 100  # concepts or passages that one reply may carry
EVENT_NAMES_BYTES = 1024 * 1024  # of what one event of a window, or of a request to forget, names: more are more events
GRAPH_EVENTS = 2**40  # that a graph may have
INSPECTED_GRAPHS = 1000  # whose digests one answer carries
CONTEXT_TOKENS = 32_000
EXTRACTED_TURNS = 1000  # that one question may have read
BATCH_TURNS = 1000  # that one request of a batch carries
BATCH_BYTES = 4 * 1024 * 1024  # of such a request
READ_TURNS = 1000  # that one answer to `read` carries
READ_BYTES = 1024 * 1024  # of text and metadata, after which such an answer ends early
LISTED_GRAPHS = 1000  # whose names one answer carries
RECAPPED = 20  # conversations that one answer recaps
SUMMARY_CHARACTERS = 16_384  # of what a conversation is summed up in
THEME_NAME_CHARACTERS = 80  # that an advisor may name a theme by
REWRITTEN_CHARACTERS = 8192  # of what an advisor makes of a turn, in other words
SPLIT_PARTS = 64  # things that an advisor may find in one turn
RATINGS = 64  # links that one piece of advice rates
RATED_LINKS = 10_000  # of a graph
KEYWORDS = 16  # that an advisor finds in one turn
RING_TURNS = 50  # that the working memory of a conversation holds
SEVERAL_GRAPHS = 32  # that one question may ask
PICTURED_CONCEPTS = 3000  # in one picture
PICTURED_LINKS = 20_000  # likewise; and as many places where its turns hold its concepts
PICTURED_PASSAGES = 1000  # likewise
CHANGES = 1000  # of each kind that one comparison names
EXCLUDED = 1000  # turns that a query may name to be left out
EARLIEST_MS = -62_135_596_800_000  # 0001-01-01T00:00:00Z: what every language's date type can hold
LATEST_MS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z


def utf8(text: str) -> str:
    """Return `text`.  Raises ValueError for NUL and for lone surrogates, which no UTF-8 store can keep."""
    if "\x00" in text:
        raise ValueError("holds the character U+0000 (NUL): remove it")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, as what is not in UTF-8 does here: save it in UTF-8") from None
    return text


def graph_id(name: str) -> str:
    """Return a graph id in Unicode's normal form C, so that "Zoë" is one graph, however it is typed.

    Raises ValueError for a name that is unsafe in a path or a URL, or that looks like another on a screen.
    """
    name = name if name.isascii() else unicodedata.normalize("NFC", name)
    is_path = {"", ".", ".."}.isdisjoint(name.split("/"))
    if len(name) > GRAPH_ID_CHARACTERS or not name.isprintable() or name != name.strip() or not is_path:
        raise ValueError(
            f"must be 1 to {GRAPH_ID_CHARACTERS} printable characters, without a blank at either end, and "
            "between slashes something else than . or .."
        )
    return name


def short_enough(text: str) -> str:
    """Return `text`.  Raises ValueError if its UTF-8 form is longer than `TEXT_BYTES`."""
    size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
    if size > TEXT_BYTES:
        raise ValueError(
            f"is {size} bytes of UTF-8, the limit is {TEXT_BYTES}: shorten it, or split it into several turns"
        )
    return text


def storable(value: str | int | float | None) -> str | int | float | None:  # noqa: PYI041 - the integers are meant
    """Return `value`.  Raises ValueError for an integer beyond 64 bits: most JSON libraries refuse or round it."""
    if isinstance(value, int) and abs(value) > METADATA_INTEGER:
        raise ValueError("is an integer beyond 64 bits: write it as a string")
    return value
