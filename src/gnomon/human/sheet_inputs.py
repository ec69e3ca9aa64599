"""Inputs of a sheet on a command line, and checks of them."""

from __future__ import annotations

from dataclasses import replace
from os import fspath
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.core.validation import Problem
from gnomon.data.formats import check_excel, read_paraphrases
from gnomon.messages.audiences import Words, flag, parameter
from gnomon.messages.grammar import counted
from gnomon.muler.contrasting import contrast_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet

__all__ = ["check_sheet", "sheet_inputs"]


def check_sheet(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.human.sheet` that fit each alone."""
    writes = options.save is not None or options.form is not None
    if writes is bool(options.read):
        message: Words = (
            "either write a sheet (",
            flag("save", "FILE.tsv"),
            ", ",
            flag("form", "FILE.html"),
            ") or read some (",
            flag("read"),
            ")",
        )
        yield Problem("save", UsageError(message))
    yield from _check_files(options)
    if not writes:
        return
    if options.scalar and options.origin == "muler":
        message = (
            "pairs that MuLER tells apart are compared, and not scored; leave ",
            parameter("scalar"),
            " out",
        )
        yield Problem("scalar", UsageError(message))
    if options.origin == "muler":
        yield from contrast_faults(outline, options)
    if outline is None or options.origin == "paraphrases":
        return
    least = 1 if options.scalar and options.origin == "outputs" else 2
    if len(outline.systems) < least:
        message = (
            f"a sheet takes {counted(least, 'system')} at least; test set {outline.name!r} has"
            f" {len(outline.systems)}: name more with -i, or choose another test set"
        )
        yield Problem("", DataError(message))


def _check_files(options: BoundOptions) -> Iterator[Problem]:
    for name, suffixes in (("save", (".tsv", ".xlsx")), ("form", (".html",))):
        path = getattr(options, name)
        if path is not None and not fspath(path).endswith(suffixes):
            wrong = f" must be a file name in {' or '.join(suffixes)}; got {fspath(path)}"
            yield Problem(name, UsageError(parameter(name), wrong))
    workbooks = [options.save, *options.read]
    if any(path is not None and fspath(path).endswith(".xlsx") for path in workbooks):
        try:
            check_excel()
        except MissingDependencyError as error:
            yield Problem("save" if options.save else "read", error)


def sheet_inputs(inputs: Any, options: Mapping[str, Any]) -> tuple[TestSet | None]:
    """The test set that is drawn from; none where answers are read."""
    if options.get("read"):
        if inputs.has_testset:
            raise UsageError(
                parameter("read"), " takes answers and the key alone; leave the test set out"
            )
        return (None,)
    given = inputs.only()
    if options.get("origin") != "paraphrases":
        return (given.testset(),)
    testset, args = given.references(), given.args
    if testset.systems or not args.paraphrases:
        return (given.paraphrased(testset),)
    # of files, references are enough: people judge a paraphrase, whichever output it is made for
    made = read_paraphrases(args.paraphrases, segments=testset.segments)
    shared = dict.fromkeys(replace(one, system=None, score=None) for one in made)
    wide = testset.with_paraphrases(
        list(shared), n=args.n, methods=args.methods, original=not args.no_original
    )
    return (wide,)
