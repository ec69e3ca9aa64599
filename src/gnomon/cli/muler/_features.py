"""The options of every command that annotates features, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gnomon.annotate import Labels
    from gnomon.cache import Cache

__all__ = ["Features", "add_features", "annotation_cache", "examples", "features"]


@dataclass(frozen=True)
class Features:
    """What to annotate.

    Attributes:
        names: features, wildcards allowed.
        lexicons: word lists by name, as paths.
        patterns: regular expressions by name.
        labels: the user's own labels.
    """

    names: list[str]
    lexicons: dict[str, str]
    patterns: dict[str, str]
    labels: Labels | None


def add_features(parser: argparse.ArgumentParser) -> None:
    """The options that say what is annotated, and by whom."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--features",
        nargs="+",
        metavar="FEATURE",
        help="pos:NOUN ent:PERSON morph:Gender=Fem dep:nsubj 'dep:long>=5' lex:NAME re:NAME;"
        " wildcards 'pos:*' (default: 'pos:*' 'ent:*', and the lists and patterns given)",
    )
    group.add_argument("--tagger", metavar="NAME", help="spacy:NAME (default: one for -l)")
    group.add_argument(
        "--lexicon", action="append", default=[], metavar="NAME=FILE", help="a word list"
    )
    group.add_argument(
        "--pattern", action="append", default=[], metavar="NAME=REGEX", help="a regular expression"
    )
    group.add_argument(
        "--labels", nargs="+", default=[], metavar="FILE", help="your labels: .conllu or .jsonl"
    )
    group.add_argument("--no-cache", action="store_true", help="neither use nor keep annotations")


def features(args: argparse.Namespace) -> Features:
    """What the options ask for, checked before anything is read."""
    lexicons, patterns = _pairs(args.lexicon, "--lexicon"), _pairs(args.pattern, "--pattern")
    labels = _labels(args.labels)
    return Features(args.features or _default_features(args, labels), lexicons, patterns, labels)


def _pairs(items: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            what = "FILE" if option == "--lexicon" else "REGEX"
            raise UsageError(f"{option} takes NAME={what}; got {item!r}")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice")
        found[name] = value
    return found


def _default_features(args: argparse.Namespace, labels: Labels | None) -> list[str]:
    """What was given of one's own; parts of speech and entities where a tagger can be had."""
    own = ["lex:*"] * bool(args.lexicon) + ["re:*"] * bool(args.pattern)
    own += [f"{kind}:*" for kind in sorted(labels.kinds)] if labels else []
    if args.tagger and not args.tagger.startswith("spacy:"):
        from gnomon.annotate import describe

        return [*(f"{kind}:*" for kind in describe(args.tagger)), *own]
    if own and not (args.tagger or args.language_pair):
        return own
    return list(dict.fromkeys(["pos:*", "ent:*", *own]))


def _labels(paths: Sequence[str]) -> Labels | None:
    if not paths:
        return None
    from gnomon.annotate import Labels

    return Labels.read(paths)


def annotation_cache(args: argparse.Namespace) -> Cache | None:
    """Where annotations are kept; none with ``--no-cache``."""
    if args.no_cache:
        return None
    from gnomon import cache

    return cache.Cache(cache.default_path())


def examples(args: argparse.Namespace, *, wanted: bool) -> int:
    """Segments to gather: none where nothing shows them; what is no number of them is refused.

    Raises:
        UsageError: the number is negative.
    """
    if args.examples < 0:
        raise UsageError(f"--examples is a number of segments, 0 or more; got {args.examples}")
    return int(args.examples) if wanted else 0
