"""What is wrong with a request, before anything is scored or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate import parser_faults, standard_parser
from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.faults import Fault, faults
from gnomon.metrics.registry import check_metric
from gnomon.paraphrase.gains._agreement import check_kinds, kinds_of
from gnomon.stats.significance import fewest_draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.outline import Outline

__all__ = ["check_gain", "parsed_language"]

_OVER = ("segments", "systems")


def check_gain(
    outline: Outline | None,
    metrics: Sequence[str] = ("bleu",),
    *,
    n: Sequence[int] = (1, 5, 20),
    methods: Sequence[str] | None = None,
    human: Sequence[str] = (),
    adequacy: str | None = "chrf",
    parse: bool = False,
    parser: str | None = None,
    language: str | None = None,
    over: str = "segments",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.gain` refuses on one test set; arguments are as there.

    The outline says what the test set holds; without, that is not known yet.
    """
    yield from _drawn(over, resamples, confidence, seed)
    if not n or min(n) < 1:
        yield Fault(
            "n", UsageError(f"numbers of paraphrases are at least 1; got {min(n, default='none')}")
        )
    for number, metric in enumerate(metrics):
        yield from faults(
            f"metrics[{number}]", check_metric, metric, outline, allow_code=allow_code
        )
    if adequacy is not None:
        yield from faults("adequacy", check_metric, adequacy, outline, allow_code=allow_code)
    yield from parser_faults(parser=parser, language=language)
    if outline is not None:
        yield from _of_set(outline, methods, human)
        if parse and not parser and not language:
            wrong = list(faults("parse", parsed_language, outline))
            yield from wrong or faults("parse", standard_parser, outline.target_language or "")


def _of_set(
    outline: Outline, methods: Sequence[str] | None, human: Sequence[str]
) -> Iterator[Fault]:
    """Names that the test set does not have."""
    for number, method in enumerate(methods or ()):
        if outline.paraphrases and method not in outline.paraphrases:
            error = UnknownNameError("method of paraphrases", method, outline.paraphrases)
            yield Fault(f"methods[{number}]", error)
    wrong = list(faults("human", check_kinds, [outline], human))
    yield from wrong or faults("human", kinds_of, outline, human)


def _drawn(over: str, resamples: int, confidence: float, seed: int) -> Iterator[Fault]:
    if over not in _OVER:
        yield Fault("over", UnknownNameError("unit to resample", over, _OVER))
    if resamples < 0:
        yield Fault("resamples", UsageError(f"resamples are 0 or more; got {resamples}"))
    if not 0 < confidence < 1:
        said = f"a confidence lies between 0 and 1; got {confidence}"
        yield Fault("confidence", UsageError(said))
    elif 0 < resamples < fewest_draws(confidence):
        said = f"a confidence of {confidence} needs {fewest_draws(confidence)} resamples or more"
        yield Fault("resamples", UsageError(f"{said}, or 0 for none; got {resamples}"))
    if seed < 0:
        yield Fault("seed", UsageError(f"a seed is a whole number, 0 or more; got {seed}"))


def parsed_language(outline: Outline) -> str:
    """The language whose standard pipeline parses a test set.

    Raises:
        DataError: it is not known.
    """
    if outline.target_language is None:
        raise DataError(
            f"nothing says which language {outline.name!r} is in, and so what parses it: give a"
            " language (-l en) or a parser (--tagger spacy:NAME)"
        )
    return outline.target_language
