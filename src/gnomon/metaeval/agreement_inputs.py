"""Inputs of meta-evaluation on a command line and in a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.agreement.files import textless
from gnomon.core.errors import UsageError
from gnomon.data.formats import human_files
from gnomon.messages.audiences import Named, flag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.testset import Paraphrase, TestSet

__all__ = ["read_test_sets", "sets_of_study"]


def read_test_sets(inputs: Any, options: Mapping[str, Any]) -> tuple[Sequence[Any], ...]:
    """The test sets of a command line, and their paraphrases; or test sets that files make."""
    args = inputs.args
    if not inputs.has_testset:
        files, _ = human_files(options.get("human", ()))
        scores = options.get("scores", ())
        return (textless(files, scores, language_pair=args.language_pair),)
    if args.no_original:
        raise UsageError(
            "metrics are judged with paraphrases beside the original references; leave out ",
            Named("--no-original", "original=False"),
        )
    files = args.paraphrases
    if files and len(args.test_set or ()) > 1 and not all("{pair}" in name for name in files):
        raise UsageError(
            "-t names several test sets, and each has its own paraphrases: write {pair} where"
            " file names differ, as in ",
            flag("paraphrases", "'{pair}.beam.jsonl'"),
        )
    if not files:
        return (inputs.testsets(),)
    sets = inputs.originals()
    pairs = [testset.language_pair or testset.name for testset in sets]
    return sets, [[name.replace("{pair}", pair) for name in files] for pair in pairs]


def sets_of_study(
    *, original: TestSet, paraphrases: Sequence[Paraphrase], **_: object
) -> tuple[TestSet, Sequence[Paraphrase]]:
    """The test set of a study without its paraphrases, and these."""
    return original, paraphrases
