"""Requests to decode, options of the search, and proposals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gnomon.core.errors import LengthMismatchError, ScoringError, UsageError
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.models.seq2seq import Seq2Seq

__all__ = [
    "Continuations",
    "FinishedTarget",
    "Hypothesis",
    "Request",
    "SearchPlan",
    "answers",
    "decode_unique",
    "make_requests",
]


_Answer = TypeVar("_Answer")

#: rows (hypotheses) that are decoded at once
_ROWS = {"cpu": 320, "cuda": 8192}
#: numbers that the logits of a step may take
_LOGITS = {"cpu": 1 << 26, "cuda": 1 << 28}


@dataclass(frozen=True)
class Request:
    """A text to decode."""

    source: tuple[int, ...]
    prefix: tuple[int, ...] = ()
    limit: int = 0
    phrases: tuple[tuple[int, ...], ...] = ()
    target: tuple[int, ...] = ()


def make_requests(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    prefixes: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
) -> list[Request | None]:
    """One request per text; None for empty texts, of which there is nothing to say."""
    if prefixes is not None and len(prefixes) != len(texts):
        raise LengthMismatchError(
            f"{len(prefixes)} prefixes were given for {len(texts)} texts; give one per text, ()"
            " where there is none"
        )
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit} is no number of pieces; it must be 1 or more")
    full = [number for number, text in enumerate(texts) if text.strip()]
    if len(full) < len(texts):
        model.say(message("note.models.empty"))
    requests: list[Request | None] = [None] * len(texts)
    for number, source in zip(full, model.pieces([texts[n] for n in full]), strict=True):
        prefix = () if prefixes is None else tuple(map(int, prefixes[number]))
        most = 2 * len(source) + 10 + len(prefix) if limit is None else limit
        most = min(most, model.limit)
        if len(prefix) > most:
            raise UsageError(f"a prefix of {len(prefix)} pieces is longer than the limit of {most}")
        if prefix and not (
            0 <= min(prefix) <= max(prefix) < model.size and model.end not in prefix
        ):
            raise UsageError(
                f"prefix {prefix}: pieces are numbers from 0 to {model.size - 1}, and {model.end}"
                " is not allowed, since it ends a target"
            )
        requests[number] = Request(tuple(source), prefix, most)
    return requests


def decode_unique(
    requests: Sequence[Request | None],
    decode: Callable[[list[Request]], list[Sequence[_Answer]]],
) -> list[list[_Answer]]:
    """Decode each distinct request once; nothing comes of None."""
    distinct = list(dict.fromkeys(request for request in requests if request is not None))
    by_request = dict(zip(distinct, decode(distinct), strict=True))
    return [[] if request is None else list(by_request[request]) for request in requests]


def answers(
    model: Seq2Seq,
    requests: Sequence[Request],
    decode: Callable[[list[Request]], list[_Answer]],
    *,
    rows: int = 1,
    positions: int = 1,
) -> list[_Answer]:
    """Decode requests in batches of like length, and halve these where memory ends."""
    kind = model.device.split(":")[0]
    most = _LOGITS.get(kind, _LOGITS["cpu"]) // (rows * positions * model.size)
    size = max(1, min(_ROWS.get(kind, _ROWS["cpu"]) // rows, most))
    order = sorted(range(len(requests)), key=lambda number: _length(requests[number]))
    by_request: dict[int, _Answer] = {}
    while len(by_request) < len(order):
        batch = order[len(by_request) : len(by_request) + size]
        length = len(requests[batch[0]].prefix)
        batch = [number for number in batch if len(requests[number].prefix) == length]
        made = _tried(model, [requests[number] for number in batch], decode)
        if made is not None:
            by_request.update(zip(batch, made, strict=True))
        else:
            size = max(1, len(batch) // 2)
    return [by_request[number] for number in range(len(requests))]


def _length(request: Request) -> tuple[int, int]:
    return len(request.prefix), -len(request.source) - len(request.target)


def _tried(
    model: Seq2Seq, batch: list[Request], decode: Callable[[list[Request]], list[_Answer]]
) -> list[_Answer] | None:
    """The answers, or None where memory ended and a smaller batch may help."""
    import torch

    try:
        with torch.inference_mode():
            return decode(batch)
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise ScoringError(
                f"memory does not suffice to decode a single text of {len(batch[0].source)} pieces"
                f" with {model.folder.name}; take a smaller beam, fewer samples or a lower limit"
            ) from error
    if model.device.startswith("cuda"):
        torch.cuda.empty_cache()
    model.say(message("note.models.memory"))
    return None


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # of a processor's memory torch says so in words alone
    words = str(error).lower()
    phrases = ("out of memory", "can't allocate memory", "not enough memory")
    return any(phrase in words for phrase in phrases)


# How to search, and what a search holds.


@dataclass(frozen=True)
class SearchPlan:
    """Options of the search."""

    beam: int
    n: int
    length_penalty: float = 1.0
    groups: int = 1
    strength: float = 0.0

    def score(self, log_probability: Any, length: Any) -> Any:
        """Score that hypotheses are ranked by; ``</s>`` counts as a piece."""
        return log_probability / np.asarray(length, dtype=np.float64) ** self.length_penalty


class FinishedTarget(NamedTuple):
    """A finished hypothesis: pieces without ``</s>``, log-probability, score."""

    pieces: tuple[int, ...]
    log_probability: float
    score: float


class Continuations(NamedTuple):
    """Continuations of the hypotheses of each slot, the preferred ones first; arrays [S, M]."""

    parent: NDArray[np.int64]
    piece: NDArray[np.int64]
    total: NDArray[np.float64]
    state: NDArray[np.int64]

    def take(self, order: NDArray[np.int64]) -> Continuations:
        """Those at some places of each slot."""
        return Continuations(
            np.take_along_axis(self.parent, order, axis=1),
            np.take_along_axis(self.piece, order, axis=1),
            np.take_along_axis(self.total, order, axis=1),
            np.take_along_axis(self.state, order, axis=1),
        )

    def widened(self, size: int) -> Continuations:
        """As many as asked for, those that are added impossible."""
        more = ((0, 0), (0, size - self.parent.shape[1]))
        return Continuations(
            np.pad(self.parent, more),
            np.pad(self.piece, more),
            np.pad(self.total, more, constant_values=-np.inf),
            np.pad(self.state, more),
        )


# What a decoder proposes.


@dataclass(frozen=True)
class Hypothesis:
    """A target that a model proposes for a text.

    Attributes:
        text: in words; "" where the model ended at once.
        pieces: its pieces, prefix included, ``</s>`` left out.
        log_probability: natural logarithm of the model's probability of these pieces and ``</s>``
            after them, prefix included.
        score: log_probability / length ** length_penalty, where length counts ``</s>``.
        met: of each constraint that was asked for, whether the pieces hold it; () without any.
    """

    text: str
    pieces: tuple[int, ...]
    log_probability: float
    score: float
    met: tuple[bool, ...] = ()
