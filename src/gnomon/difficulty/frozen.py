"""Difficulties in a file: measured once on a pool of systems, applied to other systems later.

The file is a plain zip of numpy arrays (``.npz``), read without pickle.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError, FormatError, MissingFileError, UsageError
from gnomon.data.formats import atomic_write
from gnomon.difficulty.gram_hardness import GramHardness, GramVocabulary
from gnomon.difficulty.segment_hardness import SegmentHardness
from gnomon.difficulty.token_hardness import Hardness, Places
from gnomon.metrics import Options

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.metrics.base import BoundMetric

__all__ = [
    "check_frozen",
    "check_frozen_grams",
    "check_frozen_segments",
    "check_there",
    "read_grams",
    "read_hardness",
    "read_segments",
    "write_difficulties",
]


_FORMAT = "gnomon difficulties 1"
_PLACES = ("segment", "offsets", "type", "start", "end", "special")
_WHOLE = ("segment", "offsets", "type", "start", "end", "count")
_FROZEN = ",frozen,"
#: options that decide which tokens there are, or in which units they are similar
_OPTIONS = ("type", "stemmer", "max_ngram_order", "long", "rescale")


def write_difficulties(
    path: str | PathLike[str],
    hardness: Hardness | GramHardness | SegmentHardness,
    base: BoundMetric,
    *,
    leave_one_out: bool,
    human: Sequence[str],
) -> None:
    """Write difficulties to a file; arguments and errors as in ``PooledMetric.save``."""
    if leave_one_out:
        raise UsageError(
            "leaving one out gives every system difficulties of its own, which are not one list;"
            " save those of the whole pool"
        )
    kind, facts, arrays = _contents(hardness)
    about = {"kind": kind, "pool": hardness.pool, "human": list(human), **facts}
    header = json.dumps({**about, "format": _FORMAT, "metric": _measured_by(base)})
    with atomic_write(path, "wb") as file:
        text = np.frombuffer(header.encode(), dtype=np.uint8)
        np.savez_compressed(file, allow_pickle=False, about=text, **arrays)


def _contents(
    hardness: Hardness | GramHardness | SegmentHardness,
) -> tuple[str, dict[str, object], dict[str, NDArray[Any]]]:
    """Kind, facts and arrays of difficulties."""
    if isinstance(hardness, Hardness):
        places = hardness.places
        arrays = {name: getattr(places, name) for name in _PLACES}
        arrays |= {"value": hardness.value, "count": hardness.count}
        return "tokens", {"texts": list(places.text)}, arrays
    if isinstance(hardness, SegmentHardness):
        return "segments", {}, {"segment": hardness.segment, "value": hardness.value}
    parts = (hardness.known.keys, hardness.keys, hardness.missed)
    arrays = {
        f"{name}{order}": column
        for name, columns in zip(("known", "keys", "missed"), parts, strict=True)
        for order, column in enumerate(columns, start=1)
    }
    facts = {
        "systems": hardness.systems,
        "orders": len(hardness.keys),
        "vocabulary": hardness.known.vocabulary,
        "references": sorted(hardness.references),
    }
    return "n-grams", facts, arrays


def read_hardness(path: str | PathLike[str]) -> Hardness:
    """Read difficulties of tokens."""
    about, arrays = _read(path, "tokens")
    try:
        texts = tuple(map(str, about["texts"]))
        places = Places(text=texts, **{name: arrays[name] for name in _PLACES})
        hardness = Hardness(
            places, arrays["value"], arrays["count"], _pool(about), human=_human(about)
        )
        whole = all(arrays[name].dtype.kind in "iu" for name in _WHOLE)
        rows = [places.type, places.start, places.end, places.special, hardness.value]
        fits = len(texts) == len(places.segment) == len(places.offsets) - 1
        fits &= {row.shape for row in (*rows, hardness.count)} == {(int(places.offsets[-1]),)}
        fits &= bool((np.diff(places.offsets) >= 0).all() and np.isfinite(hardness.value).all())
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise _describe_damage(path, error) from error
    if not (fits and whole and places.special.dtype == bool):
        raise _describe_damage(path, "its parts do not fit together")
    return hardness


def read_grams(path: str | PathLike[str]) -> GramHardness:
    """Read difficulties of n-grams; errors as for :func:`read_hardness`."""
    about, arrays = _read(path, "n-grams")
    try:
        orders = range(1, int(about["orders"]) + 1)
        known_keys, keys, missed = (
            tuple(arrays[f"{name}{order}"] for order in orders)
            for name in ("known", "keys", "missed")
        )
        references = frozenset((int(n), str(text)) for n, text in about["references"])
        vocabulary = tuple(map(str, about["vocabulary"]))
        systems = int(about["systems"])
        fits = all(a.shape == b.shape for a, b in zip(keys, missed, strict=True))
        fits &= all(
            column.ndim == 1 and column.dtype.kind in "iu" for column in (*keys, *known_keys)
        )
        pool, human = _pool(about), _human(about)
    except (KeyError, TypeError, ValueError) as error:
        raise _describe_damage(path, error) from error
    if not fits:
        raise _describe_damage(path, "its parts do not fit together")
    return GramHardness(
        GramVocabulary(vocabulary, known_keys), keys, missed, systems, references, pool, human=human
    )


def read_segments(path: str | PathLike[str]) -> SegmentHardness:
    """Read difficulties of segments; errors as for :func:`read_hardness`."""
    about, arrays = _read(path, "segments")
    try:
        segment, value = arrays["segment"], arrays["value"]
        pool, human = _pool(about), _human(about)
    except (KeyError, TypeError, ValueError) as error:
        raise _describe_damage(path, error) from error
    fits = segment.ndim == 1 and segment.shape == value.shape and segment.dtype.kind in "iu"
    if not fits or not ((value > 0) & (value < 1) | np.isnan(value)).all():
        raise _describe_damage(path, "its parts do not fit together")
    return SegmentHardness(segment, value, pool, human=human)


def check_frozen_segments(hardness: SegmentHardness, base: BoundMetric) -> None:
    """Refuse difficulties that were measured with another metric; scoring checks the segments."""
    _check_measured(hardness.pool, base)


def check_there(path: str | PathLike[str]) -> None:
    """Refuse the name of a file that does not exist."""
    if not Path(path).is_file():
        raise MissingFileError(f"there is no file of difficulties {str(path)!r}")


def check_frozen(hardness: Hardness, batch: Batch, base: BoundMetric) -> None:
    """Refuse difficulties of other references, or of another model."""
    _check(hardness.pool, hardness.places.number, batch, base)


def check_frozen_grams(hardness: GramHardness, batch: Batch, base: BoundMetric) -> None:
    """Refuse difficulties of other references, or of other tokens; errors as above."""
    _check(hardness.pool, hardness.references, batch, base)


def _check(
    pool: str, references: Collection[tuple[int, str]], batch: Batch, base: BoundMetric
) -> None:
    _check_measured(pool, base)
    sources = None if "references" in base.needs else batch.sources
    against = [batch.references_of(k) for k in range(len(batch.systems))] or [batch.references]
    for number, segment in enumerate(batch.segments.tolist()):
        texts = {int(text) for ragged in against for text in ragged[number]}
        if sources is not None:
            texts = {int(sources[number])}
        if any((segment, batch.texts[text]) not in references for text in texts):
            raise DataError(
                f"the frozen difficulties are of other references: that of segment {segment + 1} is"
                " not among them; measure them again on these references"
            )


def _check_measured(pool: str, base: BoundMetric) -> None:
    measured = pool.rpartition(_FROZEN)[2]
    if measured != _measured_by(base):
        raise DataError(
            f"the frozen difficulties were measured with {measured}, not with"
            f" {_measured_by(base)}: their tokens do not fit"
        )


def _measured_by(base: BoundMetric) -> str:
    """Basis of tokens and their similarities: model and layer, or tokeniser and order."""
    signed = base.signature
    kept = [f"{key} {signed[key]}" for key in ("model", "layer", "tok", "case") if key in signed]
    options = getattr(base, "metric", base)
    if isinstance(options, Options):
        others = [option for option in fields(options) if option.name in _OPTIONS]
        given = [(option.name, getattr(options, option.name), option.default) for option in others]
        kept += [f"{name} {value}" for name, value, default in given if value != default]
    return ", ".join([base.name, *kept])


def _pool(about: Mapping[str, Any]) -> str:
    return f"{about['pool']}{_FROZEN}{about['metric']}"


def _human(about: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(map(str, about.get("human", ())))


def _read(path: str | PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    check_there(path)
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
    except (KeyError, AttributeError, RecursionError, zipfile.BadZipFile, zlib.error) as error:
        raise _describe_damage(path, error) from error
    except (OSError, ValueError, EOFError, MemoryError) as error:
        whole = zipfile.is_zipfile(path)  # of other files numpy says to trust their pickles
        raise _describe_damage(path, error if whole else "it is no zip of arrays") from error
    if not isinstance(about, dict):
        raise _describe_damage(path, "it does not say what it holds")
    if about.get("format") != _FORMAT or about.get("kind") != kind:
        raise _describe_damage(
            path, f"it holds difficulties of {about.get('kind')}, where those of {kind} are wanted"
        )
    return about, arrays


def _describe_damage(path: str | PathLike[str], problem: object) -> FormatError:
    return FormatError(
        f"this is no file of difficulties, or it is damaged ({problem}); make one with gnomon"
        " difficulty score --save",
        path=Path(path),
    )
