"""What a turn answers by its part in a talk: a reason, a refusal, a time, what came instead, who a person is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emgas.messages.queries import Reply
from processors.text.questions.answer_kinds import (
    asks_absent,
    asks_allowed,
    asks_cause,
    asks_proposal,
    asks_when_back,
    asks_why,
    declines,
    invites,
    proposes,
    tells_cause,
    tells_ending,
    tells_instead,
    tells_restriction,
)
from tests.support.stories import Story

ANSWERED = {
    "a reason after why": (
        ("Bo: we sold the boat", "Ada: why?", "Bo: nobody sailed any more", "Ada: fair"),
        "Why did Bo sell the boat?", "nobody sailed",
    ),
    "a reason that says so": (
        ("Bo: the heating is broken again", "Ada: looking", "Ada: it's the pump, it leaks", "Bo: heating, ugh"),
        "What caused the broken heating?", "the pump",
    ),
    "a refusal": (
        ("Bo: who is coming to the lake?", "Cy: me!", "Ada: sorry, working late", "Bo: the lake is warm now"),
        "Who is not coming to the lake?", "working late",
    ),
    "a proposal": (
        ("Bo: the printer jams daily", "Ada: we should move it to the hall", "Cy: the hall is cold for a printer"),
        "Who suggested moving the printer to the hall?", "we should move it",
    ),
    "a time after when": (
        ("Bo: Mina and Jo are having a baby", "Ada: wow, when?", "Bo: early March they think", "Ada: a baby, lovely"),
        "When is Mina and Jo's baby due?", "early March",
    ),
    "what the asker may not eat": (
        ("Cy: a cake is easy to eat", "Ada: I was diagnosed coeliac, so no gluten", "Ada: a cake recipe I can eat"),
        "Can I eat bread?", "coeliac",
    ),
    "what came instead": (
        ("Ada: our old car died", "Bo: oh no", "Ada: gone for a second hand Skoda", "Bo: nice"),
        "What car do we have?", "Skoda",
    ),
    "what was there before": (
        ("Ada: selling the van", "Bo: really?", "Ada: ended up with a cargo bike", "Bo: nice cargo bike"),
        "What did I have before the cargo bike?", "the van",
    ),
    "whom a turn names by their role": (
        ("Ada: my cousin Ilse might take it", "Bo: the tall one?", "Ada: no, Ilse is quiet, she does a phd on moss"),
        "What does my cousin study?", "moss",
    ),
}  # fmt: skip
KEPT = {
    "a turn that gives its own reason": (
        ("Bo: we sold the boat because nobody sailed", "Ada: why now?", "Bo: the summer is over"),
        "Why did Bo sell the boat?", "because nobody sailed",
    ),
    "a question that asks for no reason": (
        ("Bo: we sold the boat", "Ada: why?", "Bo: nobody sailed any more"), "Who sold the boat?", "we sold the boat",
    ),
    "a reason of another conversation": (
        ("Bo: we sold the boat", "+", "Ada: why?", "Bo: nobody told me"),
        "Why did Bo sell the boat?", "we sold the boat",
    ),
    "who is coming": (
        ("Bo: who is coming to the lake?", "Ada: sorry, working late", "Cy: me, I love the lake"),
        "Who is coming to the lake?", "who is coming|love the lake",
    ),
    "what another may not eat": (
        ("Ada: I ate bread and butter", "Ada: Marlon is coeliac, he's off gluten"),
        "Can I eat bread?", "bread and butter",
    ),
    "another namesake": (
        ("Ada: my cousin Ilse might take it", "Ada: Bo is quiet, he does a phd on moss"),
        "What does my cousin study?", "my cousin Ilse",
    ),
}  # fmt: skip


def ask(talk: tuple[str, ...], question: str, **options: bool) -> Reply:
    story = Story()
    for number, turn in enumerate(talk):
        if turn == "+":
            story.session = "s1"
        else:
            speaker, text = turn.split(": ", 1)
            story.tell(str(number), text, speaker=speaker)
    return story.ask(question, asker="Ada", **options)


@pytest.mark.parametrize(("talk", "question", "first"), [*ANSWERED.values(), *KEPT.values()], ids=[*ANSWERED, *KEPT])
def test_the_turn_that_answers_comes_first(talk: tuple[str, ...], question: str, first: str) -> None:
    best = ask(talk, question).passages[0].text
    assert any(each in best for each in first.split("|"))


def test_an_explanation_says_what_the_exchange_added() -> None:
    talk, question, _ = ANSWERED["a reason after why"]
    best, then, *_ = ask(talk, question, explain=True).passages
    assert best.why is not None
    assert best.why.terms["closer_look"] > 0
    assert sum(best.why.terms.values()) == pytest.approx(best.score)
    assert best.score > then.score


@pytest.mark.parametrize(
    ("tells", "yes", "no"),
    [
        (asks_cause, "Why did it stop?", "When did it stop?"),
        (asks_cause, "What caused the outage?", "Who caused a scene?"),
        (tells_cause, "it's the gearbox", "it's late"),
        (tells_cause, "turns out nobody paid", "it turned blue"),
        (asks_why, "oh no, what happened", "what happens on Monday"),
        (asks_why, "wait why", "why don't we walk"),
        (asks_absent, "Who isn't coming to lunch?", "Who is coming to lunch?"),
        (asks_absent, "Who couldn't make it?", "Who knows the way?"),
        (invites, "anyone up for a walk?", "anyone could walk there"),
        (declines, "aw can't, on shift till 8", "I can't wait!"),
        (declines, "sorry, got parents evening", "sorry, what?"),
        (declines, "count me out", "I'm in"),
        (asks_proposal, "Whose idea was the lake?", "Who swam in the lake?"),
        (proposes, "how about the lake", "how long is the lake"),
        (proposes, "we could ask Leon", "we couldn't ask Leon"),
        (asks_when_back, "wow, when?", "when it rains, do you walk?"),
        (asks_allowed, "Can I have ice cream?", "Can Marlon have ice cream?"),
        (tells_restriction, "I'm lactose intolerant", "he's vegan though"),
        (tells_restriction, "allergic to nuts, sadly", "I'm not allergic to nuts"),
        (tells_ending, "the Zafira finally died", "the Zafira is red"),
        (tells_instead, "went for the blue one", "went home"),
    ],
)
def test_turns_are_told_apart_by_what_they_do(tells: Callable[[str], bool], yes: str, no: str) -> None:
    assert tells(yes)
    assert not tells(no)
