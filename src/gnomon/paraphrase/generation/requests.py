"""Requests to a generator of paraphrases, and to the model that it may ask."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from gnomon.core.errors import SpecError, UsageError
from gnomon.core.options import MODEL, Device, Positive, Reaches, check_fields, fields_of, misfits
from gnomon.messages.audiences import flag
from gnomon.metrics.spec import Options
from gnomon.models import Precision  # noqa: TC001  # its choices are read from the field
from gnomon.paraphrase.adequacy import filtered

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Sequence
    from os import PathLike

    from gnomon.core.cache import Cache
    from gnomon.core.testset import Paraphrase, TestSet
    from gnomon.models import Seq2Seq

__all__ = [
    "ABOVE_0",
    "FILTER",
    "GenerationRequest",
    "GeneratorOptions",
    "bare_segments",
    "keep_fitting",
]


#: the least number above 0
ABOVE_0 = sys.float_info.min
FILTER = Reaches(of_text="gnomon.metrics.registry:reaches_of_spec")


@dataclass(frozen=True, kw_only=True)
class GenerationRequest:
    """A request to any generator, beside its own options.

    Attributes:
        n: number of paraphrases for each segment (for each constraint or system, where the method
            says so); by default 5 by a model, unless the method says 1.
        model: an encoder-decoder that paraphrases: a folder or a name (see
            :func:`gnomon.models.load_seq2seq`), in Python also a loaded model.
        precision: of its weights.
        keep_copies: keep copies of a reference.
        keep_duplicates: keep repetitions within a segment.
        filter: a metric that scores paraphrases against the references, to drop the worst.
        least: the lowest score of the filter that is kept (for an error rate the highest).
        allow_code: let a spec ``python('module:function')`` run code.
        cache: where trees of outputs are kept between runs, for output-codes.
        progress: called with a stage, what is done, and the total.

    Raises:
        UsageError: a value is out of its range, or a filter lacks half of what it needs.
    """

    n: Positive | None = None
    model: Annotated[str | PathLike[str] | Seq2Seq | None, MODEL] = None
    device: Device = None
    precision: Precision = "fp32"
    keep_copies: bool = False
    keep_duplicates: bool = False
    filter: Annotated[str | None, FILTER] = None
    least: float | None = None
    allow_code: bool = False
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_fields(self)
        if (self.filter is None) is not (self.least is None):
            raise UsageError(
                "a filter needs both a metric and the least score that it lets through (",
                flag("filter", "METRIC --least X", "'METRIC', least=X"),
                ")",
            )

    def settings(self) -> dict[str, object]:
        """Which paraphrases stay, as far as results depend on it."""
        kept = {"keep_copies": self.keep_copies, "keep_duplicates": self.keep_duplicates}
        return {**kept, "metric": self.filter, "least": self.least}


@dataclass(frozen=True)
class GeneratorOptions(Options):
    """Base of the built-in generators: their fields are the options of their spec.

    Attributes:
        reads_outputs: it reads what systems said.
        takes: what it reads of a request: "n", "model", "device", "precision".

    Raises:
        SpecError: a value is of another type, or out of its limits.
    """

    reads_outputs: ClassVar[bool] = False
    takes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Refuse values that do not fit."""
        super().__post_init__()
        for name, option in fields_of(type(self)).items():
            for wrong in misfits(option, getattr(self, name)) if name != self.positional else ():
                raise SpecError(f"{self.name}: {name} must be {wrong.must}; got {wrong.given!r}")


def bare_segments(testset: TestSet, part: range) -> int:
    """Number of some segments (from 0) that have no reference."""
    columns = testset.references.values()
    return sum(not any((column[i] or "").strip() for column in columns) for i in part)


def keep_fitting(
    testset: TestSet,
    made: Sequence[tuple[list[Paraphrase], Paraphrase]],
    request: GenerationRequest,
    counts: Counter[str],
) -> None:
    """Add each paraphrase that passes the filters to the list beside it; count the others."""
    fitting = filtered(
        testset,
        [paraphrase for _, paraphrase in made],
        copies=not request.keep_copies,
        duplicates=False,
        metric=request.filter,
        least=request.least,
        allow_code=request.allow_code,
    )
    for name in ("empty", "copies", "inadequate"):
        counts[name] += getattr(fitting, name)
    left = {id(paraphrase) for paraphrase in fitting.kept}
    for kept, paraphrase in made:
        if id(paraphrase) in left:
            kept.append(paraphrase)
