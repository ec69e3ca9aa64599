"""Common parts of all learned metrics: options, inputs, memory, notices, signatures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import GnomonError, SpecError
from gnomon.core.options import FILES, MODEL
from gnomon.core.signature import Signature
from gnomon.learned.architectures import architecture_of
from gnomon.learned.encoder import Remembered, load_metric
from gnomon.learned.score_store import ScoreStore, content_of
from gnomon.learned.weights import find_learned
from gnomon.messages import message
from gnomon.metrics.base import Metric, OfOptions, check_needs
from gnomon.metrics.comparisons import pair_rows
from gnomon.metrics.means import aggregate_means
from gnomon.metrics.spec import Options
from gnomon.models.vector_store import open_store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.learned.encoder import K, LoadedMetric, ReadStates, SequenceOf
    from gnomon.learned.weights import LearnedModel
    from gnomon.messages import Message
    from gnomon.metrics.base import Input

__all__ = ["BoundLearned", "InputRows", "LearnedOptions", "Triple", "input_rows", "triples_of"]

#: distinct inputs that are scored at a time; what they need stays in memory meanwhile
_BLOCK = 2048


class Triple(NamedTuple):
    """Texts that a score is of; None: the metric does not look at that one."""

    candidate: str
    source: str | None
    reference: str | None


# Options.


@dataclass(frozen=True)
class LearnedOptions(Options, Metric, ABC):
    """Options of learned metrics.

    Attributes:
        model: folder of a converted metric, or the name under which ``gnomon setup model`` put it
            into gnomon's own place.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: "fp32"; mixed precision with "bf16" or "fp16".
        batch: most texts that are encoded at a time; specs do not show it.
        embeddings: folder where what the encoder gives is kept for later runs; specs do not show
            it.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    opening: ClassVar[str] = "model"
    pooled: ClassVar[bool] = False
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"batch": (1, 65536)}

    model: Annotated[str, MODEL] = ""
    device: str | None = None
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    batch: int | None = field(default=None, compare=False)
    embeddings: Annotated[str | None, FILES] = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise SpecError(
                f"{self.name} takes a model first: {self.name}('FOLDER'), a folder that gnomon"
                " setup model wrote, or the name that it was given there (scores that another tool"
                " computed come by scores('FILE'))"
            )

    @property
    def learned(self) -> LearnedModel:
        """The converted metric.

        Raises:
            MissingFileError, MissingDependencyError: it is not on this machine.
            DataError: the folder holds none.
            SpecError: it is one for a metric of another name.
        """
        model = find_learned(self.model)
        right = architecture_of(model.kind).spec(model.settings)
        if right != self.name:
            raise SpecError(
                f"{self.name}: {self.model!r} is a {model.kind}, which is a metric {right!r}; write"
                f" {right}('{self.model}')"
            )
        return model

    @property
    @abstractmethod
    def needs(self) -> frozenset[Input]:
        """Inputs that candidates are scored against, as the class of the model tells."""

    @abstractmethod
    def bind(self, testset: TestSet) -> BoundLearned:
        """Load the model."""

    def check_outline(self, outline: Outline | None) -> None:  # noqa: ARG002  # the protocol's
        """Refuse a model that is not here, or not of this metric."""
        _ = self.learned

    def requires(self, language: str | None) -> tuple[Dependency, ...]:  # noqa: ARG002  # one for all languages
        """The files of the model."""
        try:
            path = str(find_learned(self.model).folder.path)
        except GnomonError:
            path = self.model
        return (Dependency("model", path),)

    def loaded(self, testset: TestSet) -> LoadedMetric:
        """The model in memory, for a test set that has what it needs.

        Raises:
            DataError: the test set lacks sources or references, or the files do not fit.
            MissingDependencyError: torch, transformers, tokenizers or the model is not here.
        """
        check_needs(self, testset.outline)
        model = load_metric(self.learned, device=self.device, precision=self.precision)
        if self.batch is None:
            return model
        encoder = replace(model.encoder, batch=self.batch, encoded=0, tokens=0)
        return replace(model, encoder=encoder, memory={})


# Inputs.


@dataclass(frozen=True, eq=False)
class InputRows:
    """Rows to score: every candidate with its source and each of its references, one row each."""

    shape: tuple[int, int]  # (K, N)
    cell: NDArray[np.int64]  # [P], system * N + segment
    # [P, 3], numbers of candidate, source and reference; -1 for what is not needed
    texts: NDArray[np.int64]

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values [P, S] of rows as means [K, N, S] over references; NaN where there is none."""
        cells = self.shape[0] * self.shape[1]
        total = np.zeros((cells, values.shape[1]))
        np.add.at(total, self.cell, values)
        count = np.bincount(self.cell, minlength=cells).astype(np.float64)
        sums = np.stack([total, np.broadcast_to(count[:, None], total.shape)], axis=-1)
        return aggregate_means(sums).reshape(*self.shape, values.shape[1])


def input_rows(batch: Batch, needs: Collection[str]) -> InputRows:
    """The rows of a batch, by system, segment and reference."""
    systems, segments = batch.shape
    if "references" in needs:
        pairs = pair_rows(batch)
        cell, candidate, reference = pairs.cell, pairs.candidate, pairs.reference
    else:
        cell = np.arange(systems * segments)
        candidate, reference = batch.candidates.astype(np.int64).ravel(), np.full(len(cell), -1)
    source = np.full(len(cell), -1)
    if "sources" in needs and batch.sources is not None:
        source = batch.sources.astype(np.int64)[cell % max(segments, 1)]
    return InputRows(batch.shape, cell, np.stack([candidate, source, reference], axis=-1))


# Bound metrics.


@dataclass(frozen=True, eq=False)
class BoundLearned(OfOptions, ABC):
    """A learned metric, ready to score."""

    metric: LearnedOptions
    model: LoadedMetric  # the loaded metric; counts what it encodes

    @property
    def signature(self) -> Signature:
        """Spec, model with a hash of its files, place of origin, licence, and the precision."""
        fields = self.model.model.signature_fields
        if self.model.encoder.precision != "fp32":
            fields["precision"] = self.model.encoder.precision
        return Signature(self.metric.spec).adding(fields)

    @abstractmethod
    def score_triples(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Scores of some inputs and of their parts, float64 [P, S]; the first is the metric's."""

    @property
    @abstractmethod
    def limit(self) -> int:
        """Most pieces of an input, special ones included."""

    @abstractmethod
    def cut_texts(self, triples: Sequence[Triple]) -> tuple[int, int]:
        """Numbers of the texts of some inputs that are cut, and of all."""

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Scores and parts of all segments, float64 [K, N, S]; means over references."""
        rows = input_rows(batch, self.needs)
        distinct, first, back = np.unique(
            rows.texts, axis=0, return_index=True, return_inverse=True
        )
        # neighbours share sources and references, which are then still in memory
        order = np.argsort(rows.cell[first] % max(rows.shape[1], 1), kind="stable")
        parts: NDArray[np.float64] | None = None
        for at in range(0, len(order), _BLOCK):
            chosen = order[at : at + _BLOCK]
            values = self.look_up_parts(triples_of(batch, distinct[chosen]))
            if parts is None:
                parts = np.empty((len(distinct), values.shape[1]))
            parts[chosen] = values
        if parts is None:
            return np.full((*rows.shape, 1), np.nan)
        return rows.means(parts[back.reshape(-1)])

    def look_up_parts(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Scores and parts of some distinct inputs, float64 [P, S]; of earlier runs or new ones."""
        return self.stored_scores.scores(
            triples,
            len(self.part_names),
            lambda new: self.score_triples([triples[number] for number in new]),
        )

    @property
    def part_names(self) -> tuple[str, ...]:
        """The columns of :meth:`score_triples`."""
        return ("all",)

    @property
    def ways_to_score(self) -> tuple[str, ...]:
        """Options that scores depend on, beside model, precision and device."""
        return ()

    @property
    def stored_scores(self) -> ScoreStore:
        """Scores of this and of earlier runs."""
        encoder = self.model.encoder
        run = (encoder.precision, encoder.device.split(":")[0])
        model = content_of(self.model.model.folder)
        return ScoreStore((self.metric.name, model, *run, *self.ways_to_score))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN without a reference that is needed."""
        return self.score_parts(batch)[..., 0]

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of texts that were cut."""
        distinct = np.unique(input_rows(batch, self.needs).texts, axis=0)
        return self.cut_notices(triples_of(batch, distinct))

    def cut_notices(self, triples: Sequence[Triple], inputs: str = "inputs") -> tuple[Message, ...]:
        """Notices of inputs that were cut."""
        cut, whole = self.cut_texts(triples)
        if not cut:
            return ()
        longer: dict[str, Any] = {"cut": cut, "texts": whole, "what": inputs, "limit": self.limit}
        said = message("score.cut", of="special", remedy="", **longer)
        return (said.about(metrics=[self.metric.spec]),)

    def remembered(
        self, what: str, kind: str, columns: int, sequence: SequenceOf[K], read: ReadStates
    ) -> Remembered[K]:
        """Results [rows, columns] of one kind, shared by all metrics of the model."""
        folder, encoder = self.metric.embeddings, self.model.encoder
        name = f"{what} {folder}"
        if name not in self.model.memory:
            about = {
                "model": self.model.model.folder.identity,
                "precision": encoder.precision,
                "device": encoder.device.split(":")[0],
                "results": what,
            }
            store = None if folder is None else open_store(folder, about, columns)
            results = Remembered(encoder, sequence, read, columns, kind, store)
            self.model.memory[name] = results
        shared: Remembered[K] = self.model.memory[name]
        return shared


def triples_of(batch: Batch, rows: NDArray[np.int64]) -> list[Triple]:
    """The texts of some rows, int64 [P, 3], of :class:`InputRows`."""
    return [
        Triple(*(batch.texts[number] if number >= 0 else None for number in row))  # type: ignore[arg-type]  # there is always a candidate
        for row in rows.tolist()
    ]
