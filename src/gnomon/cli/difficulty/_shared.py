"""Options that both commands share, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import load_outputs, metrics
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cache import Cache
    from gnomon.testset import TestSet

__all__ = [
    "add_omission",
    "add_people",
    "add_pool",
    "judged",
    "one_metric",
    "pool",
    "tag_cache",
]


def add_pool(parser: argparse.ArgumentParser) -> None:
    """Whose outputs say how hard words are."""
    group = parser.add_argument_group("difficulty")
    group.add_argument(
        "--pool",
        nargs="+",
        metavar="POOL",
        help="systems whose misses make words hard: all, top:6, top:30%%, or names (default: all)",
    )
    group.add_argument(
        "--pool-by",
        metavar="NAME",
        help="what ranks systems for top: a kind of human scores, or a metric such as bleu",
    )
    group.add_argument(
        "--frozen", metavar="FILE", help="difficulties saved before, in place of a pool"
    )
    group.add_argument("--save", metavar="FILE", help="write the difficulties, for --frozen")


def add_people(parser: argparse.ArgumentParser, *, what: str) -> None:
    """Which human scores count, and how many systems are the best."""
    group = parser.add_argument_group("people")
    group.add_argument(
        "--human",
        metavar="KIND|FILE",
        help=f"human scores that {what}, or a file of them (default: the only kind)",
    )
    group.add_argument(
        "--top",
        default="30%",
        metavar="K",
        help="how many systems are the best: a number, or a share, rounded down (default: 30%%)",
    )


def add_omission(parser: argparse.ArgumentParser) -> None:
    """The omission test, and what tells content words."""
    group = parser.add_argument_group("omission test")
    group.add_argument(
        "--omission",
        action="store_true",
        help="delete one content word per segment: what base and weighted score drop by, by how"
        " hard the word was",
    )
    group.add_argument(
        "--tagger",
        nargs="?",
        const="auto",
        metavar="NAME",
        help="word classes by spacy:NAME; without NAME: by the tagger of the target language",
    )
    group.add_argument("--no-cache", action="store_true", help="neither use nor keep tags")
    group.add_argument(
        "--seed", type=int, default=12345, metavar="N", help="of all draws (default: 12345)"
    )
    group.add_argument(
        "--bootstrap",
        type=int,
        default=1000,
        metavar="N",
        help="resamples for intervals; 0 = none (default: 1000)",
    )
    group.add_argument(
        "--confidence", type=float, default=0.95, metavar="X", help="of intervals (default: .95)"
    )


def one_metric(args: argparse.Namespace) -> str:
    """The metric, checked before anything is read.

    Raises:
        UsageError: several metrics are named.
    """
    found = metrics(args)
    if len(found) != 1:
        raise UsageError(
            f"-m takes one metric here, the one whose words are weighed; got {' '.join(found)}"
        )
    return found[0]


def pool(args: argparse.Namespace) -> str | tuple[str, ...] | None:
    """What ``--pool`` names: a rule, or systems.

    Raises:
        UsageError: it is a rule among names.
    """
    names: list[str] = args.pool or []
    if not names:
        return None
    rules = [name for name in names if name == "all" or name.startswith("top:")]
    if rules and len(names) > 1:
        raise UsageError(f"--pool takes all, top:K, or names of systems; got {' '.join(names)}")
    return names[0] if rules else tuple(names)


def judged(args: argparse.Namespace) -> tuple[TestSet, str | None]:
    """The test set, with human scores from a file if one is named, and the kind that counts."""
    testset = load_outputs(args)
    if not args.human or args.human in testset.human_kinds() or not _is_file(args.human):
        return testset, args.human
    from gnomon import metaeval

    with_scores, kinds = metaeval.with_judgements([testset], [args.human])
    return with_scores[0], next(iter(kinds), None)


def tag_cache(args: argparse.Namespace) -> Cache | None:
    """Where tags are kept; none with ``--no-cache`` or without a tagger."""
    if args.no_cache or not args.tagger:
        return None
    from gnomon import cache

    return cache.Cache(cache.default_path())


def _is_file(text: str) -> bool:
    from gnomon.metaeval import split_name

    return Path(split_name(text)[1]).is_file() or "/" in text
