"""A paraphraser, trained on pairs of sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import Device, InputFile, Metavar, Outcome, expand_fields, fields_of
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.validation import Problem, problems
from gnomon.paraphrase.codes import facts
from gnomon.paraphrase.training.fitting import fit
from gnomon.paraphrase.training.recipe import Recipe
from gnomon.paraphrase.training.training_pairs import Filters, SentencePair, read_pairs, select
from gnomon.paraphrase.training.verdict import DroppedPairsRow, Trained, train_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

__all__ = ["check_train", "train"]


_EXAMPLES = """\
A line of a file is: source TAB target. The best model so far is in the folder from the first
validation on. Ctrl-C is safe: --resume goes on from the last checkpoint, and ends in the same
weights. The file of codes lies in the folder that 'gnomon paraphrase codes' made; pairs without a
code are dropped.

examples:
  gnomon paraphrase train --write-recipe recipe.toml
  gnomon paraphrase train recipe.toml --pairs pairs.tsv --save paraphraser
  gnomon paraphrase train --pairs pairs.tsv --save paraphraser --resume
  gnomon paraphrase train --pairs pairs.tsv --codes codes/pairs.codes.txt --save coded
"""


def check_train(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.paraphrase.train` that fit each alone."""
    yield from problems("", options.build, Recipe)
    yield from problems("", options.build, Filters)
    if options.codes is not None and any(isinstance(pair, SentencePair) for pair in options.pairs):
        yield Problem("codes", UsageError("codes belong to files; give pairs theirs"))
    if options.codes is not None:
        yield from problems("codes", facts, Path(options.codes).parent)


@method(
    "paraphrase.train",
    purpose="train a model that paraphrases",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows={"training": Trained, "filters": DroppedPairsRow},
    metrics="none",
    systems=False,
    kept="the last checkpoint is kept; the same command with --resume goes on from there",
    recipe=(*fields_of(Filters), *fields_of(Recipe)),
    check=check_train,
    verdict=train_verdict,
)
@expand_fields(filters=Filters, recipe=Recipe)
def train(
    pairs: Annotated[
        Sequence[str | PathLike[str]] | Sequence[SentencePair], InputFile(), Metavar("TSV")
    ],
    *,
    save: Annotated[str | PathLike[str], Outcome(), Metavar("FOLDER")],
    resume: bool = False,
    device: Device = None,
    codes: Annotated[str | PathLike[str] | None, InputFile(), Metavar("FILE")] = None,
    filters: Filters,
    recipe: Recipe,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Read pairs of sentences, filter them, and train a model that paraphrases.

    See :func:`gnomon.paraphrase.training.fit` for what is in the folder, and for several devices.

    Args:
        pairs: files of sentence pairs; in Python also pairs.
        save: a folder for the model.
        resume: go on with the run in the folder.
        device: cpu or cuda; by default a GPU if there is one.
        codes: a file with one code per pair, in the folder of the codes (:func:`codes`), which says
            their kind, number and identity; in Python pairs may have codes of their own (see
            :func:`gnomon.paraphrase.training.fit`).
        filters: which pairs are dropped.
        recipe: how the model is built and trained.

    Returns:
        A finding with a row :class:`Trained`, and a table of what each filter dropped.

    Raises:
        DataError, FormatError, MissingDependencyError, OutputError, UsageError: as
            :func:`gnomon.paraphrase.training.fit`.
    """
    files = [pair for pair in pairs if not isinstance(pair, SentencePair)]
    given = [pair for pair in pairs if isinstance(pair, SentencePair)]
    given = given or read_pairs(files, codes=codes)
    of_codes = None if codes is None else facts(Path(codes).parent)
    kept, dropped = select(given, filters)
    row = fit(
        kept,
        save,
        recipe=recipe,
        codes=of_codes,
        device=device,
        resume=resume,
        progress=progress,
    )
    title = f"The paraphraser in {row.folder}"
    losses = [DroppedPairsRow(filter=reason, dropped=count) for reason, count in dropped.items()]
    return Finding(
        method="paraphrase train",
        title=title,
        tables=(
            table("training", title, Trained, [row]),
            table("filters", "Pairs that filters dropped", DroppedPairsRow, losses),
        ),
        signatures={},
        views=(
            Listing("training", title, column_names(Trained)),
            Listing("filters", "Pairs that filters dropped", ("filter", "dropped")),
        ),
    )
