"""Rows of several language pairs in one file: those of the test set are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from gnomon.errors import DataError, UnknownNameError
from gnomon.formats._files import LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

# the three-letter codes that WMT's annotation campaigns wrote
_SHORT = {
    "ara": "ar",
    "ben": "bn",
    "ces": "cs",
    "cze": "cs",
    "deu": "de",
    "ger": "de",
    "eng": "en",
    "est": "et",
    "fin": "fi",
    "fra": "fr",
    "fre": "fr",
    "guj": "gu",
    "hau": "ha",
    "heb": "he",
    "hin": "hi",
    "hrv": "hr",
    "hun": "hu",
    "isl": "is",
    "ice": "is",
    "ita": "it",
    "jpn": "ja",
    "kaz": "kk",
    "khm": "km",
    "kor": "ko",
    "lav": "lv",
    "lit": "lt",
    "pol": "pl",
    "pus": "ps",
    "ron": "ro",
    "rum": "ro",
    "rus": "ru",
    "spa": "es",
    "tam": "ta",
    "tur": "tr",
    "ukr": "uk",
    "xho": "xh",
    "zho": "zh",
    "chi": "zh",
    "zul": "zu",
}


def pair(source: str, target: str) -> str:
    """A language pair from two codes, of two letters where these are known.

    >>> pair("cze", "eng")
    'cs-en'
    """
    return f"{_SHORT.get(source, source)}-{_SHORT.get(target, target)}"


def of_pair(
    rows: Sequence[T], pair_of: Callable[[T], str], wanted: str | None, path: str
) -> list[T]:
    """The rows of the wanted language pair; all of them where only one pair is there.

    Raises:
        UnknownNameError: the wanted pair is not there.
        DataError: several pairs are there and none is wanted.
    """
    there = list(dict.fromkeys(pair_of(row) for row in rows))
    if wanted is not None and "-" in wanted and there:
        fitting = [name for name in there if _same(name, wanted)]
        if not fitting:
            raise UnknownNameError(f"language pair of {path}", wanted, there)
        kept = [row for row in rows if pair_of(row) in fitting]
        if len(kept) < len(rows):
            others = [name for name in there if name not in fitting]
            LOGGER.info(
                "%s: %d rows of other language pairs are left out: %s",
                path,
                len(rows) - len(kept),
                ", ".join(others),
            )
        return kept
    if len(there) > 1:
        raise DataError(
            f"{path} holds several language pairs: {', '.join(there)}; the test set does not say"
            " which is its own; name it (-l de-en; language_pair='de-en')"
        )
    return list(rows)


def _same(there: str, wanted: str) -> bool:
    """Whether two pairs are the same, regions apart where only one has them."""
    short = [[code.split("_")[0] for code in name.split("-")] for name in (there, wanted)]
    bare = "_" not in there or "_" not in wanted
    return there == wanted or (bare and short[0] == short[1])
