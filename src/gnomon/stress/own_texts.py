"""Minimal pairs of a user's own texts: the outputs of a system, tagged once, and perturbed."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from gnomon.core.data_cautions import doubtful_systems, select_messages
from gnomon.core.errors import DataError, GnomonError, MissingDependencyError, UnknownNameError
from gnomon.core.minimal_pairs import KINDS, Pair, PairKind
from gnomon.core.options import Metavar, Positive
from gnomon.core.scripts import is_unspaced, unspaced_language
from gnomon.core.validation import Problem, problems
from gnomon.linguistics import annotate, read_labels
from gnomon.messages import message
from gnomon.metrics.scoring import bind
from gnomon.metrics.tokenise import fitting_tokeniser, load_tokeniser, text_tokeniser, tokenise
from gnomon.stress.making import make_pairs
from gnomon.stress.outputs import OtherOutputs, Output
from gnomon.stress.perturbations import (
    Perturbations,
    bind_feature,
    find_perturbations,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.core.cache import Cache
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.linguistics import Annotation, FeatureSources
    from gnomon.messages import Message
    from gnomon.stress.perturbations import Perturbation

    Progress: TypeAlias = "Callable[[str, int, int], None] | None"

__all__ = ["TextChoice", "check_perturbations", "make_own_pairs"]


#: whose texts are changed, if not a system's
REFERENCE = "REFERENCE"


@dataclass(frozen=True)
class TextChoice:
    """Which texts are changed, how, and how often.

    Attributes:
        perturbed_system: the system whose outputs are changed, or REFERENCE for the first
            reference; by default the best system by chrF.
        perturb: names and wildcards of perturbations (``gnomon list perturbations``), such as
            number, ``'delete pos:*'``; by default the usual ones of the language.
        kinds: kinds of changes: error, harmless, crossed (the better text is worded otherwise),
            sanity (no translation at all).
        limit: the largest number of sentences that a perturbation changes, drawn with the seed.
    """

    perturbed_system: Annotated[str | None, Metavar("SYSTEM")] = None
    perturb: Perturbations = None
    kinds: Annotated[Sequence[PairKind], Metavar("KIND")] = KINDS
    limit: Positive = 500


def check_perturbations(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Problems of the perturbations that are asked for."""
    language = None if outline is None else outline.target_language
    if options.perturb is not None and outline is not None:
        yield from problems("perturb", find_perturbations, options.perturb, language)


class OwnPairs(NamedTuple):
    """Pairs made of own texts, facts for the head of a report, and notices."""

    pairs: list[Pair]
    facts: Mapping[str, str]
    notices: tuple[Message, ...]


def make_own_pairs(
    testset: TestSet,
    choice: TextChoice,
    sources: FeatureSources,
    *,
    seed: int,
    cache: Cache | None = None,
    progress: Progress = None,
) -> OwnPairs:
    """Minimal pairs of the outputs of one system.

    Raises:
        DataError: there are no texts to change, or nothing in them that could be changed.
        UnknownNameError: a system, a perturbation or a feature does not exist.
    """
    on, facts = _choose_texts(testset, choice.perturbed_system)
    every = find_perturbations(choice.perturb, testset.target_language)
    asked = [each for each in every if each.kind in choice.kinds]
    named = choice.perturb is not None
    wanted, impossible = _possible(asked, testset, named=named)
    texts = _texts(testset, on)
    annotation, wanted, left_out = _annotate_texts(
        texts, wanted, testset.target_language, sources, cache, progress, named=named
    )
    if annotation is not None and annotation.taggers:
        facts["tagger"] = ", ".join(annotation.taggers)
    outputs = list(_outputs(testset, texts, annotation))
    pool = OtherOutputs(outputs)
    pairs: list[Pair] = []
    idle: list[str] = []
    for done, perturbation in enumerate(wanted, start=1):
        pair_of = partial(_pair, testset, on, perturbation)
        made = make_pairs(perturbation, outputs, pool, pair_of, limit=choice.limit, seed=seed)
        pairs += made
        idle += [] if made else [perturbation.name]
        if progress:
            progress("changing texts", done, len(wanted))
    if not pairs:
        raise DataError(
            f"nothing in the texts of {on} could be changed by"
            f" {', '.join(idle) or 'no perturbation'}; `gnomon list perturbations` shows what each"
            " of them changes"
        )
    unchanged = [message("note.stress.unchanged", perturbations=idle)] if named and idle else []
    notices = (*_copy_notices(on, testset), *impossible, *left_out, *unchanged)
    return OwnPairs(pairs, facts, notices)


def _choose_texts(testset: TestSet, on: str | None) -> tuple[str, dict[str, str]]:
    """Whose texts are changed, and how they were chosen."""
    if on is not None:
        if on != REFERENCE and on not in testset.systems:
            raise UnknownNameError("system", on, (*testset.systems, REFERENCE))
        _refuse_doubtful(testset, on)
        return on, {"texts": "references" if on == REFERENCE else f"outputs of {on}"}
    if not testset.systems:
        return REFERENCE, {"texts": "references, as there are no outputs"}
    doubtful = doubtful_systems(testset.anomalies)
    names = [name for name in testset.systems if name not in doubtful] or list(testset.systems)
    _refuse_doubtful(testset, names[0])
    if len(names) == 1 or not testset.references:
        return names[0], {"texts": f"outputs of {names[0]}"}
    _, chrf = bind(testset, "chrf", allow_code=False)
    scores = dict(zip(testset.systems, chrf.system(testset.batch()).tolist(), strict=True))
    best = max(names, key=lambda name: scores[name])
    return best, {"texts": f"outputs of {best}, the best of {len(names)} by chrF"}


def _refuse_doubtful(testset: TestSet, on: str) -> None:
    """Refuse outputs that do not fit the references, line by line, or are in another language."""
    for doubt in select_messages("data.doubtful", testset.anomalies):
        if on in doubt.subjects["systems"]:
            raise DataError(doubt, "; until then nothing follows from its texts")


def _copy_notices(on: str, testset: TestSet) -> list[Message]:
    """Message where the only reference is changed and compared with itself."""
    if on != REFERENCE or len(testset.references) != 1:
        return []
    return [message("data.copied", what="changed")]


def _texts(testset: TestSet, on: str) -> Sequence[str]:
    if on != REFERENCE:
        return testset.systems[on]
    if not testset.references:
        raise DataError("there is no text that could be changed: neither outputs nor references")
    return [text or "" for text in next(iter(testset.references.values()))]


def _possible(
    asked: Sequence[Perturbation], testset: TestSet, *, named: bool
) -> tuple[list[Perturbation], list[Message]]:
    """The perturbations that have what they need, and what is said of the others."""
    there = {
        "source": testset.sources is not None,
        "others": testset.segments > 1,
        "inflections": find_spec("lemminflect") is not None,
    }
    lacking = {
        each.name: [need for need in sorted(each.needs) if not there.get(need, True)]
        for each in asked
    }
    wanted = [each for each in asked if not lacking[each.name]]
    missing = sorted({need for needs in lacking.values() for need in needs})
    if not missing:
        return wanted, []
    names = [name for name, needs in lacking.items() if needs]
    said = message("note.stress.needs", perturbations=names, needs=[{"lack": n} for n in missing])
    if named and not wanted:
        raise MissingDependencyError(said) if "inflections" in missing else DataError(said)
    return wanted, [message("note.stress.left_out", said=said)]


def _annotate_texts(
    texts: Sequence[str],
    wanted: Sequence[Perturbation],
    language: str | None,
    sources: FeatureSources,
    cache: Cache | None,
    progress: Progress,
    *,
    named: bool,
) -> tuple[Annotation | None, list[Perturbation], list[Message]]:
    """Tags of the texts; perturbations, with wildcards of features resolved; what is left out."""
    tagged = [each for each in wanted if each.features or "tokens" in each.needs]
    if not tagged:
        return None, list(wanted), []
    words = [each for each in tagged if "tokens" in each.needs or each.name.startswith("replace")]
    features = list(dict.fromkeys(f for each in tagged for f in each.features)) or ["pos:*"]
    origin = {**vars(sources), "labels": read_labels(sources.labels), "language": language}
    try:
        annotation = annotate(
            texts, features, **origin, cache=cache, progress=progress, tokens=bool(words)
        )
    except GnomonError as error:
        if named:
            raise
        # labels of users often have parts of speech alone
        entities = [each for each in tagged if any(f.startswith("ent:") for f in each.features)]
        dropped = (entities or words or tagged) if sources.labels else tagged
        names = [each.name for each in dropped]
        without, kept, notices = _annotate_texts(
            texts,
            [each for each in wanted if each not in dropped],
            language,
            sources,
            cache,
            progress,
            named=False,
        )
        untagged = message("note.stress.untagged", perturbations=names, error=error.message)
        return without, kept, [untagged, *notices]
    there = annotation.spans.features
    return annotation, [each for given in wanted for each in _resolve_features(given, there)], []


def _resolve_features(given: Perturbation, features: Sequence[str]) -> Iterator[Perturbation]:
    """A perturbation; of each feature that occurs, where it is asked for with a wildcard."""
    if given.general is None or not any(letter in given.feature for letter in "*?"):
        yield given
        return
    for feature in features:
        if fnmatchcase(feature, given.feature):
            yield bind_feature(given.general, feature)


def _outputs(
    testset: TestSet, texts: Sequence[str], annotation: Annotation | None
) -> Iterator[Output]:
    marked: list[dict[str, list[tuple[int, int]]]] = [{} for _ in texts]
    if annotation is not None:
        spans = annotation.spans
        columns = (spans.text, spans.feature, spans.start, spans.end)
        for text, feature, start, end in zip(*(c.tolist() for c in columns), strict=True):
            marked[text].setdefault(spans.features[feature], []).append((start, end))
    unspaced = is_unspaced(testset.target_language)
    words = _words(texts, fitting_tokeniser(testset).name) if unspaced else None
    sources = testset.sources or ()
    read = _words(sources, text_tokeniser(sources)) if unspaced_language(sources) else None
    for number, text in enumerate(texts):
        yield Output(
            number=number,
            text=text,
            source=testset.sources[number] if testset.sources is not None else None,
            tokens=annotation.sentences[number].tokens
            if annotation is not None and annotation.sentences
            else (),
            marked=marked[number],
            places=None if words is None else words[number],
            source_places=None if read is None else read[number],
        )


def _words(texts: Sequence[str], tokeniser: str) -> list[list[tuple[int, int]]]:
    """Where a tokeniser finds the words of each text."""
    found = tokenise(texts, load_tokeniser(tokeniser))
    return [found.spans(number) for number in range(len(texts))]


def _pair(  # what is bound, and what is made
    testset: TestSet, on: str, made_by: Perturbation, output: Output, good: str, bad: str
) -> Pair:
    number = output.number
    names = list(testset.references)
    # a reference that is changed is compared with the others, if there are others
    beside = names[1:] if on == REFERENCE and len(names) > 1 else names
    references = (testset.references[name][number] for name in beside)
    return Pair(
        good=good,
        bad=bad,
        phenomenon=made_by.phenomenon,
        references=tuple(text for text in references if text is not None),
        source=output.source,
        kind=made_by.kind,
        severity=made_by.severity,
        language_pair=testset.language_pair,
        origin=f"segment {number + 1}",
        document=testset.documents[number] if testset.documents is not None else "",
    )
