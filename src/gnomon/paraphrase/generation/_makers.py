"""The methods: from texts to candidates, best first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.models import Seq2Seq
    from gnomon.models.decoding import Hypothesis
    from gnomon.paraphrase.generation._asked import Ask
    from gnomon.paraphrase.generation._options import GenerationOptions

    #: (asked, number of the round from 0) -> candidates of each
    Maker: TypeAlias = Callable[[Sequence[Ask], int], list[list["Candidate"]]]

__all__ = ["Candidate", "Maker", "Models", "maker"]

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
