"""What is wrong with a request, before anything is scored or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate import parser_faults
from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.faults import Fault, faults
from gnomon.metrics.tokenise import check_tokeniser
from gnomon.paraphrase._grams import check_longest
from gnomon.paraphrase._lexical import LEXICAL
from gnomon.paraphrase._syntactic import LONE
from gnomon.paraphrase._tree_kernel import check_decay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.outline import Outline

__all__ = ["MEASURES", "check_coverage", "check_diversity"]

MEASURES = (*LEXICAL, "syntactic")


def check_diversity(
    outline: Outline | None,  # noqa: ARG001  # as of all checks; nothing depends on it
    *,
    measures: Sequence[str] = MEASURES,
    parser: str | None = None,
    language: str | None = None,
    tokenizer: str = "13a",
    decay: float = 0.4,
    lone: str = "zero",
) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.diversity` refuses; arguments are as there."""
    if not measures:
        said = f"no measure is asked for; name some of {', '.join(MEASURES)}"
        yield Fault("measures", UsageError(said))
    for number, measure in enumerate(measures):
        if measure not in MEASURES:
            error = UnknownNameError("measure of diversity", measure, MEASURES)
            yield Fault(f"measures[{number}]", error)
    if lone not in LONE:
        yield Fault("lone", UnknownNameError("way to count a lone tree", lone, LONE))
    yield from _tokeniser(tokenizer)
    yield from faults("decay", check_decay, decay)
    if "syntactic" in measures:
        yield from parser_faults(parser=parser, language=language)


def check_coverage(
    outline: Outline | None, *, longest: int = 4, most: int = 20, tokenizer: str = "13a"
) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.coverage` refuses; arguments are as there."""
    yield from faults("longest", check_longest, longest)
    if most < 0:
        yield Fault("most", UsageError(f"n-grams to list are 0 or more; got {most}"))
    yield from _tokeniser(tokenizer)
    if outline is not None and not outline.systems:
        said = "coverage is of the outputs of systems, and the test set has none"
        yield Fault("", DataError(said))


def _tokeniser(name: str) -> Iterator[Fault]:
    yield from faults("tokenizer", check_tokeniser, name)
