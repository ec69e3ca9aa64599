"""Worlds of minimal pairs: metrics that know everything, nothing, or some of it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.minimal_pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gnomon.core.findings import Finding
    from gnomon.core.minimal_pairs import PairKind

_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fable", "grove", "haven", "inlet", "jetty")


def texts(number: int, seed: int) -> list[list[str]]:
    """Texts of eight words of five letters each, all different."""
    draw = random.Random(seed)
    return [[draw.choice(_WORDS) for _ in range(7)] + [f"w{n:04}"] for n in range(number)]


def pairs(
    number: int,
    phenomenon: str = "noun replaced",
    *,
    seed: int = 1,
    kind: PairKind = "error",
    severity: str = "",
    change: Callable[[list[str]], list[str]] = lambda words: ["wrong", *words[1:]],
) -> list[Pair]:
    """Pairs whose worse text is the better one with a change."""
    return [
        Pair(
            good=" ".join(words),
            bad=" ".join(change(words)),
            phenomenon=phenomenon,
            references=(f"{' '.join(words)} of old",),
            kind=kind,
            severity=severity,
        )
        for words in texts(number, seed)
    ]


def stressed(given: list[Pair], metric: Callable[[str, str], float] | str) -> Finding:
    """What the method says of them, as of files."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file: Path = Path(folder) / "pairs.tsv"
        gn.formats.write_pairs(file, given)
        return gn.stress(None, metric, pairs=[file])  # type: ignore[operator]  # a package that is called


def is_right(candidate: str, reference: str) -> float:
    """Whether the reference begins with the candidate."""
    return float(reference.startswith(candidate))


def by_chance(candidate: str, reference: str) -> float:
    """A number that the texts decide and that says nothing of them."""
    return random.Random(candidate + reference).random()


def four_of_five(candidate: str, reference: str) -> float:
    """Right but for a fifth of the texts, of which it says that they are wrong."""
    right = is_right(candidate, reference)
    return -right if int(reference.split()[7][1:]) % 5 == 0 else right


@world(
    "a metric that knows the better text",
    says=["stress.detects"],
    silent=["stress.*"],
    without=["too few"],
)
def all_knowing() -> Finding:
    return stressed(pairs(200), is_right)


@world("a metric that is constant", says=["stress.blind"], silent=["stress.*"])
def constant() -> Finding:
    return stressed(pairs(200), lambda _candidate, _reference: 1.0)


@world(
    "a metric of random numbers",
    says=["stress.detects"],
    silent=["stress.*"],
    without=["detects noun"],
)
def chance() -> Finding:
    return stressed(pairs(200), by_chance)


@world(
    "a metric that is right in as many pairs as is asked for",
    says=["stress.undecided"],
    silent=["stress.*"],
)
def at_the_threshold() -> Finding:
    return stressed(pairs(100), four_of_five)


@world(
    "one kind that is detected and one that is not",
    says=["stress.detects"],
    silent=["stress.*"],
)
def one_of_two() -> Finding:
    def metric(candidate: str, reference: str) -> float:
        return by_chance(candidate, reference) if "false" in candidate else -("wrong" in candidate)

    def false(words: list[str]) -> list[str]:
        return [*words[:-1], "false"]

    return stressed(
        [*pairs(200), *pairs(200, "end replaced", seed=2, change=false)],
        lambda candidate, reference: 0.5 + metric(candidate, reference),
    )


@world(
    "one pair again and again",
    says=["stress.few"],
    silent=["stress.*"],
)
def one_pair() -> Finding:
    return stressed([pairs(1)[0]] * 200, is_right)


@world(
    "Japanese under a metric that reads Latin letters alone",
    says=["data.unread"],
    silent=["stress.*"],
)
def unread() -> Finding:
    given = [
        Pair(good=f"猫が{n}回座った。", bad=f"犬が{n}回座った。", phenomenon="noun",
             references=(f"猫が{n}回座った。",))
        for n in range(200)
    ]  # fmt: skip
    return stressed(given, "rougeL")


@world("five pairs", says=["stress.few"], silent=["stress.*"])
def five_pairs() -> Finding:
    return stressed(pairs(5), is_right)


@world(
    "words that half of the references lack",
    says=["stress.wording"],
    silent=["stress.few", "stress.sanity", "stress.blind"],
)
def wording() -> Finding:
    given = pairs(200)
    reworded = [
        Pair(good=one.good, bad=one.bad, phenomenon=one.phenomenon, references=(other,))
        for one, other in (
            (pair, " ".join(["such", *pair.references[0].split()[1:]]))
            for pair in pairs(200, seed=3)
        )
        if one.good.split()[0] not in other
    ]
    return stressed([*given, *reworded], "bleu")


@world(
    "24 references that have the words and 24 that lack them, and a metric that misses 6 of these",
    silent=["stress.wording"],
)
def wording_of_few() -> Finding:
    lacking = [
        (pair, others)
        for pair in pairs(100, seed=3)
        if pair.good.split()[0] not in (others := pair.references[0].split()[1:])
    ]
    reworded = [
        replace(pair, references=(" ".join(["such" if n % 4 else "none", *others]),))
        for n, (pair, others) in enumerate(lacking[:24])
    ]
    return stressed(
        [*pairs(24), *reworded],
        lambda candidate, reference: float("none" in reference or "wrong" not in candidate),
    )


@world(
    "a metric that likes long texts, and a text said twice",
    says=["stress.sanity"],
    silent=["stress.few", "stress.wording", "stress.detects", "stress.control"],
)
def said_twice() -> Finding:
    twice = pairs(100, "said twice", kind="sanity", seed=4, change=lambda words: [*words, *words])
    return stressed([*pairs(200), *twice], lambda candidate, _reference: float(len(candidate)))


@world(
    "words that are left out, which the length of a text tells",
    says=["stress.control", "stress.detects"],
    silent=["stress.*"],
)
def deleted() -> Finding:
    return stressed(pairs(200, "noun removed", change=lambda words: words[1:]), is_right)


def harmless(number: int) -> list[Pair]:
    """Texts with another word at the end, which is as good."""

    def change(words: list[str]) -> list[str]:
        return [*words[:-1], f"{words[-1]}s"]

    return pairs(number, "plural", kind="harmless", change=change)


def words_apart(candidate: str, reference: str) -> float:
    """How many words are those of the reference, at their place."""
    return sum(map(str.__eq__, candidate.split(), reference.split()))


@world(
    "a metric under which any changed word costs the same, and errors that change one",
    says=["stress.penalties", "stress.detects"],
    silent=["stress.*"],
)
def same_price() -> Finding:
    return stressed([*pairs(200, severity="critical"), *harmless(200)], words_apart)


@world(
    "a metric under which an error costs more than a harmless change",
    says=["stress.detects"],
    silent=["stress.*"],
)
def higher_price() -> Finding:
    def metric(candidate: str, reference: str) -> float:
        return words_apart(candidate, reference) - 2 * ("wrong" in candidate)

    return stressed([*pairs(200, severity="critical"), *harmless(200)], metric)


@world(
    "a critical and a minor error in each sentence, and a metric of random numbers",
    says=["stress.detects"],
    silent=["stress.penalties", "stress.blind"],
    without=["detects noun", "detects end"],
)
def severity_by_chance() -> Finding:
    slight = pairs(
        200, "end replaced", severity="minor", change=lambda words: [*words[:-1], "false"]
    )
    return stressed([*pairs(200, severity="critical"), *slight], by_chance)


def paired(given: list[Pair], *metrics: Callable[[str, str], float], **more: object) -> Finding:
    """What the method says of pairs at hand, with what files do not hold."""
    from gnomon.core.registry import find
    from gnomon.stress import stress_pairs

    finding = stress_pairs(given, list(metrics), **more)  # type: ignore[arg-type]  # its options
    return replace(finding, verdict=find("stress").add_verdict(finding, ()).verdict)


def crossed(number: int) -> list[Pair]:
    """A right text that says it in another word, and a wrong one with the reference's words."""
    return [
        replace(pair, good=f"other {pair.good}", bad=f"{pair.good} wrong", kind="crossed")
        for pair in pairs(number, seed=7)
    ]


@world(
    "a metric that counts common words, and right texts that are worded otherwise",
    says=["stress.wording", "stress.detects"],
    silent=["stress.*"],
)
def worded_otherwise() -> Finding:
    return paired([*pairs(200), *crossed(200)], words_apart)


@world(
    "a metric that knows the better text, whatever its words are",
    says=["stress.detects"],
    silent=["stress.*"],
)
def worded_otherwise_and_known() -> Finding:
    def metric(candidate: str, _reference: str) -> float:
        return -float("wrong" in candidate)

    return paired([*pairs(200), *crossed(200)], metric)


@world(
    "two metrics that see the same",
    says=["stress.detects"],
    silent=["stress.*"],
)
def equal_metrics() -> Finding:
    def other_name(candidate: str, reference: str) -> float:
        return is_right(candidate, reference)

    return paired(pairs(200), is_right, other_name)


@world(
    "two hundred pairs of ten documents",
    says=["stress.few"],
    silent=["stress.*"],
)
def ten_documents() -> Finding:
    given = [replace(pair, document=f"d{n % 10}") for n, pair in enumerate(pairs(200))]
    return paired(given, is_right)


@world("two hundred pairs of forty documents", says=["stress.detects"], silent=["stress.*"])
def forty_documents() -> Finding:
    given = [replace(pair, document=f"d{n % 40}") for n, pair in enumerate(pairs(200))]
    return paired(given, is_right)
