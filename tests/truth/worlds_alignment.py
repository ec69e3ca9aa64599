"""Worlds whose lines are wrong, and one in which they are right."""

from __future__ import annotations

import random
import unicodedata
from typing import TYPE_CHECKING

from tests.truth.scripts import damaged, sentences
from tests.truth.worlds import noised, outputs, planted, references, world

import gnomon as gn
from gnomon.core.verdicts import summarise_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_FEW = 50


@world(
    "a file shifted by one line",
    says=["data.doubtful"],
    without=["shifted is worse", "is better than shifted"],
)
def shifted() -> Finding:
    own = outputs()
    return gn.compare(planted({"fine": own, "shifted": [*own[1:], own[0]]}), resamples=_FEW)


@world("files whose lines are right", silent=["data.doubtful"])
def in_order() -> Finding:
    ts = planted({"fine": outputs(), "other": outputs("apertium-french")})
    return gn.compare(ts, resamples=_FEW)


def _shifted(texts: list[str]) -> list[str]:
    return [*texts[1:], texts[0]]


@world(
    "two good systems and a file shifted by one line",
    says=["data.doubtful", "compare.better"],
    silent=["compare.best", "compare.several"],
    without=["shifted is", "better than shifted", "3 systems"],
)
def two_and_shifted() -> Finding:
    systems = {"fine": outputs(), "noised": noised(outputs(), 0.3, 1)}
    return gn.compare(
        planted({**systems, "shifted": _shifted(outputs())}), baseline="noised", resamples=_FEW * 4
    )


@world(
    "three good systems and a file shifted by one line",
    says=["data.doubtful", "compare.best"],
    without=["shifted by 1.", "4 systems", "shifted is", "and shifted"],
)
def three_and_shifted() -> Finding:
    systems = {f"noised{k}": noised(outputs(), k / 5, k) for k in range(3)}
    return gn.compare(
        planted({"shifted": _shifted(outputs()), **systems}), resamples=1000, examples=0, ngrams=0
    )


@world("a baseline shifted by one line", says=["data.doubtful"], silent=["compare.*"])
def baseline_shifted() -> Finding:
    systems = {"shifted": _shifted(outputs()), "a": outputs(), "b": noised(outputs(), 0.2, 1)}
    return gn.compare(planted(systems), baseline="shifted", resamples=_FEW)


@world(
    "scores of two good systems and a file shifted by one line",
    says=["data.doubtful", "score.first"],
    without=["shifted has", "shifted 0", "shifted 1"],
)
def scores_of_two_and_shifted() -> Iterable[Message]:
    systems = {"shifted": _shifted(outputs()), "fine": outputs(), "b": noised(outputs(), 0.2, 1)}
    return summarise_scores([gn.score(planted(systems), "bleu")])


@world(
    "scores of two files shifted by one line",
    says=["data.doubtful"],
    silent=["score.first", "score.not_tested"],
)
def scores_of_shifted() -> Iterable[Message]:
    systems = {"shifted": _shifted(outputs()), "b": _shifted(noised(outputs(), 0.1, 1))}
    return summarise_scores([gn.score(planted(systems), "bleu")])


@world(
    "two thirds of the references are post-edits of one system",
    says=["data.favoured"],
    silent=["data.doubtful", "compare.*"],
)
def references_of_a_system() -> Finding:
    own = outputs()
    made = [
        text if n % 3 else reference
        for n, (text, reference) in enumerate(zip(own, references(), strict=True))
    ]
    ts = gn.TestSet.from_lists({"甲": own, "Ö": outputs("apertium-french")}, made, name="made")
    return gn.compare(ts, resamples=_FEW)


@world(
    "references of people, and two systems of which one is nearer to them",
    silent=["data.doubtful", "data.damaged", "data.favoured"],
)
def references_of_people() -> Finding:
    ts = planted({"甲": noised(list(references()), 0.3, 1), "Ö": outputs("apertium-french")})
    return gn.compare(ts, resamples=_FEW)


@world("one file given twice, and another", says=["data.copied"], silent=["data.doubtful"])
def one_file_twice() -> Finding:
    twice = {"甲": outputs(), "Ö": outputs(), "é": outputs("apertium-french")}
    return gn.compare(planted(twice), resamples=_FEW)


@world("references of which one is shifted", says=["data.doubtful"], silent=["compare.*"])
def reference_shifted() -> Finding:
    both = {"A": references(), "B": _shifted(noised(references(), 0.2, 1))}
    systems = {"甲": outputs(), "Ö": outputs("apertium-french")}
    ts = gn.TestSet(name="two", references=both, systems=systems)
    return gn.compare(ts, resamples=_FEW)


ICELANDIC = (
    "það er þetta mjög góður dagur við förum út og hún sagði honum að húsið væri stórt en ekki svo"
    " gamalt þegar börnin komu heim úr skólanum síðan í gær áður fyrr vatnið kalt fjallið hátt"
    " skipið sigldi norður með ströndinni bærinn lítill maðurinn las bókina konan keypti brauð"
)


def in_two_languages(poor: float) -> gn.TestSet:
    """A set of 65 Icelandic lines in a hundred and 35 Chinese ones, and two poor systems."""
    draw, words = random.Random(5), ICELANDIC.split()
    icelandic = [" ".join(draw.choices(words, k=draw.randint(8, 18))) + "." for _ in range(130)]
    chinese = sentences("zh", 70)
    own = [*icelandic, *chinese]

    def output(seed: int) -> list[str]:
        return [*noised(icelandic, poor, seed), *damaged(chinese, "zh", poor, seed)]

    return gn.TestSet.from_lists({"甲": output(1), "Ö": output(2)}, own, name="two languages")


@world(
    "poor outputs of a set in two languages",
    says=["compare.undecided"],
    silent=["data.*"],
)
def two_languages() -> Finding:
    return gn.compare(in_two_languages(0.6), "chrf", resamples=_FEW)


@world(
    "of a set in two languages, one system leaves the Icelandic lines in English",
    says=["data.doubtful"],
    silent=["compare.*"],
)
def one_of_two_languages() -> Finding:
    made = in_two_languages(0.6)
    mixed = [*outputs()[:130], *made.systems["甲"][130:]]
    systems = {"甲": mixed, "Ö": made.systems["Ö"]}
    (own,) = made.references.values()
    return gn.compare(gn.TestSet.from_lists(systems, list(own)), "chrf", resamples=_FEW)


@world("a file with its accents apart", says=["data.damaged"], without=["Ö' has", "references '"])
def accents_apart() -> Finding:
    apart = [unicodedata.normalize("NFD", text) for text in accented()]
    own = noised(accented(), 0.2, 1)
    ts = gn.TestSet.from_lists({"Ö": own, "é": apart}, accented(), name="accents")
    return gn.compare(ts, "bleu", resamples=_FEW)


def accented() -> list[str]:
    return [
        f"Kapitola {n} je o tom, že kůň úpěl ďábelské ódy a běží dál do lesa." for n in range(60)
    ]


# Outputs with more or fewer lines


def _one_merge(texts: list[str], at: int, between: str) -> list[str]:
    return [*texts[:at], texts[at] + between + texts[at + 1], *texts[at + 2 :]]


@world(
    "two lines joined in one of two equal systems",
    says=["data.aligned", "compare.same"],
    silent=["compare.better", "data.doubtful", "align.fits"],
    without=["segment dropped", "2 merges"],
)
def merged() -> Finding:
    ts = planted({"fine": outputs()})
    return gn.compare(ts.align({"whole": _one_merge(outputs(), 100, " ")}), resamples=_FEW)


@world(
    "two lines joined in Japanese, and one left out, in the worse of two systems",
    says=["data.aligned", "compare.worse"],
    silent=["data.doubtful", "align.fits"],
    without=["nothing dropped"],
)
def merged_in_japanese() -> Finding:
    own = sentences("ja", 60)
    poor = damaged(own, "ja", 0.5, 3)
    ts = gn.TestSet.from_lists({"fine": damaged(own, "ja", 0.1, 2)}, own, language_pair="en-ja")
    whole = _one_merge([*poor[:40], *poor[41:]], 10, "")
    return gn.compare(ts.align({"whole": whole}), metrics="chrf", resamples=_FEW * 4)


@world("outputs in order", says=["align.fits"], silent=["data.aligned"])
def nothing_to_align() -> Finding:
    return gn.align(planted({"fine": outputs()}))
