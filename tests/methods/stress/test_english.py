"""English rules make of hand-written sentences what they say, and leave others alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.methods.stress.changed import MODEL, changed, pairs_of, tagged
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import MissingDependencyError
from gnomon.data import example
from gnomon.stress import own_texts as _own_texts
from gnomon.stress.perturbations import describe_perturbations, find_perturbations

if TYPE_CHECKING:
    from gnomon.stress.outputs import Output

pytest.importorskip(MODEL, reason="needs an English pipeline of spaCy")
pytest.importorskip("lemminflect", reason="needs lemminflect: pip install 'gnomon[stress]'")

#: perturbation, sentence, and all that it may become
CASES = [
    ("negation", "She is not old.", {"She is old."}),
    ("negation", "They won't leave the house.", {"They will leave the house."}),
    ("negation", "He cannot swim.", {"He can swim."}),
    ("negation", "The bank is no longer open.", {"The bank is still open."}),
    ("negation", "The dogs barked.", {"The dogs did not bark."}),
    ("negation", "Our train leaves early.", {"Our train does not leave early."}),
    ("negation", "The mayor has signed it.", {"The mayor has not signed it."}),
    ("negation", "He will not only sing but also dance.", set()),
    ("negation", "They have not seen anyone.", set()),
    ("negation", "Who is the mayor?", set()),
    ("modality", "You must pay the fee.", {"You may pay the fee."}),
    ("modality", "We cannot stay.", set()),
    ("modality", "He may well come.", set()),
    ("polarity", "It costs more than 200 euros.", {"It costs less than 200 euros."}),
    ("polarity", "She left after the concert.", {"She left before the concert."}),
    ("polarity", "We saw an increase in sales.", {"We saw a decrease in sales."}),
    ("polarity", "It was more or less over.", set()),
    ("polarity", "He works at the high school.", set()),
    ("antonym", "The judge accepted the offer.", {"The judge rejected the offer."}),
    ("antonym", "It was a strong team.", {"It was a weak team."}),
    ("gender", "The queen lost her bag.", {"The queen lost his bag."}),
    ("gender", "Mr. Lee said he knew.", {"Mr. Lee said she knew."}),
    ("gender", "Angela Merkel said she was tired.", {"Angela Merkel said he was tired."}),
    ("gender", "She lost her bag.", set()),
    ("gender", "In New York she was happy.", set()),
    ("gender", "My sister said he would come.", set()),
    ("gender", "My sister came and I met her.", {"My sister came and I met him."}),
    ("gender", "He pays.", set()),
    ("gender", "The book is his.", set()),
    ("tense", "The dogs barked.", {"The dogs bark.", "The dogs will bark."}),
    ("tense", "He will sing.", {"He sang."}),
    ("tense", "The report is long.", {"The report was long."}),
    ("tense", "They have left.", {"They had left."}),
    ("aspect", "The dog died.", {"The dog was dying."}),
    ("aspect", "The dog barked.", set()),
    ("no subject", "He came but he was late.", {"Came but he was late."}),
    ("function word", "They saw the wall of the town.", {"They saw the wall than the town."}),
    ("function word", "They met in the house.", set()),
    ("aspect", "She is writing.", set()),
    ("aspect", "I know him.", {"I am knowing him."}),
    ("aspect", "The train leaves now.", set()),
    ("aspect", "She said no.", set()),
    ("plural", "She fed the cat.", {"She fed the cats."}),
    ("plural", "The children slept.", {"The child slept."}),
    ("plural", "The police found the evidence.", set()),
    ("pronoun case", "He saw them.", {"Him saw them.", "He saw they."}),
    ("pronoun case", "Their dog slept.", {"Them dog slept."}),
    ("question", "The old man slept.", {"Did the old man sleep?"}),
    ("question", "In May the shop was open.", {"In May was the shop open?"}),
    ("question", "Anna can swim.", {"Can Anna swim?"}),
    ("question", '"I slept," she said.', set()),
    ("question", "Did he sleep?", set()),
    ("no subject", "The old man slept.", {"Slept."}),
    ("no subject", "The man who came slept here for a week.", set()),
    ("no phrase", "The shop opened on Monday.", {"The shop opened."}),
    ("no phrase", "In May, the shop opened.", {"The shop opened."}),
    ("no phrase", "According to him it rained all day.", set()),
    ("function word", "She ate an apple.", {"She ate a apple."}),
    ("function word", "He lives in Rome.", {"He lives at Rome."}),
    ("misspelling", "They receive money.", {"They recieve money."}),
    ("misspelling", "RECEIVE it", set()),
    ("word class", "It was a local bank.", {"It was a locally bank."}),
    ("contraction", "They do not sleep.", {"They don't sleep."}),
    ("contraction", "It's raining.", {"It is raining."}),
    ("contraction", "It's been raining.", {"It has been raining."}),
    ("contraction", "She is not tired.", {"She isn't tired."}),
    ("contraction", "Tell me who it is.", set()),
    ("contraction", "Rome's walls are old.", set()),
    ("number word", "She has 7 cats.", {"She has seven cats."}),
    ("number word", "She has seven cats.", {"She has 7 cats."}),
    ("number word", "They met on May 7, page 7, at 7 pm.", set()),
    ("number word", "She saw one cat and 30 dogs.", set()),
    ("percent", "It rose 12% in May.", {"It rose 12 percent in May."}),
    ("percent", "It rose 12 per cent in May.", {"It rose 12% in May."}),
    ("thousands", "We sold 12,000 books.", {"We sold 12000 books."}),
    ("thousands", "We sold 1,200,000 books for $1,500.", set()),
    ("date", "He came on May 3.", {"He came on 3 May."}),
    ("date", "He came on 31 December.", {"He came on December 31."}),
    ("date", "He came on May 3, 2020.", set()),
    ("date", "He came on 3 May 2020.", set()),
    ("quotes", 'He said "yes".', {"He said “yes”."}),
    ("quotes", "It’s “late”.", {'It\'s "late".'}),
    ("quotes", '6" of snow', set()),
    ("dashes", "A house - a home.", {"A house – a home."}),
    ("dashes", "Rain—and snow.", {"Rain – and snow."}),
    ("dashes", "A well-known 3-2 win", set()),
    (
        "spelling",
        "The colour of the center",
        {"The color of the center", "The colour of the centre"},
    ),
    ("spelling", "Labour and Pearl Harbor won.", {"Labor and Pearl Harbor won."}),
    ("spelling", "They met at Pearl Harbor.", set()),
    ("tokenised", "Don't run.", {"Do n't run ."}),
]


@pytest.fixture(scope="module")
def outputs() -> dict[str, Output]:
    texts = list(dict.fromkeys(text for _, text, _ in CASES))
    return dict(zip(texts, tagged(texts), strict=True))


@pytest.mark.parametrize(("name", "text", "results"), CASES, ids=[f"{a}: {b}" for a, b, _ in CASES])
def test_what_becomes_of_a_sentence(
    outputs: dict[str, Output], name: str, text: str, results: set[str]
) -> None:
    assert changed(name, "en", outputs[text]) == results


def test_crossed_pairs_say_the_same_otherwise_or_something_else_in_the_same_way() -> None:
    number, words, negated = tagged(
        ["She has 34 cats.", "She has seven cats.", "They do not sleep."]
    )
    made = pairs_of("crossed number", "en", number)
    assert {good for good, _ in made} == {"She has thirty-four cats."}
    assert all(re.fullmatch(r"She has (?!34)\d\d cats\.", bad) for _, bad in made)
    assert {good for good, _ in pairs_of("crossed number", "en", words)} == {"She has 7 cats."}
    assert all(
        "seven" not in bad and "7" not in bad for _, bad in pairs_of("crossed number", "en", words)
    )
    assert pairs_of("crossed negation", "en", negated) == {("They don't sleep.", "They do sleep.")}


def test_names_titles_and_joined_words_are_left_alone() -> None:
    texts = [
        'He read "The More the Better" twice.',
        "It is a well-known high-speed train.",
        "The First National Bank closed.",
    ]
    for output in tagged(texts):
        for name in ("polarity", "antonym", "plural", "word class"):
            for bad in changed(name, "en", output):
                for kept in ("The More the Better", "well-known high-speed", "First National Bank"):
                    assert (kept in bad) == (kept in output.text)


def test_every_rule_finds_places_in_the_bundled_example() -> None:
    testset = gn.TestSet.read(example.path())
    texts = [text for text in next(iter(testset.references.values())) if text]
    every = tagged(texts[:80])
    rules = [each for each in describe_perturbations() if each.languages == ("en",)]
    assert len(rules) >= 25
    for rule in rules:
        texts_changed = [changed(rule.name, "en", output, seeds=2) for output in every]
        assert any(texts_changed) or rule.name in ("dashes", "spelling", "date"), rule.name
        assert not any(
            output.text in made for output, made in zip(every, texts_changed, strict=True)
        )


def test_rules_with_word_forms_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_own_texts, "find_spec", lambda _name: None)
    testset = gn.TestSet.from_lists(
        {"a": ["The dogs barked."] * 2}, ["Dogs barked."] * 2, language_pair="de-en"
    )
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[stress\]'"):
        gn.stress(testset, "chrf", perturb=["tense"])
    finding = gn.stress(testset, "chrf", perturb=["no subject", "t*", "plura*"])
    assert "wrong tenses" not in {row["phenomenon"] for row in finding.rows}
    assert any("gnomon[stress]" in notice for notice in notes(finding.notices))


def test_each_rule_says_what_it_does_and_what_its_texts_have() -> None:
    for rule in find_perturbations(["*"], "en"):
        assert rule.about.endswith((".", ").")), rule.name
        assert rule.phenomenon[0].islower() or rule.phenomenon.startswith(("British", "Swiss"))
