"""CometKiwi, UniTE and xCOMET: candidate and other texts read together, errors marked.

Wan et al. (2022), "UniTE: Unified Translation Evaluation"; Rei et al. (2022), "CometKiwi";
Guerreiro et al. (2024), "xCOMET: Transparent Machine Translation Evaluation through Fine-grained
Error Detection". Equal to unbabel-comet 2.2.7.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.core.spans import ErrorSpan
from gnomon.learned.gradients import attributions, input_products
from gnomon.learned.heads import FeedForward, LayerMix
from gnomon.learned.metric import (
    BoundLearned,
    LearnedOptions,
    Triple,
    input_rows,
    triples_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.learned.encoder import Remembered, States, TextPieces
    from gnomon.learned.gradients import Products
    from gnomon.metrics.base import Input
    from gnomon.metrics.differentiable import Attributions

__all__ = ["BoundMarkingUnified", "BoundUnified", "CometKiwi", "Unite", "Xcomet"]

#: weights of the three ways to read a candidate, for the probabilities of labels
_SPAN_WEIGHTS = np.array([0.1667, 0.3333, 0.5], dtype=np.float32)
#: xCOMET: weights of the three regressions and of the score from its own spans
_SCORE_WEIGHTS = (0.12, 0.33, 0.33, 0.22)
_ONE_WEIGHTS = (0.78, 0.22)
#: xCOMET: penalties of severities, and the largest sum
_PENALTIES = {"minor": 1, "major": 5, "critical": 10}
_MOST = 25
#: candidates whose errors are looked for at a time
_AT_ONCE = 2048


# Options.


@dataclass(frozen=True)
class _UnifiedOptions(LearnedOptions):
    """Options of metrics that read a candidate together with other texts."""

    can: ClassVar[frozenset[str]] = frozenset(("statistics", "gradients", "spans"))

    threshold: float | None = None

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        **LearnedOptions.bounds,
        "threshold": (0, 1),
    }

    @property
    def needs(self) -> frozenset[Input]:
        """Sources, references or both, as the model reads them and as is asked for."""
        names: dict[str, Input] = {"src": "sources", "ref": "references"}
        return frozenset(names[side] for side in self.sides)

    @property
    def sides(self) -> tuple[str, ...]:
        """Texts that the candidate is read with: "src", "ref" or both."""
        given = self.learned.settings["input_segments"]
        sides = tuple(side for side in ("src", "ref") if side in given)
        asked = {"all": sides, "source": ("src",), "reference": ("ref",)}[self.reading]
        if not set(asked) <= set(sides) or not sides:
            raise SpecError(
                f"{self.name}: {self.model!r} reads {', '.join(map(str, given))}, and"
                f" against={self.reading!r} is asked for"
            )
        return asked

    @property
    def reading(self) -> str:
        """Texts that the candidate is read with."""
        return "all"

    def bind(self, testset: TestSet) -> BoundUnified | BoundMarkingUnified:
        """Load the model."""
        loaded = self.loaded(testset)
        if loaded.model.settings["word_level_training"]:
            return BoundMarkingUnified(self, loaded)
        if self.threshold is not None:
            raise SpecError(
                f"{self.name}: {self.model!r} marks no errors, so there is nothing for"
                f" threshold={self.threshold} to decide"
            )
        return BoundUnified(self, loaded)


@dataclass(frozen=True)
class CometKiwi(_UnifiedOptions):
    """CometKiwi: a regression on source and candidate read together; no reference is needed.

    For checkpoints of the class ``UnifiedMetric`` that read candidate and source. Each distinct
    pair is encoded once. The system score is the mean over segments.
    """

    name: ClassVar[str] = "cometkiwi"
    title: ClassVar[str] = "CometKiwi"


@dataclass(frozen=True)
class _SeveralWays(_UnifiedOptions):
    """Options of models that read a candidate in several ways."""

    # texts beside the candidate: all that the model reads ("all"), "source" or "reference"
    against: Literal["all", "source", "reference"] = "all"

    @property
    def reading(self) -> str:
        """Texts that the candidate is read with."""
        return self.against


@dataclass(frozen=True)
class Unite(_SeveralWays):
    """UniTE: the candidate read with source, with reference, and with both; the mean of the three.

    For checkpoints of the class ``UnifiedMetric`` that read references. With several references
    the score is the mean over them. The system score is the mean over segments.
    """

    name: ClassVar[str] = "unite"
    title: ClassVar[str] = "UniTE"


@dataclass(frozen=True)
class Xcomet(_SeveralWays):
    """xCOMET: as UniTE, and a score from the errors that it marks itself.

    With source and reference, .12, .33 and .33 of the three regressions, and .22 of 1 less the
    penalties of its own error spans (1, 5 and 10 for minor, major and critical ones, at most 25) by
    25; with one of them, .78 of the regression and .22 of that. With several references the score
    is the mean over them, and errors are marked with the first. The system score is the mean over
    segments.
    """

    name: ClassVar[str] = "xcomet"
    title: ClassVar[str] = "xCOMET"


# Scoring.


class _JointReading(NamedTuple):
    """Reading of one candidate by the model, in every way."""

    scores: list[float]
    labels: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BoundUnified(BoundLearned):
    """CometKiwi or UniTE, ready to score; what was read last stays in memory."""

    metric: _UnifiedOptions

    @cached_property
    def ways(self) -> tuple[tuple[str, ...], ...]:
        """Texts that the candidate is read with, each time."""
        sides = self.metric.sides
        return (sides,) if len(sides) == 1 else (("src",), ("ref",), ("src", "ref"))

    @cached_property
    def part_names(self) -> tuple[str, ...]:
        """The columns of :meth:`score_triples`."""
        names = {("src",): "source", ("ref",): "reference", ("src", "ref"): "both"}
        return ("all", *(names[way] for way in self.ways))

    @property
    def ways_to_score(self) -> tuple[str, ...]:
        """Texts that the candidate is read with, and the threshold of an erroneous piece."""
        return (*("+".join(way) for way in self.ways), repr(self.metric.threshold))

    def score_parts_by_name(self, batch: Batch) -> dict[str, NDArray[np.float64]]:
        """The score ("all") and its parts, float64 [K, N] each; means over references."""
        parts = self.score_parts(batch)
        return {name: parts[..., column] for column, name in enumerate(self.part_names)}

    def score_triples(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Scores and their parts, float64 [P, S]."""
        return np.array([self._scored(reading) for reading in self._read_all(triples)]).reshape(
            len(triples), len(self.part_names)
        )

    def _scored(self, reading: _JointReading) -> list[float]:
        """The score of a candidate, and its parts."""
        return [float(np.mean(reading.scores)), *reading.scores]

    def cut_texts(self, triples: Sequence[Triple]) -> tuple[int, int]:
        """Numbers of the distinct inputs that are cut, and of all."""
        keys = self._keys(triples)
        pieces = self._pieces(keys)
        ends = self.model.encoder.ends
        whole = [sum(len(pieces[text].ids) + ends for text in key) + 2 - ends for key in keys]
        parts = [max(len(pieces[text].ids) for text in key) for key in keys]
        most = self.model.encoder.limit - 2
        cut = [n > self.limit or longest > most for n, longest in zip(whole, parts, strict=True)]
        return sum(cut), len(keys)

    @property
    def limit(self) -> int:
        """Most pieces of texts that are read together, special ones included."""
        return self.model.encoder.positions

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every piece of candidates and references (or sources).

        A candidate that is read in several ways has the sum over these, as they weigh in the
        score. What the metric takes off for its own errors has no gradient and is left out.
        """
        return attributions(self, batch, self._differentiate)

    def _way_weights(self) -> list[float]:
        """Weights of the ways to read a candidate in the score."""
        return [1 / len(self.ways)] * len(self.ways)

    def _differentiate(self, inputs: Sequence[Triple]) -> tuple[list[float], list[Products]]:
        """Scores of some inputs, and the products of the pieces of candidates and others."""
        import torch

        encoder, size = self.model.encoder, len(self.ways)
        weights = torch.tensor(self._way_weights(), device=encoder.device)
        keys = [self._key(triple, way) for triple in inputs for way in self.ways]
        sequences = [ids for ids, _ in self._sequences(keys)]

        def total(vectors: Sequence[Any]) -> Any:
            scores = self._head(torch.stack(list(vectors))).reshape(-1, size)
            return (self._limited(scores) * weights).sum(dim=1)

        def read(states: States) -> Any:
            return self._mix(states)[:, 0]

        scores, by_key = input_products(encoder, sequences, read, total)
        pieces, most = self._pieces(keys), encoder.limit - 2
        products = []
        for number in range(len(inputs)):
            of_input = slice(number * size, (number + 1) * size)
            products.append(self._sum_by_side(keys[of_input], by_key[of_input], pieces, most))
        return scores, products

    def _limited(self, scores: Any) -> Any:
        """Scores of the ways to read a candidate, as they enter the mean; a tensor."""
        return scores

    def _sum_by_side(
        self,
        keys: Sequence[tuple[str, ...]],
        found: Sequence[NDArray[np.float64]],
        pieces: Mapping[str, TextPieces],
        most: int,
    ) -> Products:
        """Products of joint inputs as sums over the pieces of the candidate and of the other."""
        side = "ref" if "ref" in self.metric.sides else "src"
        sums: dict[str, NDArray[np.float64]] = {}
        for way, key, values in zip(self.ways, keys, found, strict=True):
            at = 1  # after <s>; special pieces stand between texts
            for name, text in zip(("mt", *way), key, strict=True):
                size = len(pieces[text].ids[:most])
                total = sums.setdefault(name, np.zeros(size + 2))
                of_text = values[at : at + size]  # a long input may end here
                total[1 : 1 + len(of_text)] += of_text
                at += size + self.model.encoder.ends
        return sums["mt"], sums[side]

    def _read_all(self, triples: Sequence[Triple]) -> list[_JointReading]:
        """Read some candidates with the model."""
        size = len(self.ways)
        keys = [self._key(triple, way) for triple in triples for way in self.ways]
        results = self.results.look_up(keys)
        return [_join_ways(results[at : at + size]) for at in range(0, len(results), size)]

    def _keys(self, triples: Sequence[Triple]) -> list[tuple[str, ...]]:
        return list(
            dict.fromkeys(self._key(triple, way) for triple in triples for way in self.ways)
        )

    @staticmethod
    def _key(triple: Triple, way: tuple[str, ...]) -> tuple[str, ...]:
        other = {"src": triple.source, "ref": triple.reference}
        return (triple.candidate, *(other[side] or "" for side in way))

    @cached_property
    def results(self) -> Remembered[tuple[str, ...]]:
        """For each joint input the score, and the probabilities of labels: [1 + n, labels]."""
        columns = max(self._labels, 1)
        return self.remembered("joint", "joint", columns, self._sequences, self._read)

    @cached_property
    def _labels(self) -> int:
        settings = self.model.model.settings
        return len(settings["error_labels"]) + 1 if settings["word_level_training"] else 0

    def _pieces(self, keys: Sequence[tuple[str, ...]]) -> dict[str, TextPieces]:
        texts = list(dict.fromkeys(text for key in keys for text in key))
        return dict(zip(texts, self.model.encoder.pieces(texts), strict=True))

    def _sequences(self, keys: Sequence[tuple[str, ...]]) -> list[tuple[NDArray[np.int32], int]]:
        """Joint inputs, the candidate first; rows: the score, then the candidate's pieces."""
        pieces, encoder = self._pieces(keys), self.model.encoder
        most = encoder.limit - 2
        sequences = []
        for key in keys:
            ids = [pieces[text].ids[:most] for text in key]
            joint = encoder.joint(ids)[: encoder.positions]
            sequences.append((joint, 1 + (len(ids[0]) + 2 if self._labels else 0)))
        return sequences

    def _read(self, states: States, rows: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        import torch

        scores = self._head(self._mix(states)[:, 0]).cpu().numpy()
        columns = max(self._labels, 1)
        results = [np.zeros((int(count), columns), dtype=np.float32) for count in rows]
        for result, score in zip(results, scores.tolist(), strict=True):
            result[0, 0] = score
        if self._labels:
            head, layer = self.model.head, int(self.model.model.settings["word_layer"])
            tags = torch.nn.functional.linear(
                states.layers[layer], head["hidden2tag.weight"], head["hidden2tag.bias"]
            )
            shares = tags.softmax(dim=-1).cpu().numpy()
            for result, labels in zip(results, shares, strict=True):
                result[1:] = labels[: len(result) - 1]
        return results

    @cached_property
    def _mix(self) -> LayerMix:
        return LayerMix.from_metric(self.model, "sent_layer")

    @cached_property
    def _head(self) -> FeedForward:
        return FeedForward.from_head(self.model.head, self.model.model.settings, "estimator.ff")


def _join_ways(found: Sequence[NDArray[np.float32]]) -> _JointReading:
    """Join what was read in several ways."""
    scores = [float(result[0, 0]) for result in found]
    labels = [result[1:] for result in found]
    if len(labels) == 1:
        return _JointReading(scores, labels[0])
    weights = _SPAN_WEIGHTS.tolist()
    return _JointReading(
        scores,
        sum(share * np.float32(weight) for share, weight in zip(labels, weights, strict=True)),  # type: ignore[arg-type]  # there are three
    )


# Errors.


class _Run(NamedTuple):
    """Pieces of a candidate that are one error: positions, its label, and how sure it is."""

    first: int
    last: int
    label: int
    confidence: float


def _runs(labels: NDArray[np.float32], threshold: float | None) -> list[_Run]:
    """The errors among a candidate's pieces, the special ones included.

    An error goes on as long as pieces have any label but "O", has the label of its first piece,
    and is dropped where the text ends before it does.
    """
    chosen = labels.argmax(axis=1)
    if threshold:  # 0 stands for none, as in the original
        wrong = labels[:, 1:].sum(axis=1) > np.float32(threshold)
        chosen = np.where(wrong, labels[:, 1:].argmax(axis=1) + 1, 0)
    sure = np.take_along_axis(labels, chosen[:, None], axis=1)[:, 0]
    inside = np.concatenate([[False], chosen > 0, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return [
        _Run(first, stop - 1, int(chosen[first]), float(sure[first:stop].mean()))
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if stop < len(labels)
    ]


@dataclass(frozen=True, eq=False)
class BoundMarkingUnified(BoundUnified):
    """A metric that marks errors in candidates, ready to score."""

    @cached_property
    def part_names(self) -> tuple[str, ...]:
        """The columns of :meth:`score_triples`."""
        names = super().part_names
        return (*names, "mqm") if self._is_xcomet else names

    @property
    def _is_xcomet(self) -> bool:
        return self.model.model.kind == "xcomet_metric"

    def _scored(self, reading: _JointReading) -> list[float]:
        if not self._is_xcomet:
            return super()._scored(reading)
        severities = [self._severity(run) for run in _runs(reading.labels, self.metric.threshold)]
        penalty = min(sum(_PENALTIES.get(severity, 0) for severity in severities), _MOST)
        mqm = (_MOST - penalty) / _MOST
        parts = [*(min(score, 1.0) for score in reading.scores), mqm]
        weights = _SCORE_WEIGHTS if len(parts) == len(_SCORE_WEIGHTS) else _ONE_WEIGHTS
        total = sum(weight * value for weight, value in zip(weights, parts, strict=True))
        # of several the original tells the scores as they are, and of one the score that counts
        shown = reading.scores if len(reading.scores) > 1 else parts[:-1]
        return [total, *shown, mqm]

    def _limited(self, scores: Any) -> Any:
        return scores.clamp(max=1) if self._is_xcomet else scores

    def _way_weights(self) -> list[float]:
        weights = super()._way_weights()
        if not self._is_xcomet:
            return weights
        return list(_SCORE_WEIGHTS[:3] if len(weights) == 3 else _ONE_WEIGHTS[:1])

    def _severity(self, run: _Run) -> str:
        labels: list[str] = self.model.model.settings["error_labels"]
        return labels[run.label - 1]

    def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
        """The errors of all systems of a batch, by system, segment and start.

        A candidate is read with the first of its references. An error of no length stands for the
        beginning of the text. Offsets are those of the vocabulary: in some, a piece begins with
        the blank before it.
        """
        rows = input_rows(batch, self.needs)
        cells, first = np.unique(rows.cell, return_index=True)
        triples = triples_of(batch, rows.texts[first])
        distinct = list(dict.fromkeys(triples))
        marked: dict[Triple, list[ErrorSpan]] = {}
        texts = [(triple.candidate,) for triple in distinct]
        places = {text: pieces.places for text, pieces in self._pieces(texts).items()}
        for at in range(0, len(distinct), _AT_ONCE):
            some = distinct[at : at + _AT_ONCE]
            errors = self.stored_scores.values("errors", some, partial(self._read_errors, some))
            for triple, values in zip(some, errors, strict=True):
                marked[triple] = self._spans(places[triple.candidate], values)
        segments = max(batch.shape[1], 1)
        return tuple(
            replace(span, system=batch.systems[cell // segments], segment=cell % segments)
            for cell, triple in zip(cells.tolist(), triples, strict=True)
            for span in marked[triple]
        )

    def _read_errors(self, triples: Sequence[Triple], chosen: list[int]) -> list[bytes]:
        """The errors of some candidates, as JSON: pieces, severity, confidence."""
        readings = self._read_all([triples[number] for number in chosen])
        return [
            json.dumps(
                [
                    (run.first, run.last, self._severity(run), run.confidence)
                    for run in _runs(reading.labels, self.metric.threshold)
                ]
            ).encode()
            for reading in readings
        ]

    def _spans(self, places: NDArray[np.int32], errors: bytes) -> list[ErrorSpan]:
        most = self.model.encoder.limit - 2
        bound = np.zeros((1, 2), dtype=np.int32)  # where the vocabulary puts special pieces
        bounds = np.concatenate([bound, places[:most], bound])
        return [
            ErrorSpan(
                system="",
                segment=0,
                side="candidate",
                start=int(bounds[first, 0]),
                end=int(bounds[last, 1]),
                category="",
                severity=severity,
                rater=self.metric.spec,
                score=float(_PENALTIES.get(severity, 0)) if self._is_xcomet else None,
                confidence=confidence,
                by="metric",
            )
            for first, last, severity, confidence in json.loads(errors)
        ]
