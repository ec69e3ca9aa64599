"""Codes of files: of sentences, of what they paraphrase, and of trees of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    FILES,
    MODEL,
    SEED,
    Device,
    Flags,
    Group,
    Help,
    InputFile,
    Metavar,
    OutputFile,
    Positive,
    Seed,
)
from gnomon.core.registry import method
from gnomon.core.validation import Problem
from gnomon.linguistics import TAGGER_NAME
from gnomon.methods.paraphrase.codes._codes import KINDS, Kind, load, write_codes
from gnomon.methods.paraphrase.codes._fit import fit
from gnomon.methods.paraphrase.codes._quality import (
    CODES_CLAIMS,
    CodedFileRow,
    CodeSizeRow,
    codes_verdict,
    quality,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.data.formats import Tree
    from gnomon.methods.paraphrase.codes._codes import Codes

_TREES = Group("syntax trees")
_CODES = Group("codes")
Files: TypeAlias = Annotated[
    Sequence[str | PathLike[str]], InputFile(), Metavar("FILE"), Group("data")
]
Tagger: TypeAlias = Annotated[str | None, Metavar("NAME"), TAGGER_NAME, _TREES]
LanguageCode: TypeAlias = Annotated[
    str | None, Flags(("-l",)), Metavar("LANG"), _TREES, Help("whose standard parser is taken.")
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


@dataclass(frozen=True)
class SentenceFile:
    """A file of sentences, or of trees alone."""

    name: str
    texts: Sequence[str]
    sources: Sequence[str] | None = None
    trees: Sequence[Tree | None] | None = None
    source_trees: Sequence[Tree | None] | None = None

    @property
    def paraphrases(self) -> bool:
        """Whether it is known what the sentences paraphrase."""
        return self.sources is not None or self.source_trees is not None

    @property
    def shown(self) -> Sequence[str]:
        """The sentences, or the words of their trees."""
        if self.texts or self.trees is None:
            return self.texts
        return ["" if tree is None else " ".join(tree.words) for tree in self.trees]


def text_name(path: str | PathLike[str]) -> str:
    """The name of a file without what says how it is written.

    >>> text_name("trees/ref.A.ptb.gz")
    'ref.A'
    """
    name = Path(path).name.removesuffix(".gz")
    for ending in (".txt", ".ptb", ".mrg", ".tsv"):
        name = name.removesuffix(ending)
    return name


def read_sentence_files(
    texts: Files | None,
    trees: Files | None,
    *,
    sources: Files | None = None,
    source_trees: Files | None = None,
) -> list[SentenceFile]:
    """Read the files that were named."""
    from gnomon.data.formats import read_lines, read_trees

    files = []
    for number, path in enumerate(texts or trees or ()):
        lines = read_lines(path) if texts else []
        others: dict[str, Sequence[str] | Sequence[Tree | None] | None] = {
            "sources": read_lines(sources[number]) if sources else None,
            "trees": read_trees(trees[number]).trees if trees else None,
            "source trees": read_trees(source_trees[number]).trees if source_trees else None,
        }
        size = len(lines if texts else others["trees"] or ())
        for what, other in others.items():
            if other is not None and len(other) != size:
                raise DataError(
                    f"{path} has {size} lines, and its {what} have {len(other)}; they must be"
                    " parallel"
                )
        files.append(SentenceFile(text_name(path) or "stdin", lines, *others.values()))  # type: ignore[arg-type]  # in this order
    return files


def file_problems(
    texts: Files | None, others: dict[str, Files | None], trees: Files | None
) -> Iterator[Problem]:
    """Files that are not one for one, or none at all."""
    if not texts and not trees:
        message = (
            "no sentences: name files of one sentence per line (--texts FILE), or --trees FILE"
        )
        yield Problem("texts", UsageError(message))
        return
    count, what = (len(texts), "texts") if texts else (len(trees or ()), "trees")
    for name, files in {"trees": trees, **others}.items():
        if files and len(files) != count:
            message = f"{len(files)} files of {name} for {count} of {what}; give one each"
            yield Problem(name, UsageError(message))


def check_codes(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.codes` refuses of options that fit each alone."""
    yield from file_problems(
        options.texts,
        {"sources": options.sources, "source_trees": options.source_trees},
        options.trees,
    )
    names = [text_name(path) for path in options.texts or options.trees or ()]
    if options.save is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = f"two files would be written as {twice}.codes.txt; rename one"
        yield Problem("save", UsageError(message))
    if options.sources and not options.texts:
        message = (
            "the sentences are trees alone: give the trees of what they paraphrase (--source-trees"
            " FILE; source_trees=) in place of sources"
        )
        yield Problem("sources", UsageError(message))
    if (options.codes_folder is None) is (options.kind is None):
        message = (
            "say which codes: some that are made (--kind NAME; kind=), or known ones"
            " (--codes-folder FOLDER; codes_folder=)"
        )
        yield Problem("kind", UsageError(message))
    if options.kind == "semantic" and options.model is None:
        message = "semantic codes need a sentence encoder (--model NAME; model='NAME')"
        yield Problem("model", UsageError(message))
    if options.model is not None and options.kind not in (None, "semantic"):
        yield Problem(
            "model", UsageError(f"model goes with semantic codes, not with {options.kind} ones")
        )
    if options.source_trees and options.kind not in (None, "syntactic"):
        message = f"{options.kind} codes read no trees; leave source_trees out"
        yield Problem("source_trees", UsageError(message))
    if (
        options.kind == "syntactic"
        and options.trees
        and options.tagger is None
        and options.sources
        and not options.source_trees
    ):
        yield Problem("source_trees", _source_trees_needed())


def _source_trees_needed() -> UsageError:
    return UsageError(
        "the codes are of trees that are given, and the sources have none: give theirs"
        " (--source-trees FILE; source_trees=), or name the parser that made the trees (--tagger"
        " NAME; tagger=)"
    )


@method(
    "paraphrase.codes",
    answers="which cluster of meanings or structures a sentence is in",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows={"codes": CodedFileRow, "sizes": CodeSizeRow},
    metrics="none",
    systems=False,
    check=check_codes,
    verdict=codes_verdict,
    claims=CODES_CLAIMS,
)
def codes(
    texts: Files | None = None,
    *,
    sources: Files | None = None,
    trees: Files | None = None,
    source_trees: Files | None = None,
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
        texts: files of one sentence per line.
        sources: what the sentences paraphrase, files parallel to the texts: how much codes tell of
            theirs.
        trees: bracketed trees, parallel to the texts, or without any; by default texts are parsed.
        source_trees: likewise, parallel to the sources.
        kind: codes by meaning, by structure, or by chance.
        codes_folder: codes that were made before, in the place of new ones.
        k: how many codes.
        model: sentence encoder of semantic codes; where it lies now, of codes made before.
        tagger: the parser of syntactic codes: spacy:NAME or stanza:LANGUAGE.
        save: a folder for the codes, and for those of every file.

    Returns:
        A finding as of :func:`gnomon.paraphrase.codes.quality`.

    Raises:
        DataError: files that belong together are not parallel; the model is another one.
        MissingDependencyError: scikit-learn, the model or the parser is not installed.
        UsageError: fewer different sentences than codes, or options that do not go together.
    """
    files = read_sentence_files(texts, trees, sources=sources, source_trees=source_trees)
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
    if made.needs_trees and sources and not source_trees:
        raise _source_trees_needed()
    return _coded(made, files, save, cache, progress, new=codes_folder is None)


def _coded(
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
    sources = {
        file.name: made.assign(file.sources or [], trees=file.source_trees, cache=cache)
        for file in files
        if file.paraphrases
    }
    return quality(made, placed, texts={file.name: file.shown for file in files}, sources=sources)
