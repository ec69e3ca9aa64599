"""N-grams that references match and lack, as rows."""

from __future__ import annotations

from gnomon.core.records import SEGMENT, Record, column

__all__ = ["CoverageRow", "GramRow", "LackingRow"]


class CoverageRow(Record):
    """Shares of n-grams of one length that references, and any paraphrases, match."""

    n: int = column("n", help="tokens of the n-grams")
    ngrams: int = column("N-grams", help="of all outputs")
    matched: int = column("Matched", help="by the references, as BLEU clips them")
    share: float | None = column(
        "Share", kind="share", digits=4, better="higher", help="matched, of all"
    )
    new: int | None = column("Newly matched", help="likewise, by paraphrases alone")
    wide_share: float | None = column(
        "Share with paraphrases", kind="share", digits=4, better="higher", help="likewise, of all"
    )


class GramRow(Record):
    """An n-gram of the outputs that is newly matched, or that nothing matches."""

    n: int = column("n", help="its tokens")
    ngram: str = column("N-gram", help="the tokens")
    count: int = column("Count", help="occurrences in outputs")
    systems: int = column("Systems", help="whose outputs hold it there")
    segments: int = column("Segments", help="where it occurs")
    segment: int = column("Example", help="a segment where it occurs")


class LackingRow(Record):
    """An n-gram of many systems that the references of a segment lack."""

    segment: int = SEGMENT
    ngram: str = column("N-gram", help="its characters, as they stand in an output")
    n: int = column("n", help="its tokens")
    systems: int = column("Systems", help="systems whose output holds it")
    share: float = column("Share", kind="share", help="of the systems")
