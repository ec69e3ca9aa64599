"""Sets of wordings, as a command line and a study name them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.errors import UsageError
from gnomon.core.outline import target_of
from gnomon.data.formats import read_systems
from gnomon.linguistics import standard_parser
from gnomon.messages.audiences import Named, flag
from gnomon.paraphrase._wordings import (
    SYSTEMS,
    Wordings,
    cut,
    select_paraphrases,
    sets_of,
    tree_sets,
    wordings_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.testset import Paraphrase, TestSet

__all__ = ["read_sets", "wordings_of_study"]


def read_sets(inputs: Any, options: dict[str, Any]) -> tuple[dict[str, Wordings], TestSet | None]:
    """The sets of wordings that a command line names, and the references if there are some."""
    given = inputs.only()
    args = given.args
    if options.get("trees"):
        options["trees"] = cut(tree_sets(options["trees"]), args.first)
    if options.get("parse") and not args.test_set and not options.get("tagger"):
        options["tagger"] = _parser_of(args.language_pair and target_of(args.language_pair))
    files = args.paraphrases or ()
    if args.table or args.test_set or (args.refs and files):
        testset = given.original() if args.table or args.test_set else given.references()
        return sets_of(testset, select_paraphrases(given, files, testset.segments)), testset
    files = [*args.refs, *files]
    if not (files or args.input or options.get("trees")):
        raise UsageError(
            "nothing to compare: name files of paraphrases (ref.NAME1.txt ref.NAME2.txt, or ",
            flag("paraphrases", "FILE.jsonl"),
            "), a test set (-t DIR) or trees (",
            flag("trees", "FILE.ptb"),
            ")",
        )
    sets = wordings_of(select_paraphrases(given, files, None))
    if args.input:
        sets |= {SYSTEMS: list(zip(*read_systems(args.input).values(), strict=True))}
    return {name: groups[: args.first] for name, groups in sets.items()}, None


def _parser_of(language: str | None) -> str:
    """The standard parser of a language."""
    if not language:
        raise UsageError(
            "what parses must be known: give a language (",
            Named("-l en", "a test set with its language pair"),
            ") or a parser (",
            flag("tagger", "spacy:NAME", "'spacy:NAME'"),
            ")",
        )
    return standard_parser(language)


def wordings_of_study(
    *, original: TestSet, chosen: Sequence[Paraphrase], **_: object
) -> tuple[dict[str, Wordings], TestSet]:
    """The sets of wordings of a study, and its references."""
    return sets_of(original, chosen), original
