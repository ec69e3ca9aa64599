"""Records of the n-grams that only one of two systems gets right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import MissingDependencyError
from gnomon.metaeval._compare_ngrams import only_here, reference_matches
from gnomon.metrics.tokenise import default_tokeniser, tokenise

if TYPE_CHECKING:
    from gnomon.batch import Batch
    from gnomon.findings import Cell
    from gnomon.metaeval._compare_ngrams import OnlyHere
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.testset import TestSet

__all__ = ["ngram_records", "read_tokens"]


def read_tokens(testset: TestSet) -> tuple[TokenTable | None, str]:
    """The tokens of a test set: 13a, or what sacreBLEU takes for the language.

    Returns:
        The table and "", or none and the reason why.
    """
    if not testset.references:
        return None, "the test set has no references"
    try:
        return tokenise(testset.batch().texts, default_tokeniser(testset.target_language)), ""
    except MissingDependencyError as error:
        return None, str(error)


def ngram_records(
    batch: Batch, table: TokenTable, *, most: int, longest: int
) -> list[dict[str, Cell]]:
    """The n-grams that each system, and the baseline beside it, alone gets right.

    Args:
        batch: outputs and references; the baseline comes first.
        table: the tokens of its texts.
        most: listed per system, side and length.
        longest: length of the longest n-grams.
    """
    pairs = [(k, here, k - here) for k in range(1, len(batch.systems)) for here in (k, 0)]
    ranked: list[list[list[OnlyHere]]] = [[] for _ in pairs]
    for matches in reference_matches(batch, table, longest):  # of one length at a time
        for found, (_, here, there) in zip(ranked, pairs, strict=True):
            found.append(only_here(matches, here, there, most))
    return [
        {
            "system": batch.systems[k],
            "baseline": batch.systems[0],
            "side": batch.systems[here],
            **record,
        }
        for found, (k, here, _) in zip(ranked, pairs, strict=True)
        for record in _side(found, table)
    ]


def _side(found: list[list[OnlyHere]], table: TokenTable) -> list[dict[str, Cell]]:
    """Rank by rank, so that the first few are of all lengths."""
    deepest = max(map(len, found), default=0)
    return [
        {
            "n": n,
            "rank": rank,
            "ngram": " ".join(table.vocabulary[token] for token in ranked[rank - 1].tokens),
            "count": ranked[rank - 1].right,
            "other": ranked[rank - 1].other,
            "reference": ranked[rank - 1].held,
        }
        for rank in range(1, deepest + 1)
        for n, ranked in enumerate(found, start=1)
        if rank <= len(ranked)
    ]
