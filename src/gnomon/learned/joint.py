"""Common parts of learned metrics that read the texts of a segment as one sequence.

Every distinct combination of texts is read once, whichever systems it is of; what was found is
remembered with the model, so that a later request (a masked variant, a slice) reads what is new.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np

from gnomon.core.cache import key
from gnomon.core.dependencies import Dependency
from gnomon.core.errors import SpecError
from gnomon.core.options import MODEL
from gnomon.core.signature import Signature
from gnomon.learned.metric import Triple, input_rows
from gnomon.learned.score_store import ScoreStore, content_of
from gnomon.learned.torch_weights import find_joint_model, place_of_model
from gnomon.messages import message
from gnomon.metrics.base import Metric, OfOptions, check_needs
from gnomon.metrics.spec import Options
from gnomon.models import length_batches, licence_of, usable_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.models import ModelFolder

__all__ = [
    "BoundJoint",
    "JointModel",
    "JointOptions",
    "JointPrecision",
    "PieceSequence",
    "torch_type",
]

#: triples of texts whose scores are remembered
_REMEMBERED = 1 << 18
#: triples that are cut into pieces at a time
_AT_ONCE = 4096
#: padded pieces of a batch, on a CPU and on a GPU
_PADDED = {"cpu": 1 << 11, "cuda": 1 << 15}
#: pieces by which lengths of a batch may differ in any case
_SPREAD = 16
_SURROGATES = re.compile("[\ud800-\udfff]")

# Models.


@dataclass(frozen=True)
class PieceSequence:
    """A combination of texts as the pieces of a model."""

    ids: list[int]  # numbers of the pieces, special ones included
    first: int = 0  # how many of them belong to the first part, for models that distinguish it
    cut: bool = False  # pieces were left out, so that the rest fits


JointPrecision: TypeAlias = Literal["fp32", "bf16"]


def torch_type(precision: str) -> Any:
    """The type of weights of a precision."""
    import torch

    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]


class JointModel(ABC):
    """A model that gives one number for a combination of texts."""

    def __init__(self, folder: ModelFolder, device: str, precision: str, limit: int) -> None:
        self.folder = folder
        self.device = device
        self.precision = precision
        self.limit = limit
        self.read = 0
        self._memory: OrderedDict[bytes, tuple[float, bool]] = OrderedDict()

    @abstractmethod
    def sequences(self, triples: Sequence[Triple]) -> list[PieceSequence]:
        """Each combination as one sequence, cut to the limit."""

    @abstractmethod
    def forward(
        self, ids: NDArray[np.int64], kept: NDArray[np.bool_], first: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The numbers for a batch of sequences.

        ``ids``: int64 [B, W], padded on the right. ``kept``: bool [B, W], False for padding.
        ``first``: int64 [B], pieces of the first part. Returns float64 [B].
        """

    @property
    def pad(self) -> int:
        """The piece that fills up shorter sequences."""
        return 0

    def scores(
        self, texts: Sequence[str], rows: NDArray[np.int64], batch: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The scores of some distinct triples, and which of these had to be cut.

        ``rows``: int64 [D, 3], as :class:`gnomon.learned.metric.InputRows` has them.
        ``batch``: most sequences read at once; None: as many as a core or a GPU takes well. Returns
        float64 [D] and bool [D].
        """
        triples = [self._triple(texts, row) for row in rows.tolist()]
        # texts that are not read are distinct from empty ones
        keys = [key(*("-" if t is None else f"+{t}" for t in triple)) for triple in triples]
        results = {address: self._memory[address] for address in keys if address in self._memory}
        new = [number for number, address in enumerate(keys) if address not in results]
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
            read = self._look_up_or_read([triples[number] for number in some], batch)
            results |= zip((keys[number] for number in some), read, strict=True)
        self._memory |= results
        while len(self._memory) > _REMEMBERED:
            self._memory.popitem(last=False)
        return (
            np.array([results[address][0] for address in keys], dtype=np.float64),
            np.array([results[address][1] for address in keys], dtype=np.bool_),
        )

    def forget(self) -> None:
        """Let go of what was remembered."""
        self._memory.clear()

    def _triple(self, texts: Sequence[str], row: list[int]) -> Triple:
        candidate, source, reference = (
            None if number < 0 else _SURROGATES.sub("\ufffd", texts[number]) for number in row
        )
        return Triple(candidate or "", source, reference)

    @property
    def about(self) -> tuple[str, ...]:
        """Facts that scores depend on beside the texts."""
        device = self.device.split(":")[0]
        return (content_of(self.folder), device, self.precision, str(self.limit))

    def _look_up_or_read(
        self, triples: Sequence[Triple], batch: int | None
    ) -> list[tuple[float, bool]]:
        """Score and cut of distinct triples, of earlier runs or read now."""

        def read(new: list[int]) -> NDArray[np.float64]:
            scores = self._read([triples[number] for number in new], batch)
            return np.array(scores, dtype=np.float64).reshape(-1, 2)

        kept = ScoreStore((type(self).__name__, *self.about)).scores(triples, 2, read)
        return [(score, bool(cut)) for score, cut in kept.tolist()]

    def _read(self, triples: Sequence[Triple], batch: int | None) -> list[tuple[float, bool]]:
        """Score and cut of triples that are not known, those of like length together."""
        sequences = self.sequences(triples)
        lengths = np.array([len(sequence.ids) for sequence in sequences], dtype=np.int64)
        values = np.zeros(len(sequences))
        budget = _PADDED["cpu" if self.device == "cpu" else "cuda"]
        for group in length_batches(lengths, budget):
            for some in _split_by_length(group, lengths, batch):
                values[some] = self.forward(*self._padded([sequences[n] for n in some.tolist()]))
                self.read += len(some)
        return [
            (score, sequence.cut)
            for score, sequence in zip(values.tolist(), sequences, strict=True)
        ]

    def _padded(
        self, some: Sequence[PieceSequence]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        lengths = np.array([len(sequence.ids) for sequence in some], dtype=np.int64)
        kept = np.arange(int(lengths.max(initial=1))) < lengths[:, None]
        ids = np.full(kept.shape, self.pad, dtype=np.int64)
        ids[kept] = np.concatenate([np.array(sequence.ids, dtype=np.int64) for sequence in some])
        return ids, kept, np.array([sequence.first for sequence in some], dtype=np.int64)


def _split_by_length(
    group: NDArray[np.int64], lengths: NDArray[np.int64], most: int | None
) -> Iterator[NDArray[np.int64]]:
    """Parts of a group, the longest first, so that none is padded far beyond its shortest."""
    start = 0
    while start < len(group):
        longest = int(lengths[group[start]])
        near = lengths[group] >= longest - max(longest // 4, _SPREAD)
        stop = min(int(near.sum()), start + (most or len(group)))
        yield group[start:stop]
        start = stop


# Options of such a metric, and the metric, bound.


@dataclass(frozen=True)
class JointOptions(Options, Metric, ABC):
    """Options of metrics that read the texts of a segment as one sequence.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub.
        limit: most pieces of a sequence; by default as many as the model is made for.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: of the weights: "fp32", or "bf16" for approximate scores in half the memory.
        batch: most sequences that are read at once; specs do not show it.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    opening: ClassVar[str | None] = "model"
    pooled: ClassVar[bool] = False
    lost: ClassVar[str]  # which end of a long sequence is left out, as messages name it

    model: Annotated[str, MODEL] = ""
    limit: int | None = None
    revision: Annotated[str | None, MODEL] = None
    device: str | None = None
    precision: JointPrecision = "fp32"
    batch: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise SpecError(
                f"{self.name} takes a model first: {self.name}('FOLDER'), a folder or a name on the"
                " model hub (scores that another tool computed come by scores('FILE'))"
            )

    def requires(self, language: str | None) -> tuple[Dependency, ...]:  # noqa: ARG002  # one for all languages
        """The model as studies name it: its name, or its folder in gnomon's own place."""
        return (Dependency("model", place_of_model(self.model), self.revision or ""),)

    def bind(self, testset: TestSet) -> BoundJoint:
        """Load the model.

        Raises:
            DataError: the test set lacks what the metric needs, or the folder is no such model.
            MissingDependencyError: torch, transformers, the model or its vocabulary is not there.
            UsageError: there is no such device, or the model takes fewer pieces than ``limit``.
        """
        check_needs(self, testset.outline)
        folder = find_joint_model(self.model, self.revision)
        return BoundJoint(self, self.load(folder, usable_device(self.device, self.name)))

    @abstractmethod
    def load(self, folder: ModelFolder, device: str) -> JointModel:
        """The model in a folder; the same request gives the same object."""


@dataclass(frozen=True, eq=False)
class BoundJoint(OfOptions):
    """A metric that reads the texts of a segment as one sequence, ready to score."""

    metric: JointOptions
    model: JointModel  # counts what it reads

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, most pieces, and the licence of the weights."""
        return Signature(self.metric.spec).adding(
            model=self.model.folder.identity,
            pieces=self.model.limit,
            licence=licence_of(self.model.folder),
        )

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; means over the references of a segment.

        NaN where there is no reference, and one is read.
        """
        rows = input_rows(batch, self.metric.needs)
        distinct, back = np.unique(rows.texts, axis=0, return_inverse=True)
        scores, _ = self.model.scores(batch.texts, distinct, self.metric.batch)
        return rows.means(scores[back.reshape(-1), None])[..., 0]

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Inputs that were cut at the model's limit."""
        distinct = np.unique(input_rows(batch, self.metric.needs).texts, axis=0)
        _, cut = self.model.scores(batch.texts, distinct, self.metric.batch)
        if not cut.any():
            return ()
        said = message(
            "score.cut",
            cut=int(cut.sum()),
            texts=len(cut),
            what="inputs",
            limit=self.model.limit,
            of="segment",
            remedy=self.metric.lost,
        )
        return (said.about(metrics=[self.metric.spec]),)
