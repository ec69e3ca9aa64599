"""Worlds of outputs with planted faults: no translations, lost marks, rates beside a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.truth.worlds import outputs, planted, world

import gnomon as gn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.findings import Finding

_NOUNS = ("Hund", "Baum", "Fluss", "Berg", "Turm", "Wald", "Stuhl", "Tisch", "Brief", "Zug")
_VERBS = ("sieht", "malt", "kennt", "sucht", "findet", "hört", "trägt", "holt", "baut", "misst")
_OF_NOUN = (
    "dog",
    "tree",
    "river",
    "mountain",
    "tower",
    "forest",
    "chair",
    "desk",
    "letter",
    "train",
)
_OF_VERB = (
    "sees",
    "paints",
    "knows",
    "seeks",
    "finds",
    "hears",
    "carries",
    "gets",
    "builds",
    "gauges",
)
_KANJI = ("犬", "木", "川", "山", "塔", "森", "椅子", "机", "手紙", "列車")


def sentences(nouns: Sequence[str], form: str, verbs: Sequence[str]) -> list[str]:
    """A hundred sentences, each of other words than the one before."""
    return [
        form.format(nouns[n % 10], verbs[n // 10], nouns[(n + n // 10 + 1) % 10], n)
        for n in range(100)
    ]


SOURCE = sentences(_OF_NOUN, "the {0} slowly {1} the old {2} at home again", _OF_VERB)
GERMAN = sentences(_NOUNS, "der {0} {1} langsam den alten {2} wieder zu Hause", _VERBS)
JAPANESE = sentences(_KANJI, "あの{0}はゆっくりと古い{2}を家でまた見ています、{1}と", _VERBS)


def checked(
    change: Callable[[int, str], str],
    reference: Sequence[str] = GERMAN,
    sources: Sequence[str] = SOURCE,
    *,
    pair: str = "en-de",
    **options: object,
) -> Finding:
    """What is said of a system with changes, beside one that is as the reference but for a word."""
    outputs = [text.replace("wieder", "noch").replace("また", "今") for text in reference]
    others = [text.replace("noch", "dann").replace("今", "再び") for text in outputs]
    changed = [change(n, text) for n, text in enumerate(others)]
    testset = gn.TestSet.from_lists(
        {"good": outputs, "bad": changed},
        list(reference),
        sources=list(sources),
        language_pair=pair,
    )
    return gn.check(testset, "chrf", **{"resamples": 200, **options})  # type: ignore[operator]  # a package that is called


@world(
    "an output that is as it should be",
    says=["check.translated"],
    silent=["check.*"],
)
def all_translated() -> Finding:
    return checked(lambda _, text: text)


@world(
    "an output with copies, answers and empty lines",
    says=["check.untranslated", "check.difference"],
    silent=["check.translated", "check.faults", "check.rate", "check.reference"],
)
def not_translated() -> Finding:
    def change(n: int, text: str) -> str:
        if n % 5 == 1:
            return SOURCE[n]
        return ("", "I cannot translate this text.", text)[min(n % 5, 2)] if n < 20 else text

    return checked(change)


@world(
    "Japanese with answers in English",
    says=["check.untranslated"],
    silent=["check.translated", "check.faults", "check.rate", "check.reference"],
)
def japanese_answers() -> Finding:
    return checked(
        lambda n, text: "I apologize, but I cannot translate this." if n < 6 else text,
        JAPANESE,
        pair="en-ja",
    )


@world(
    "Japanese without faults",
    says=["check.translated"],
    silent=["check.*"],
)
def japanese_translated() -> Finding:
    return checked(lambda _, text: text, JAPANESE, pair="en-ja")


@world(
    "names and numbers that stay as they are in Hindi, without a reference",
    says=["check.translated"],
    silent=["check.*"],
)
def names_that_stay() -> Finding:
    names = ("New York Times {}", "iPhone 15 Pro {}", "v2.{}.1-beta 12", "E = mc{} 8")
    kept = [names[n % 4].format(n) for n in range(40)]
    systems = {
        name: [*kept, *(f"मकान {n} आज पुराने बाग के {word} है" for n in range(40))]
        for name, word in (("one", "पीछे"), ("other", "सामने"))
    }
    sources = [*kept, *(f"the house {n} is near the old garden today" for n in range(40))]
    testset = gn.TestSet(
        name="", systems=systems, references={}, sources=sources, language_pair="en-hi"
    )
    return gn.check(testset, resamples=100)  # type: ignore[operator]  # a package that is called


@world(
    "the translation of another segment in a tenth of an output",
    says=["check.faults"],
    silent=["check.untranslated", "check.rate", "check.reference"],
)
def of_another_segment() -> Finding:
    sources = sentences(_OF_NOUN, "{0} {1} {2}, n. {3}", _OF_VERB)

    def change(n: int, text: str) -> str:
        return GERMAN[n - 7].replace("wieder", "dann") if 40 < n < 50 else text

    return checked(change, sources=sources)


@world(
    "lines that stand one further up, from the sixtieth on",
    says=["data.doubtful"],
    silent=["check.untranslated", "check.faults", "check.cost"],
)
def shifted_lines() -> Finding:
    own = outputs()
    testset = planted(
        {"moved": [*own[:60], *own[61:], own[-1]], "other": outputs("apertium-french")}
    )
    return gn.check(testset, "chrf", resamples=100)  # type: ignore[operator]  # a package that is called


@world(
    "a system that leaves a third of its outputs empty, and is as good where it translates",
    says=["check.cost", "check.untranslated"],
    silent=["check.translated", "check.faults"],
)
def what_it_costs() -> Finding:
    return checked(lambda n, text: "" if n % 3 == 0 else text)


@world(
    "numbers that are lost in half of the outputs, and none in the reference",
    says=["check.rate"],
    silent=["check.untranslated", "check.cost"],
)
def lost_numbers() -> Finding:
    sources = [f"{text} {n + 20}" for n, text in enumerate(SOURCE)]
    reference = [f"{text} {n + 20}" for n, text in enumerate(GERMAN)]
    return checked(lambda n, text: text[:-2] + "7" if n % 2 else text, reference, sources)


@world(
    "an address that the reference writes otherwise, and no system",
    says=["check.reference"],
    silent=["check.untranslated", "check.faults", "check.cost"],
)
def faults_of_the_reference() -> Finding:
    sources = [f"{text} www.a.org" for text in SOURCE]
    reference = [f"{text} www.{'b' if n == 4 else 'a'}.org" for n, text in enumerate(GERMAN)]
    outputs = [f"{text} www.a.org" for text in GERMAN]
    systems = {name: [text.replace("wieder", name) for text in outputs] for name in "abcde"}
    testset = gn.TestSet.from_lists(systems, reference, sources=sources, language_pair="en-de")
    return gn.check(testset, kinds=["kept"], resamples=100)  # type: ignore[operator]  # a package that is called


def _with_answers(share: int) -> gn.TestSet:
    outputs = [text.replace("wieder", "noch") for text in GERMAN]
    answers = [SOURCE[n] if n < share else f"{text} doch" for n, text in enumerate(outputs)]
    return gn.TestSet.from_lists(
        {"good": outputs, "bad": answers}, GERMAN, sources=SOURCE, language_pair="en-de"
    )


@world("a twelfth of a system is the source", says=["data.untranslated"], silent=["data.empty"])
def comparison_with_copies() -> Finding:
    return gn.compare(_with_answers(8), "chrf", resamples=100)


@world("one output of a hundred is the source", silent=["data.untranslated", "data.empty"])
def comparison_with_a_copy() -> Finding:
    return gn.compare(_with_answers(1), "chrf", resamples=100)
