"""Scores of learned metrics, kept between runs.

What a score is found by is a hash of the model, of how it is run and of the texts; nothing of the
texts themselves is written.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.core.cache import Cache, default_path, is_kept, keys
from gnomon.core.errors import OutputError, UsageError
from gnomon.core.signature import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.models import ModelFolder

__all__ = ["ScoreStore", "content_of", "score_cache"]

#: folder of scores in gnomon's cache folder
FOLDER = "gnomon-scores"
#: most bytes of them; 0: none are kept
LIMIT = "GNOMON_SCORES_LIMIT"
_LIMIT_BYTES = 1 << 30
_FORMAT = "1"
_REMEDY = f"make room, give it another place (GNOMON_CACHE=FOLDER), or keep no scores ({LIMIT}=0)"

_log = logging.getLogger(__name__)

#: texts that are scored together; None stands for one that is not read
Texts: TypeAlias = "tuple[str | None, ...]"


def score_cache() -> Cache:
    """Where scores are kept; with a limit of 0 bytes, none are.

    Raises:
        UsageError: ``GNOMON_SCORES_LIMIT`` is no number of bytes.
    """
    given = os.environ.get(LIMIT, str(_LIMIT_BYTES))
    if not given.isdecimal():
        raise UsageError(f"{LIMIT} is a number of bytes; got {given!r}")
    return _cache(default_path() / FOLDER, int(given))


@lru_cache(maxsize=1)
def _cache(path: Path, limit: int) -> Cache:
    return Cache(path, limit, remedy=_REMEDY)


def content_of(folder: ModelFolder) -> str:
    """The commit of a model, or a hash of its files, wherever they lie."""
    return folder.identity if folder.revision else folder.identity.rpartition("#")[2]


@dataclass(frozen=True)
class ScoreStore:
    """Results of one model run in one way: those of earlier runs, and new ones, which are kept.

    Attributes:
        about: what results depend on beside the texts: model, device, precision, options.
    """

    about: tuple[str, ...]

    def scores(
        self,
        inputs: Sequence[Texts],
        columns: int,
        compute: Callable[[list[int]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Scores of some distinct inputs, float64 [P, columns].

        ``compute`` takes the positions of the inputs whose scores are not kept.
        """

        def rows(new: list[int]) -> list[bytes]:
            return [row.tobytes() for row in np.asarray(compute(new), dtype=np.float64)]

        values = self.values("scores", inputs, rows)
        return np.frombuffer(b"".join(values), dtype=np.float64).reshape(len(inputs), columns)

    def values(
        self, kind: str, inputs: Sequence[Texts], compute: Callable[[list[int]], list[bytes]]
    ) -> list[bytes]:
        """Results of one kind for some distinct inputs, as bytes."""
        cache = score_cache()
        if not (cache.limit_bytes and is_kept()):
            return compute(list(range(len(inputs))))
        addresses = keys(
            (_FORMAT, VERSION, kind, *self.about), [_join_texts(texts) for texts in inputs]
        )
        try:
            values = cache.get_many(addresses)
        except OutputError as error:
            _log.warning("scores of earlier runs cannot be read: %s", error)
            return compute(list(range(len(inputs))))
        new = [number for number, address in enumerate(addresses) if address not in values]
        if new:
            made = dict(zip((addresses[number] for number in new), compute(new), strict=True))
            try:
                cache.put_many(made)
            except OutputError as error:
                _log.warning("scores are not kept: %s", error)
            values |= made
        return [values[address] for address in addresses]


def _join_texts(texts: Texts) -> str:
    """Some texts as one, from which they could be told again."""
    return "".join("-" if text is None else f"{len(text)}+{text}" for text in texts)
