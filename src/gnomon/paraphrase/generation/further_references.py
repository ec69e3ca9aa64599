"""Further references: a generator named by a spec, and the file of its results."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import MODEL, Device, Metavar, Outcome, Positive, Reaches
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.messages.audiences import Words, flag, parameter
from gnomon.metrics.registry import check_metric
from gnomon.models import Seq2Seq
from gnomon.paraphrase.generation._saving import save_generated
from gnomon.paraphrase.generation.generators import Generator, describe_generators, find_generator
from gnomon.paraphrase.generation.requests import FILTER, GenerationRequest
from gnomon.paraphrase.generation.verdict import GeneratedRow, generate_verdict

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

__all__ = ["generate"]


_REACHES = Reaches(of_text="gnomon.paraphrase.generation.generators:reaches_of_generator")


_METHODS = "\n".join(
    f"  {one.name:<17} {one.summary[0].lower()}{one.summary[1:].rstrip('.')}"
    for one in describe_generators()
)
_EXAMPLES = f"""\
methods, with options as in 'sampled(top_p=.9)' ('gnomon list generators' shows all of them):
{_METHODS}

examples:
  gnomon paraphrase generate -t wmt19/de-en --method pseudo --n 3 --save pseudo.jsonl
  gnomon paraphrase generate ref.txt --method 'sampled(top_p=.9)' --model FOLDER --save s.jsonl
  gnomon paraphrase generate -t wmt19/de-en --method constrained --model FOLDER --save c.jsonl
  gnomon paraphrase generate ref.txt -l en --method "llm(model='NAME', n=3)" --save l.jsonl
"""


def check_generate(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.paraphrase.generate` that fit each alone."""
    wrong = list(problems("method", find_generator, options.method))
    yield from wrong
    if not wrong:
        generator = find_generator(options.method)
        for name in ("n", "model", "device"):
            if name not in generator.takes and getattr(options, name) is not None:
                reads = ", ".join(generator.takes) or "none of these"
                other = f" goes with other methods; {generator.name} takes: {reads}"
                yield Problem(name, UsageError(parameter(name), other))
        if options.model is None and "model" in generator.takes:
            message: Words = (
                f"the method {generator.name} needs a model (",
                flag("model", "FOLDER", "'FOLDER'"),
                ")",
            )
            yield Problem("model", UsageError(message))
        if outline is not None and generator.reads_outputs and not outline.systems:
            message = (
                f"the method {generator.name} reads the outputs of systems, and the test set has"
                " none"
            )
            yield Problem("method", DataError(message))
    if not os.fspath(options.save).endswith((".jsonl", ".ndjson")):
        yield Problem(
            "save",
            UsageError(parameter("save"), f" must be a file name in .jsonl; got {options.save}"),
        )
    metric = options.filter
    yield from problems("filter", GenerationRequest, filter=metric, least=options.least)
    if metric is not None:
        yield from problems("filter", check_metric, metric, outline, allow_code=options.allow_code)


def _references_or_outputs(inputs: Any, options: dict[str, Any]) -> tuple[TestSet]:
    """The test set that a command line names; references alone, where these are enough."""
    given = inputs.only()
    generator = find_generator(options["method"])
    if generator.reads_outputs and not (
        given.args.test_set or given.args.table or given.args.input
    ):
        other = (
            "; or name the phrases: constrained('wanted.jsonl'), constrained(variants='list.txt')"
        )
        raise UsageError(
            f"the method {generator.name} reads the outputs of systems: give them with -i FILE ..."
            f" or a test set (-t DIR){other if generator.name == 'constrained' else ''}"
        )
    return (given.original() if generator.reads_outputs else given.references(),)


@method(
    "paraphrase.generate",
    purpose="generate paraphrased references",
    given=_references_or_outputs,
    unread=("sources", "documents", "domains", "paraphrases"),
    examples=_EXAMPLES,
    rows={"made": GeneratedRow},
    metrics="none",
    systems=False,
    kept="finished paraphrases are kept; the same command with --resume makes the others",
    check=check_generate,
    verdict=generate_verdict,
)
def generate(
    testset: TestSet,
    method: Annotated[str | Generator, Metavar("METHOD"), _REACHES],
    *,
    save: Annotated[str | PathLike[str], Outcome(), Metavar("FILE")],
    n: Positive | None = None,
    model: Annotated[str | PathLike[str] | Seq2Seq | None, MODEL, Metavar("MODEL")] = None,
    device: Device = None,
    filter: Annotated[str | None, FILTER, Metavar("METRIC")] = None,  # noqa: A002  # what it does
    least: Annotated[float | None, Metavar("X")] = None,
    resume: bool = False,
    batch: Positive | None = None,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Paraphrases of references, written into a file that grows batch by batch.

    :func:`plan` says what is made of which references, and has the options that few need;
    :func:`save_generated` says how the file grows: an interruption loses one batch.

    Args:
        testset: references; outputs, for methods that read them.
        method: the method of generation: beam, 'sampled(top_p=.9)', "variants('list.txt')" and so
            on.
        save: the file for the paraphrases, .jsonl.
        n: number of paraphrases for each segment (for each constraint or system, where the method
            says so); by default 5 by a model, unless the method says 1.
        model: an encoder-decoder that paraphrases: a folder or a name (see
            :func:`gnomon.models.load_seq2seq`), in Python also a loaded model.
        filter: a metric that scores paraphrases against the references, to drop the worst.
        least: the lowest score of the filter that is kept (for an error rate the highest).
        resume: keep the paraphrases in the file, and generate the missing ones.
        batch: segments in one batch; by default 32 with a model, 500 without.

    Returns:
        A finding with a row of counts; the paraphrases are in the file.

    Raises:
        MissingDependencyError: torch, transformers or a model is not installed.
        DataError: a folder holds no encoder-decoder model; codes or constraints do not fit; the
            file was changed since.
        UsageError: the method cannot do what is asked; the file was made with other settings, or
            holds what an interrupted run made and ``resume`` is not given.
    """
    request = GenerationRequest(
        n=n,
        model=model,
        device=device,
        filter=filter,
        least=least,
        allow_code=allow_code,
        cache=cache,
        progress=progress,
    )
    work = find_generator(method).plan(testset, request)
    counts = save_generated(save, work, resume=resume, batch=batch, progress=progress)
    title = f"Paraphrases in {os.fspath(save)}"
    columns = column_names(GeneratedRow)
    shown = (*columns[:3], *(name for name in columns[3:] if counts[name]))
    return Finding(
        method="paraphrase generate",
        title=title,
        tables=(table("made", title, GeneratedRow, [_row(work.method, counts)]),),
        signatures={},
        views=(Listing("made", title, shown),),
        notices=work.notices(counts),
    )


def _row(method: str, counts: Counter[str]) -> GeneratedRow:
    """Counts as a row; what nobody counted is missing."""
    return GeneratedRow(
        method=method,
        paraphrases=counts["paraphrases"],
        segments=counts["segments"],
        bare=counts["bare"],
        short=counts.get("short"),
        unreachable=counts.get("unreachable"),
        empty=counts["empty"],
        copies=counts["copies"],
        duplicates=counts["duplicates"],
        inadequate=counts["inadequate"],
    )
