"""What is to be decoded: each distinct request once, in batches that fit into memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gnomon.errors import LengthMismatchError, ScoringError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["Request", "answers", "each_once", "make_requests"]

_Answer = TypeVar("_Answer")

#: rows (hypotheses) that are decoded at once
_ROWS = {"cpu": 320, "cuda": 8192}
#: numbers that the logits of a step may take
_LOGITS = {"cpu": 1 << 26, "cuda": 1 << 28}


@dataclass(frozen=True)
class Request:
    """A text to decode.

    Attributes:
        source: its pieces.
        prefix: pieces that every target begins with.
        limit: most pieces of a target, prefix included, ``</s>`` not.
        phrases: pieces of the constraints that can be met.
        target: what is to be scored, where nothing is searched.
    """

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
    """One request per text; None for empty texts, of which there is nothing to say.

    Raises:
        LengthMismatchError: there are not as many prefixes as texts.
        UsageError: the limit is below 1 or a prefix longer than it.
    """
    if prefixes is not None and len(prefixes) != len(texts):
        raise LengthMismatchError(
            f"{len(prefixes)} prefixes were given for {len(texts)} texts; give one per text, ()"
            " where there is none"
        )
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit} is no number of pieces; it must be 1 or more")
    full = [number for number, text in enumerate(texts) if text.strip()]
    if len(full) < len(texts):
        model.say("empty texts were not decoded")
    found: list[Request | None] = [None] * len(texts)
    for number, source in zip(full, model.pieces([texts[n] for n in full]), strict=True):
        prefix = () if prefixes is None else tuple(map(int, prefixes[number]))
        most = 2 * len(source) + 10 + len(prefix) if limit is None else limit
        most = min(most, model.limit)
        _check_prefix(model, prefix, most)
        found[number] = Request(tuple(source), prefix, most)
    return found


def _check_prefix(model: Seq2Seq, prefix: tuple[int, ...], most: int) -> None:
    if len(prefix) > most:
        raise UsageError(f"a prefix of {len(prefix)} pieces is longer than the limit of {most}")
    if prefix and not (0 <= min(prefix) <= max(prefix) < model.size and model.end not in prefix):
        raise UsageError(
            f"prefix {prefix}: pieces are numbers from 0 to {model.size - 1}, and {model.end} is"
            " not allowed, since it ends a target"
        )


def each_once(
    requests: Sequence[Request | None],
    decode: Callable[[list[Request]], list[Sequence[_Answer]]],
) -> list[list[_Answer]]:
    """Decode each distinct request once; nothing comes of None."""
    distinct = list(dict.fromkeys(request for request in requests if request is not None))
    found = dict(zip(distinct, decode(distinct), strict=True))
    return [[] if request is None else list(found[request]) for request in requests]


def answers(
    model: Seq2Seq,
    requests: Sequence[Request],
    decode: Callable[[list[Request]], list[_Answer]],
    *,
    rows: int = 1,
    positions: int = 1,
) -> list[_Answer]:
    """Decode requests in batches of like length, and halve these where memory ends.

    Args:
        model: what decodes; it is told when memory did not suffice.
        requests: what to decode; those of a batch have prefixes of one length.
        decode: decodes a batch.
        rows: hypotheses per request.
        positions: at which logits are wanted at once.

    Raises:
        ScoringError: a request does not fit into memory alone.
    """
    kind = model.device.split(":")[0]
    most = _LOGITS.get(kind, _LOGITS["cpu"]) // (rows * positions * model.size)
    size = max(1, min(_ROWS.get(kind, _ROWS["cpu"]) // rows, most))
    order = sorted(range(len(requests)), key=lambda number: _length(requests[number]))
    found: dict[int, _Answer] = {}
    while len(found) < len(order):
        batch = order[len(found) : len(found) + size]
        length = len(requests[batch[0]].prefix)
        batch = [number for number in batch if len(requests[number].prefix) == length]
        made = _tried(model, [requests[number] for number in batch], decode)
        if made is not None:
            found.update(zip(batch, made, strict=True))
        else:
            size = max(1, len(batch) // 2)
    return [found[number] for number in range(len(requests))]


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
    model.say("memory did not suffice; texts were decoded in smaller batches")
    return None


def _is_out_of_memory(error: BaseException) -> bool:
    import torch

    said = str(error).lower()
    known = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(k in said for k in known)
