"""From texts to candidates, best first: what is asked of a model, and how it is searched."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.options import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.models import Seq2Seq
    from gnomon.models.decoding import Hypothesis
    from gnomon.paraphrase._constraints import Constraint
    from gnomon.testset import TestSet

    Maker: TypeAlias = Callable[[Sequence["Ask"], int], list[list["Candidate"]]]


# What is asked of a model that paraphrases.


_SEARCHED = ("beam", "length_penalty", "limit")
#: method -> the options that it reads
METHODS = {
    "beam": _SEARCHED,
    "diverse": ("beam", "groups", "strength", "length_penalty", "limit"),
    "sampled": ("seed", "top_p", "temperature", "limit"),
    "codes": _SEARCHED,
    "random-codes": (*_SEARCHED, "seed"),
    "output-codes": _SEARCHED,
    "constrained": (*_SEARCHED, "together"),
    "round-trip": _SEARCHED,
}
#: methods that begin every paraphrase with a code
CODED = ("codes", "random-codes", "output-codes")
_ONE = ("output-codes", "constrained", "round-trip")
_KEPT = ("keep_copies", "keep_duplicates", "metric", "least")


@dataclass(frozen=True, kw_only=True)
class GenerationOptions:
    """How paraphrases are made, and which ones are kept.

    Attributes:
        method: one of :data:`METHODS`.
        n: paraphrases per segment (of each constraint under "constrained", for each system under
            "output-codes"); by default 5, and 1 for these two and for "round-trip".
        beam: hypotheses that the search keeps; by default 20, under codes 6.
        length_penalty: log probabilities are divided by the length to this power.
        limit: most pieces of a paraphrase; by default what the model takes.
        seed: of what is drawn.
        top_p: "sampled" draws from the fewest pieces with this share of the probability.
        temperature: of "sampled"; above 1, draws are more varied, below, more alike.
        groups: "diverse" searches in so many groups, ...
        strength: ... and takes this from a piece for each earlier group that has it.
        together: all constraints of a segment in one paraphrase, not one for each.
        keep_copies: also of a reference.
        keep_duplicates: also repetitions within a segment.
        metric: judges them against the references, with ``least``.
        least: least score that is kept, in the metric's units (greatest, for an error rate).
    """

    method: str = "beam"
    n: int | None = None
    beam: int | None = None
    length_penalty: float = 1.0
    limit: int | None = None
    seed: int = SEED
    top_p: float = 0.8
    temperature: float = 1.0
    groups: int = 5
    strength: float = 0.5
    together: bool = False
    keep_copies: bool = False
    keep_duplicates: bool = False
    metric: str | None = None
    least: float | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            UnknownNameError: there is no such method.
            UsageError: a number is out of its range.
        """
        if self.method not in METHODS:
            raise UnknownNameError("method of generation", self.method, METHODS)
        for name in ("n", "beam", "limit", "groups"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1; got {value}")
        if self.seed < 0:
            raise UsageError(f"the seed must not be negative; got {self.seed}")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"the share of probability (top-p) lies in (0, 1]; got {self.top_p:g}")
        if self.temperature <= 0 or self.strength < 0 or self.length_penalty < 0:
            raise UsageError(
                "temperature must be above 0, strength and length penalty not below 0; got"
                f" {self.temperature:g}, {self.strength:g}, {self.length_penalty:g}"
            )
        if self.method == "diverse" and self.width % self.groups:
            raise UsageError(
                f"a beam of {self.width} cannot be split into {self.groups} equal groups; give a"
                " multiple of the groups"
            )
        if (self.metric is None) is not (self.least is None):
            raise UsageError(
                "a filter needs both a metric and the least score that it lets through"
            )

    @property
    def wanted(self) -> int:
        """Paraphrases asked for; see ``n``."""
        return self.n or (1 if self.method in _ONE else 5)

    @property
    def width(self) -> int:
        """Hypotheses that the search keeps: at least as many as are wanted of one search."""
        width = self.beam or (6 if self.method in CODED else 20)
        several = self.method not in ("codes", "random-codes")
        least = max(width, self.wanted) if several else width
        if self.method == "diverse" and self.beam is None:
            least += -least % self.groups
        return least

    def settings(self) -> dict[str, object]:
        """What results depend on: the options that the method reads."""
        used = {name: getattr(self, name) for name in METHODS[self.method]}
        if "beam" in used:
            used["beam"] = self.width
        kept = {name: getattr(self, name) for name in _KEPT}
        return {"method": self.method, "n": self.wanted, **used, **kept}


# What is to be paraphrased: texts, under which code, with which words in them.


class Ask(NamedTuple):
    """One text to be paraphrased.

    Attributes:
        segment: 1-based segment.
        text: a reference.
        code: the code to begin with.
        phrases: what the paraphrase must hold.
    """

    segment: int
    text: str
    code: int | None = None
    phrases: tuple[str, ...] = ()


class AskedGroup(NamedTuple):
    """Texts of one segment that n paraphrases are wanted of, taken in turn."""

    segment: int
    system: str | None
    asks: tuple[Ask, ...]


def asked(
    testset: TestSet,
    *,
    constraints: Sequence[Constraint] | None = None,
    together: bool = False,
    codes: Mapping[str, Sequence[int]] | None = None,
) -> list[list[AskedGroup]]:
    """The groups of every segment; none where all its references are empty.

    Args:
        testset: references.
        constraints: one group for each of them; for all of a segment, if together.
        together: see ``constraints``.
        codes: of the outputs of systems, -1 without one; one group for each system.

    Raises:
        DataError: a constraint is of a segment that the test set has not.
        UsageError: both constraints and codes.
    """
    if constraints is not None and codes is not None:
        raise UsageError("paraphrases follow constraints or the codes of outputs, not both")
    phrases = None if constraints is None else _phrases(testset, constraints, together=together)
    found: list[list[AskedGroup]] = []
    for i in range(testset.segments):
        columns = testset.references.values()
        texts = [text for column in columns if (text := column[i]) is not None and text.strip()]
        texts = list(dict.fromkeys(texts))
        if not texts:
            found.append([])
        elif phrases is not None:
            found.append([_group(i + 1, texts, phrases=these) for these in phrases[i]])
        elif codes is not None:
            found.append(
                [_group(i + 1, texts, name, code=of[i]) for name, of in codes.items() if of[i] >= 0]
            )
        else:
            found.append([_group(i + 1, texts)])
    return found


def digest(groups: Sequence[Sequence[AskedGroup]]) -> str:
    """A hash of what is asked, 16 digits."""
    return hashlib.sha256(json.dumps(groups).encode()).hexdigest()[:16]


def _group(
    segment: int,
    texts: Sequence[str],
    system: str | None = None,
    *,
    code: int | None = None,
    phrases: tuple[str, ...] = (),
) -> AskedGroup:
    given = None if code is None else int(code)
    return AskedGroup(segment, system, tuple(Ask(segment, text, given, phrases) for text in texts))


def _phrases(
    testset: TestSet, constraints: Sequence[Constraint], *, together: bool
) -> list[list[tuple[str, ...]]]:
    found: list[list[str]] = [[] for _ in range(testset.segments)]
    for one in constraints:
        if not 1 <= one.segment <= testset.segments:
            raise DataError(
                f"the constraint {one.text!r} is of segment {one.segment}, and the test set has"
                f" {testset.segments} segments, counted from 1; were they made for another set?"
            )
        found[one.segment - 1].append(one.text)
    if together:
        return [[tuple(dict.fromkeys(texts))] if texts else [] for texts in found]
    return [[(text,) for text in dict.fromkeys(texts)] for texts in found]


# The methods: from texts to candidates, best first.


#: decimals of scores: arithmetic in batches of other shapes differs from the seventh on
_DIGITS = 3
#: seeds of further rounds of draws lie far from those that people choose
_STRIDE = 1_000_003


class Candidate(NamedTuple):
    """A paraphrase before filters.

    Attributes:
        text: it.
        score: what the model says of it.
        unmet: phrases asked for that it does not hold.
    """

    text: str
    score: float | None
    unmet: int = 0


@dataclass(frozen=True)
class Models:
    """What generates: one model, or two for a round trip."""

    model: Seq2Seq
    back: Seq2Seq | None = None

    @property
    def identity(self) -> str:
        """Of the model; of both, in their order."""
        if self.back is None:
            return self.model.identity
        return f"{self.model.identity} > {self.back.identity}"


def maker(models: Models, options: GenerationOptions) -> Maker:
    """The function that makes candidates; a round without any has nothing left to give."""
    make = {
        "sampled": _sampled,
        "diverse": _diverse,
        "codes": _coded,
        "random-codes": _coded,
        "constrained": _constrained,
        "round-trip": _round_trip,
    }.get(options.method, _beam)

    def run(asks: Sequence[Ask], number: int) -> list[list[Candidate]]:
        return make(models, options, asks, number) if asks else []

    return run


def _beam(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    """All hypotheses of a search; output-codes begins it with their code."""
    if number:
        return [[] for _ in asks]
    coded = any(ask.code is not None for ask in asks)
    pairs = [(ask.text, ask.code) for ask in asks]
    return _searched(models.model, options, pairs, options.width, coded=coded)


def _searched(
    model: Seq2Seq,
    options: GenerationOptions,
    pairs: Sequence[tuple[str, int | None]],
    n: int,
    *,
    coded: bool,
) -> list[list[Candidate]]:
    from gnomon.models import decoding

    distinct = list(dict.fromkeys(pairs))
    starts = [[model.codes[code]] if code is not None else [] for _, code in distinct]
    made = decoding.beam(
        model,
        [text for text, _ in distinct],
        beam=options.width,
        n=n,
        length_penalty=options.length_penalty,
        prefixes=starts if coded else None,
        limit=options.limit,
    )
    found = {
        pair: [_candidate(one) for one in row] for pair, row in zip(distinct, made, strict=True)
    }
    return [found[pair] for pair in pairs]


def _diverse(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    from gnomon.models import decoding

    if number:
        return [[] for _ in asks]
    made = decoding.diverse(
        models.model,
        [ask.text for ask in asks],
        beam=options.width,
        groups=options.groups,
        strength=options.strength,
        n=options.width,
        length_penalty=options.length_penalty,
        limit=options.limit,
    )
    return [[_candidate(one) for one in row] for row in made]


def _sampled(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    from gnomon.models import decoding

    made = decoding.sampled(
        models.model,
        [ask.text for ask in asks],
        n=options.wanted,
        top_p=options.top_p,
        temperature=options.temperature,
        seed=options.seed + number * _STRIDE,
        limit=options.limit,
    )
    return [[_candidate(one) for one in row] for row in made]


def _coded(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    """One paraphrase under each of the next n codes: the most probable ones, or drawn ones."""
    known = list(models.model.codes)
    first = number * options.wanted
    orders = (_drawn if options.method == "random-codes" else _probable)(models, options, asks)
    chosen = [[known[k] for k in order[first : first + options.wanted]] for order in orders]
    pairs: list[tuple[str, int | None]] = [
        (ask.text, code) for ask, codes in zip(asks, chosen, strict=True) for code in codes
    ]
    if not pairs:
        return [[] for _ in asks]
    best = iter(_searched(models.model, options, pairs, 1, coded=True))
    return [[one for _ in codes for one in next(best)] for codes in chosen]


def _probable(
    models: Models, options: GenerationOptions, asks: Sequence[Ask]
) -> list[Sequence[int]]:
    del options
    from gnomon.models import decoding

    rows = decoding.code_probabilities(models.model, [ask.text for ask in asks])
    return [np.argsort(-row, kind="stable").tolist() for row in rows]


def _drawn(models: Models, options: GenerationOptions, asks: Sequence[Ask]) -> list[Sequence[int]]:
    count = len(models.model.codes)
    seeds = [[options.seed, ask.segment] for ask in asks]
    return [np.random.default_rng(seed).permutation(count).tolist() for seed in seeds]


def _constrained(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    """Hypotheses that hold the phrases; of several phrases, as many as any hypothesis holds."""
    from gnomon.models import decoding

    if number:
        return [[] for _ in asks]
    made = decoding.constrained(
        models.model,
        [ask.text for ask in asks],
        [ask.phrases for ask in asks],
        beam=options.width,
        n=options.width,
        length_penalty=options.length_penalty,
        limit=options.limit,
    )
    return [_holding(row) for row in made]


def _holding(row: Sequence[Hypothesis]) -> list[Candidate]:
    most = max((sum(one.met) for one in row), default=0)
    held = [one for one in row if most and sum(one.met) == most]
    return [_candidate(one, len(one.met) - most) for one in held]


def _round_trip(
    models: Models, options: GenerationOptions, asks: Sequence[Ask], number: int
) -> list[list[Candidate]]:
    if number or models.back is None:
        return [[] for _ in asks]
    there = _searched(models.model, options, [(ask.text, None) for ask in asks], 1, coded=False)
    texts = [row[0].text if row else "" for row in there]
    pairs: list[tuple[str, int | None]] = [(text, None) for text in texts if text]
    again = iter(_searched(models.back, options, pairs, options.width, coded=False))
    return [next(again) if text else [] for text in texts]


def _candidate(one: Hypothesis, unmet: int = 0) -> Candidate:
    score = round(float(one.score), _DIGITS)
    return Candidate(" ".join(one.text.split()), score if math.isfinite(score) else None, unmet)
