"""Quality of codes: sizes, spread, central sentences."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Finding, Lines, Listing
from gnomon.core.records import Record, column, columns_of, table
from gnomon.core.signature import Signature
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.messages import Message
    from gnomon.paraphrase.codes.clustering import Codes, Placed


def entropy(counts: NDArray[np.int64]) -> float:
    """The entropy of a distribution in bits, from counts.

    >>> entropy(np.array([2, 2, 0, 4]))
    1.5
    """
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


_TITLE = "Codes of sentences"
_NEAREST = 5
_SHOWN = 30


class CodedFileRow(Record):
    """Spread of codes over a file of sentences."""

    file: str = column("File", help="its name")
    sentences: int = column("Sentences", help="its lines")
    coded: int = column("Coded", help="the others are empty, or have no tree")
    used: int = column("Used", help="codes that some sentence has")
    perplexity: float | None = column(
        "Perplexity", digits=1, help="codes of one size that were as even"
    )
    largest: float | None = column(
        "Largest", kind="share", digits=3, help="share of sentences with the commonest code"
    )
    distance: float | None = column(
        "Distance", digits=3, better="lower", help="mean squared distance to the centroid"
    )


class CodeSizeRow(Record):
    """The sentences of a code."""

    file: str = column("File", help="its name")
    rank: int = column("Rank", help="1: the commonest code of the file")
    code: str = column("Code", help="its number, from 0")
    count: int = column("Sentences", help="that have it")
    share: float | None = column(
        "Share", kind="share", digits=4, help="of the sentences with a code"
    )
    distance: float | None = column(
        "Distance", digits=3, better="lower", help="mean squared distance to the centroid"
    )
    nearest: str | None = column("Nearest", help="the sentence nearest the centroid")


def codes_verdict(finding: Finding) -> Iterator[Message]:
    """State how evenly sentences spread over codes."""
    for row in finding.records(CodedFileRow):
        same = bool(row.coded) and row.used == 1
        spread = row.perplexity is not None and row.largest is not None
        yield message(
            "paraphrase.codes.coded",
            finding.positions([row]),
            level="caution" if same else "undecided",
            coded=row.coded,
            sentences=row.sentences,
            file=row.file,
            used=row.used,
            spread={"perplexity": row.perplexity, "largest": row.largest} if spread else None,
        )


def quality(
    codes: Codes,
    placed: Mapping[str, Placed],
    *,
    texts: Mapping[str, Sequence[str | None]] | None = None,
) -> Finding:
    """Measure how codes spread over files of sentences."""
    shown_texts = texts or {}
    rows = [_row(name, codes, sentences) for name, sentences in placed.items()]
    sizes = [
        row
        for name, sentences in placed.items()
        for row in _sizes(name, codes, sentences, shown_texts.get(name))
    ]
    exhibits = [
        exhibit
        for name, sentences in placed.items()
        if shown_texts.get(name) and codes.space is not None
        for exhibit in _exhibits(name, sentences, shown_texts[name])
    ]
    signature = Signature("codes").adding(kind=codes.kind, k=codes.k, codes=codes.identity)
    names = (column.name for column in columns_of(CodedFileRow))
    shown = tuple(name for name in names if any(getattr(row, name) is not None for row in rows))
    views = (
        Listing("codes", _TITLE, shown),
        Lines("sizes", "Share of sentences, commonest code first", "rank", "share", "file"),
    )
    return Finding(
        "paraphrase codes",
        _TITLE,
        (
            table("codes", _TITLE, CodedFileRow, rows),
            table("sizes", "Sentences of each code", CodeSizeRow, sizes),
        ),
        {"codes": signature},
        views,
        tuple(exhibits),
        tuple(_notices(codes)),
        _facts(codes),
    )


def _row(name: str, codes: Codes, placed: Placed) -> CodedFileRow:
    coded = placed.codes >= 0
    counts = np.bincount(placed.codes[coded], minlength=codes.k)
    total = int(coded.sum())
    bits = entropy(counts) if total else None
    return CodedFileRow(
        file=name,
        sentences=len(placed.codes),
        coded=total,
        used=int((counts > 0).sum()),
        perplexity=None if bits is None else 2**bits,
        largest=int(counts.max()) / total if total else None,
        distance=_mean(placed.distances[coded]) if codes.space is not None else None,
    )


def _sizes(
    name: str, codes: Codes, placed: Placed, texts: Sequence[str | None] | None
) -> list[CodeSizeRow]:
    members = _members(placed, codes.k)
    total = sum(map(len, members))
    rows: list[CodeSizeRow] = []
    commonest = sorted(range(codes.k), key=lambda code: (-len(members[code]), code))
    for rank, code in enumerate(commonest, start=1):
        rows_of_code = members[code]
        bare = codes.space is None or not len(rows_of_code)
        rows.append(
            CodeSizeRow(
                file=name,
                rank=rank,
                code=str(code),
                count=len(rows_of_code),
                share=len(rows_of_code) / total if total else None,
                distance=None if bare else _mean(placed.distances[rows_of_code]),
                nearest=None if bare or not texts else texts[int(rows_of_code[0])],
            )
        )
    return rows


def _members(placed: Placed, k: int) -> list[NDArray[np.int64]]:
    """The sentences of each code, the nearest ones first."""
    order = np.lexsort((np.arange(len(placed.codes)), placed.distances, placed.codes))
    bounds = np.searchsorted(placed.codes[order], np.arange(k + 1))
    return [order[first:last] for first, last in pairwise(bounds.tolist())]


def _exhibits(name: str, placed: Placed, texts: Sequence[str | None]) -> list[Exhibit]:
    members = _members(placed, int(placed.codes.max(initial=-1)) + 1)
    commonest = sorted(range(len(members)), key=lambda code: (-len(members[code]), code))
    exhibits = []
    for code in [code for code in commonest if len(members[code])][:_SHOWN]:
        rows_of_code = members[code]
        different = {texts[int(i)]: int(i) for i in rows_of_code[::-1]}
        chosen = sorted(different.values(), key=lambda i: (placed.distances[i], i))[:_NEAREST]
        exhibits.append(
            Exhibit(
                group=f"code {code}",
                kind="nearest the centre",
                segment=chosen[0] + 1,
                texts=tuple(
                    ExhibitText(
                        "candidate",
                        f"{name}, {i + 1}",
                        texts[i] or "",
                        values={"distance": float(placed.distances[i])},
                    )
                    for i in chosen
                ),
                weight=float(len(rows_of_code)),
                caption=f"{len(rows_of_code)} sentences of {name} have code {code}; these are"
                " nearest its centre",
            )
        )
    return exhibits


def _mean(values: NDArray[np.float32]) -> float | None:
    return float(values.mean(dtype=np.float64)) if len(values) else None


def _notices(codes: Codes) -> list[Message]:
    notices = []
    if codes.fitted.empty:
        notices.append(message("note.paraphrase.empty_codes", n=codes.fitted.empty, codes=codes.k))
    if codes.fitted.skipped:
        notices.append(message("note.paraphrase.skipped", n=codes.fitted.skipped))
    return notices


def _facts(codes: Codes) -> dict[str, str]:
    space = {} if codes.space is None else {"vectors": codes.space.identity}
    made = codes.fitted
    return {
        "codes": f"{codes.k} {codes.kind}",
        "identity": codes.identity,
        **space,
        "made from": f"{made.sentences} sentences, {made.distinct} of them different",
        "seed": str(codes.seed),
    }
