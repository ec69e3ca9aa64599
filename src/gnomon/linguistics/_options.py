"""Options of methods that group words: features, and the sources of their marks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.dependencies import Dependency
from gnomon.core.options import CAPABILITIES, Group, Help, InputFile, Metavar, Needs, Reaches
from gnomon.linguistics.annotators import (
    find_tagger,
    has_tagger,
    standard_tagger,
    taggers,
)
from gnomon.linguistics.feature_names import LISTED
from gnomon.linguistics.label_names import Labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.options import Capability
    from gnomon.linguistics.annotators import Annotator

_HEADING = Group("features")


def reaches_of_tagger(name: str) -> frozenset[Capability]:
    """Capabilities of a tagger's name: none for an installed pipeline, else all."""
    return frozenset(() if name == "auto" or name in taggers() else CAPABILITIES)


#: names of taggers and parsers: packages, which are imported, and what engines of packages load
TAGGER_NAME = Reaches(of_text="gnomon.linguistics._options:reaches_of_tagger")
#: features that need no tagger
_UNTAGGED = tuple(f"{kind}:" for kind in LISTED)


def _require_named_tagger(
    tagger: object, language: str | None, _: Mapping[str, object]
) -> Iterator[Dependency]:
    """The tagger that is named, or the language whose standard one is meant."""
    name = language if tagger == "auto" else tagger
    if isinstance(name, str):
        yield Dependency("tagger", name)


def _require_any_tagger(
    tagger: object, language: str | None, options: Mapping[str, object]
) -> Iterator[Dependency]:
    """Likewise, where the standard one is meant by default."""
    features = options.get("features")
    listed = features if isinstance(features, list | tuple) else ()
    tagged = any(not str(f).startswith(_UNTAGGED) for f in listed)
    if tagger is not None or tagged or (not listed and has_tagger(language)):
        yield from _require_named_tagger(tagger or "auto", language, options)


#: names of features, wildcards allowed; None: see :func:`gnomon.annotate.select_features`
Features: TypeAlias = Annotated[
    "Sequence[str] | None",
    Metavar("FEATURE"),
    _HEADING,
    Help("names of features, wildcards allowed; by default as for :func:`gnomon.muler`."),
]
#: None: the standard one of the language
Tagger: TypeAlias = Annotated[
    "str | Annotator | None",
    Metavar("ENGINE:NAME"),
    Needs(_require_any_tagger),
    TAGGER_NAME,
    _HEADING,
    Help("``spacy:NAME``, ``stanza:LANGUAGE`` or another; by default one of the target language."),
]
#: None: none; "auto": the standard one of the language
OptionalTagger: TypeAlias = Annotated[
    "str | Annotator | None",
    Metavar("ENGINE:NAME"),
    Needs(_require_named_tagger),
    TAGGER_NAME,
    _HEADING,
]
#: word lists by name, as words or as a file of one entry per line
WordLists: TypeAlias = Annotated[
    "Mapping[str, str | os.PathLike[str] | Sequence[str]] | None",
    Metavar("NAME=FILE"),
    InputFile(),
    _HEADING,
    Help(
        "word lists for ``lex:NAME``, as words or as a file of one entry per line;"
        " ``lex:gender`` needs none."
    ),
]
#: regular expressions by name
Regexes: TypeAlias = Annotated[
    "Mapping[str, str] | None",
    Metavar("NAME=REGEX"),
    _HEADING,
    Help("regular expressions for ``re:NAME``."),
]
#: the user's own labels: read, or their files (.conllu or .jsonl)
LabelFiles: TypeAlias = Annotated[
    "Labels | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None",
    Metavar("FILE"),
    InputFile(),
    _HEADING,
    Help("your own labels: .conllu or .jsonl files, or :class:`gnomon.annotate.Labels`."),
]


@dataclass(frozen=True)
class FeatureSources:
    """The markers of words: the options that methods on features share, with their types."""

    tagger: Tagger = None
    lexicon: WordLists = None
    pattern: Regexes = None
    labels: LabelFiles = None


def select_features(
    features: Features = None,
    *,
    tagger: Tagger = None,
    lexicon: WordLists = None,
    pattern: Regexes = None,
    labels: LabelFiles = None,
    language: str | None = None,
    more: Sequence[str] = (),
) -> Sequence[str]:
    """The features that are asked for, or those of everything that is given.

    Args:
        features: what is asked for; None: parts of speech and entities, or the form of words where
            no tagger is named and none of the language is installed; and the word lists, patterns
            and labels that are given; these alone where no language is known.
        tagger: by name or as an annotator; of one of other code, all that it gives.
        lexicon: word lists by name.
        pattern: regular expressions by name.
        labels: the user's own labels; files are not looked into.
        language: the language of the texts, if it is known.
        more: added to parts of speech and entities.
    """
    if features is not None:
        return features
    of_lists = ["lex:*"] * bool(lexicon) + ["re:*"] * bool(pattern)
    if isinstance(labels, Labels):
        of_lists += [f"{kind}:*" for kind in sorted(labels.kinds)]
    if of_lists and tagger is None and language is None:
        return of_lists
    if tagger is None and not has_tagger(language) and (labels is None or of_lists):
        return ["form:*", *of_lists]
    annotator = find_tagger(tagger) if isinstance(tagger, str) else tagger
    if annotator is None and has_tagger(language):
        annotator = standard_tagger(language or "")
    if annotator is not None and not annotator.name.startswith("spacy:"):
        kinds = [f"{kind}:*" for kinds in annotator.layers.values() for kind in kinds]
        if annotator.name.startswith(("stanza:", "udpipe:")):
            kinds = [kind for kind in kinds if kind in ("pos:*", "ent:*")]
        return [*kinds, *of_lists]
    return list(dict.fromkeys(["pos:*", "ent:*", *of_lists, *more]))


def read_labels(labels: LabelFiles) -> Labels | None:
    """Labels, read from their files where they are given by these.

    Raises:
        GnomonError: as :meth:`Labels.read`.
    """
    if labels is None or isinstance(labels, Labels):
        return labels
    return Labels.read([labels] if isinstance(labels, str | os.PathLike) else labels)
