"""Codes of files of sentences, or of their trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.cache import Cache
from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    FILES,
    MODEL,
    SEED,
    Device,
    Flags,
    Group,
    Help,
    Metavar,
    OutputFile,
    Positive,
    Seed,
)
from gnomon.core.registry import method
from gnomon.core.validation import Problem
from gnomon.linguistics import TAGGER_NAME
from gnomon.messages.audiences import Words, flag, parameter
from gnomon.paraphrase.codes._fit import fit
from gnomon.paraphrase.codes._quality import CodedFileRow, CodeSizeRow, codes_verdict, quality
from gnomon.paraphrase.codes.clustering import KINDS, Kind, load, write_codes
from gnomon.paraphrase.codes.sentence_files import (
    Files,
    SentenceFile,
    read_sentence_files,
    text_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.paraphrase.codes.clustering import Codes

_TREES = Group("syntax trees")
_CODES = Group("codes")
Tagger: TypeAlias = Annotated[str | None, Metavar("NAME"), TAGGER_NAME, _TREES]
LanguageCode: TypeAlias = Annotated[
    str | None,
    Flags(("-l",)),
    Metavar("LANG"),
    _TREES,
    Help("the language whose standard parser is used."),
]
_EXAMPLES = """\
--save FOLDER gets the codes (codes.safetensors, codes.json), and NAME.codes.txt for each file: one
integer per line, and an empty line where a sentence has none (it is empty, or has no tree).

examples:
  gnomon paraphrase codes --texts train.en --kind semantic --model sentence-transformers/LaBSE \\
    --save codes
  gnomon paraphrase codes --texts train.en --kind syntactic -l en --k 64 --save codes
  gnomon paraphrase codes --texts test.en --codes-folder codes --html codes.html
"""


def check_codes(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.paraphrase.codes` that fit each alone."""
    texts, trees = options.texts or (), options.trees or ()
    if not texts and not trees:
        message: Words = (
            "no sentences: name files of one sentence per line (",
            flag("texts", "FILE"),
            "), or ",
            flag("trees", "FILE"),
        )
        yield Problem("texts", UsageError(message))
    if texts and trees and len(texts) != len(trees):
        message = f"{len(trees)} files of trees for {len(texts)} of texts; give one each"
        yield Problem("trees", UsageError(message))
    names = [text_name(path) for path in texts or trees]
    if options.save is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = f"two files would be written as {twice}.codes.txt; rename one"
        yield Problem("save", UsageError(message))
    if (options.codes_folder is None) is (options.kind is None):
        message = (
            "say which codes: some that are made (",
            flag("kind", "NAME", ""),
            "), or known ones (",
            flag("codes_folder", "FOLDER", ""),
            ")",
        )
        yield Problem("kind", UsageError(message))
    if options.kind == "semantic" and options.model is None:
        message = ("semantic codes need a sentence encoder (", flag("model", "NAME", "'NAME'"), ")")
        yield Problem("model", UsageError(message))
    if options.model is not None and options.kind not in (None, "semantic"):
        yield Problem(
            "model",
            UsageError(
                parameter("model"), f" goes with semantic codes, not with {options.kind} ones"
            ),
        )


@method(
    "paraphrase.codes",
    purpose="cluster sentences by meaning or structure, as codes for the paraphraser",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows={"codes": CodedFileRow, "sizes": CodeSizeRow},
    metrics="none",
    systems=False,
    check=check_codes,
    verdict=codes_verdict,
)
def codes(
    texts: Files | None = None,
    *,
    trees: Files | None = None,
    kind: Annotated[Kind | None, _CODES] = None,
    codes_folder: Annotated[str | PathLike[str] | None, FILES, Metavar("FOLDER"), _CODES] = None,
    k: Annotated[Positive, _CODES] = 256,
    model: Annotated[str | None, MODEL, Metavar("NAME"), _CODES] = None,
    seed: Annotated[Seed, _CODES] = SEED,
    device: Annotated[Device, _CODES] = None,
    tagger: Tagger = None,
    language: LanguageCode = None,
    save: Annotated[OutputFile, Metavar("FOLDER")] = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Codes of the sentences of files, and how good they are.

    Codes are made of all sentences, or read from a folder; :func:`gnomon.paraphrase.codes.fit` has
    the options of encoders, of k-means and of the autoencoder of trees.

    Args:
        texts: files with one sentence per line.
        trees: files of bracketed trees, parallel to the texts or in their place; by default texts
            are parsed.
        kind: codes by meaning ("semantic"), by structure ("syntactic") or by chance ("random").
        codes_folder: the folder of existing codes, to use in place of new ones.
        k: number of codes.
        model: the sentence encoder of semantic codes; with existing codes, its present place.
        tagger: the parser of syntactic codes: spacy:NAME or stanza:LANGUAGE.
        save: a folder for the codes, and for the codes of every file.

    Returns:
        A finding as of :func:`gnomon.paraphrase.codes.quality`.

    Raises:
        DataError: files that belong together are not parallel; the model is another one.
        MissingDependencyError: scikit-learn, the model or the parser is not installed.
        UsageError: fewer different sentences than codes, or options that do not go together.
    """
    files = read_sentence_files(texts, trees)
    if codes_folder is not None:
        made = load(codes_folder, model=model, parser=tagger, device=device)
    else:
        made = fit(
            [text for file in files for text in file.texts],
            encoder=f"semantic:{model}" if kind == "semantic" else kind or KINDS[0],
            k=k,
            seed=seed,
            device=device,
            trees=[tree for file in files for tree in file.trees or ()] if trees else None,
            parser=tagger,
            language=language,
            cache=cache,
            progress=progress,
        )
    return _write_codes(made, files, save, cache, progress, new=codes_folder is None)


def _write_codes(
    made: Codes,
    files: Sequence[SentenceFile],
    save: str | PathLike[str] | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
    *,
    new: bool,
) -> Finding:
    """Give all sentences their codes, and write them where that is wanted."""
    placed = {
        file.name: made.place(file.texts, trees=file.trees, cache=cache, progress=progress)
        for file in files
    }
    if save is not None:
        folder = Path(save)
        if new:
            made.save(folder)
        elif not folder.is_dir():
            raise UsageError(f"there is no folder {folder} for the codes of files; make it first")
        for name, sentences in placed.items():
            write_codes(folder / f"{name}.codes.txt", sentences.codes.tolist())
    return quality(made, placed, texts={file.name: file.shown for file in files})
