"""Dependencies of numbers beside texts and options: packages, models, taggers, files."""

from __future__ import annotations

import inspect
import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core import registry as methods
from gnomon.core.dependencies import Dependency
from gnomon.core.errors import GnomonError, SpecError
from gnomon.core.options import InputFile, Needs, Specs
from gnomon.core.signature import content_hash
from gnomon.core.user_code import is_target, module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.core.options import Option
    from gnomon.core.registry import Method

__all__ = [
    "IN_FILES",
    "Stamp",
    "Traits",
    "differing",
    "files_of",
    "identity",
    "located_files",
    "located_options",
    "located_spec",
    "located_specs",
    "missing_files",
    "options_of_task",
    "place_of",
    "placeless",
    "stamp_of",
    "stamp_of_file",
    "step_needs",
    "traits_of",
]


# What a user's function is: the version that its module gives, or the content of the module's file.


def code_identity(target: str) -> str:
    """The ``__version__`` of the module of ``module:function``, else a hash of its file.

    The module is imported, and so run. Nothing is known of other files that the code imports or
    reads: whoever changes one gives the module another version.
    """
    module = module_of(target)
    given = getattr(module, "__version__", None)
    if isinstance(given, str):
        return f"version {given}"
    file = Path(getattr(module, "__file__", None) or "")
    return content_hash(file.read_bytes()) if file.is_file() else platform.python_version()


# What changes when files do: path, size, times of change and inode, without reading them.


#: folders with more files than this are not looked through
_MOST = 20_000


class Stamp(NamedTuple):
    """The state of some files."""

    hash: str
    newest: float


def stamp_of_file(path: str) -> Stamp:
    """The state of one file, whatever lies beside it; there may be hundreds beside it."""
    for file, status in _stat(path):
        return Stamp(content_hash(_line(file, status)), max(status.st_mtime, status.st_ctime))
    return Stamp("", 0.0)


def stamp_of(*paths: str) -> Stamp:
    """The state of the files that reading some paths may look at."""
    lines: list[str] = []
    newest = 0.0
    for path in paths:
        for file, status in _files(Path(path)):
            lines.append(_line(file, status))
            newest = max(newest, status.st_mtime, status.st_ctime)
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
    for entry in os.scandir(path.parent):
        if entry.is_file():
            yield from _stat(entry.path)
    if not path.exists():  # DIR/de-en, where DIR holds the pair among others
        yield from _files(path.parent)


def _stat(file: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        yield file, os.stat(file)  # noqa: PTH116  # a path of strings
    except OSError:
        return


def _line(file: str, status: os.stat_result) -> str:
    # cp -p sets the time that a file says, but not the time of its inode
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{file} {status.st_size} {times} {status.st_ino}"


#: kinds of what lies in files
IN_FILES = ("file", "model", "wordnet")
#: the files of WordNet that METEOR reads
_WORDNET = re.compile(r"(index|data)\.(noun|verb|adj|adv)|(noun|verb|adj|adv)\.exc")
_NOTHING = "none"


def identity(need: Dependency) -> str:
    """Version, revision or hash, as it is here; "none" where it is not here."""
    if need.kind in IN_FILES:
        path = place_of(need)
        state = stamp_of_file if need.kind == "file" else stamp_of
        return _identity_of_files(need, state(str(path))) if path else _NOTHING
    return _plain_identity(need)


def place_of(need: Dependency) -> Path | None:
    """The file, or the folder of the model or of WordNet; None where it is not here."""
    if need.kind == "file":
        file = Path(need.name)
        return file if file.is_file() else None
    try:
        return _wordnet(need) if need.kind == "wordnet" else _model_identity(need)[0]
    except (GnomonError, OSError):
        return None


def differing(needs: dict[Dependency, str]) -> list[str]:
    """Name the dependencies that differ here."""
    return [
        f"has {need.label} {here}, and the study was planned with {there}"
        for need, there in needs.items()
        if (here := identity(need)) != there
    ]


@lru_cache(maxsize=256)
def _identity_of_files(need: Dependency, _stamp: Stamp) -> str:
    if need.kind == "file":
        return content_hash(Path(need.name).read_bytes())
    if need.kind == "wordnet":
        files = sorted(file for file in _wordnet(need).iterdir() if _WORDNET.fullmatch(file.name))
        return content_hash(*(piece for file in files for piece in (file.name, file.read_bytes())))
    return _model_identity(need)[1]


def _wordnet(need: Dependency) -> Path:
    from gnomon.metrics.wordnet import find_wordnet

    return find_wordnet(need.name or None).folder


def _model_identity(need: Dependency) -> tuple[Path, str]:
    from gnomon.models import find_model

    model = find_model(need.name, need.revision or None)
    return model.path, model.identity


@lru_cache(maxsize=256)
def _plain_identity(need: Dependency) -> str:
    try:
        if need.kind == "package":
            return installed(need.name)
        if need.kind == "code":
            return _identity_of_code(need.name)
        from gnomon.linguistics import find_tagger, standard_tagger

        return (find_tagger if ":" in need.name else standard_tagger)(need.name).signature
    except (GnomonError, PackageNotFoundError):
        return _NOTHING


def _identity_of_code(spec: str) -> str:
    from gnomon.metrics import parse
    from gnomon.metrics.spec import CODE, read_spec

    given = read_spec(spec)
    if given.name == CODE:
        return code_identity(str(given.first))
    return content_hash(repr(getattr(parse(spec, allow_code=True), "fields", ())))


# What the plan must know of a metric: what its numbers depend on, and what it looks at.


#: options of metrics that name files or folders, whatever they look like; a first string does, too
_FILES = frozenset({"file", "function_words", "wordnet"})


class Traits(NamedTuple):
    """The traits of a metric."""

    together: bool
    human: bool
    costly: bool
    needs: tuple[Dependency, ...]


@lru_cache(maxsize=1024)
def traits_of(spec: str, language: str | None, *, allow_code: bool = False) -> Traits:
    """Traits of a metric for texts of a language."""
    from gnomon.metrics import parse
    from gnomon.metrics.requirements import requirements

    metric = parse(spec, allow_code=allow_code)
    needs, pooled = requirements(metric, language), metric.pooled
    read = metric.is_limited_to_test_set  # from a file that another tool wrote
    model = any(need.kind == "model" for need in needs)
    return Traits(
        together=pooled,
        human=pooled,
        # preferences are no scores
        costly=(pooled or read or model) and "prefer" not in metric.can,
        needs=needs,
    )


def located_spec(spec: str, folder: Path) -> str:
    """A spec whose file names lie beside the study, in full: workers run elsewhere."""
    from gnomon.metrics.spec import read_spec

    if "'" not in spec and '"' not in spec and not is_target(spec):
        return spec
    given = read_spec(spec)
    located = _locate(given, folder)
    return spec if located == given else str(located)


def located_specs(spec: str, folder: Path) -> dict[str, str]:
    """A spec, and those within it, with file names in full: where these are other ones."""
    from gnomon.metrics.spec import Spec, read_spec

    located = located_spec(spec, folder)
    if located == spec:
        return {}
    specs = {spec: located}
    given: object = read_spec(spec)
    while isinstance(given, Spec):
        for _, value in given.arguments:
            if isinstance(value, str) and "(" in value:
                specs |= located_specs(value, folder)
        given = given.first
    return specs


def step_needs(
    method: Method, options: Mapping[str, object], language: str | None, *, allow_code: bool
) -> Iterator[Dependency]:
    """Dependencies of a method's results beside metrics: its package, and by its options."""
    package = methods.package_of(method.name)
    if package != "gnomon":
        yield Dependency("package", package)
    declared = method.step_options
    given = {name: option.default for name, option in declared.items()}
    given |= {**method.usual, **options}
    given["allow_code"] = allow_code
    for name, option in declared.items():
        needs = option.mark(Needs)
        if needs is not None and given[name] is not inspect.Parameter.empty:
            yield from needs.dependencies(given[name], language, given)


def _locate(value: object, folder: Path, *, sure: bool = False) -> object:
    from gnomon.metrics.spec import Spec

    if isinstance(value, Spec):
        return Spec(
            value.name,
            _locate(value.first, folder, sure=True),  # type: ignore[arg-type]  # a spec or a string stays one
            tuple((k, _locate(member, folder, sure=k in _FILES)) for k, member in value.arguments),  # type: ignore[misc]  # likewise
        )
    if isinstance(value, str) and "(" in value:
        with suppress(SpecError):  # a metric within a metric
            return located_spec(value, folder)
    if isinstance(value, str) and is_target(value):
        file, _, function = value.rpartition(":")
        return f"{_locate(file, folder)}:{function}" if file.endswith(".py") else value
    if isinstance(value, str) and (sure or "/" in value or "." in value):
        beside = folder / value
        return str(beside) if not Path(value).is_absolute() and beside.exists() else value
    return value


# Options that name metrics or files, which lie beside the study.


def located_options(
    method: Method, options: Mapping[str, object], folder: Path
) -> tuple[dict[str, object], dict[str, str]]:
    """Options whose specs name files in full, and these specs by those that the study gives."""
    places: dict[str, str] = {}

    def locate(spec: str) -> str:
        with suppress(SpecError):  # a kind of human scores
            if (located := located_spec(spec, folder)) != spec:
                places[spec] = located
        return places.get(spec, spec)

    in_place = {
        name: _map_texts(value, locate) if _is_marked(method, name, Specs) else value
        for name, value in options.items()
    }
    return in_place, places


def located_files(option: Option, value: object, folder: Path) -> object:
    """A value of an option whose names of files are in full: workers run elsewhere."""
    files = option.mark(InputFile)

    def locate(text: str) -> str:
        if files.sure:
            return os.path.realpath(folder / Path(text).expanduser())
        head, equals, source = text.partition("=")
        if "(" in head and not os.path.isfile(folder / text):  # noqa: PTH113  # as below
            return text  # a metric's spec: its files are found when it is read
        if equals and source not in files.words:
            return f"{head}={_place_in_folder(source, folder)}"
        return _place_in_folder(text, folder) if "/" in text or "." in text else text

    return value if files is None else _map_texts(value, locate)


def _place_in_folder(name: str, folder: Path) -> str:
    beside = folder / name
    return str(beside.resolve()) if os.path.isfile(beside) else name  # noqa: PTH113  # a long text is no file, and no error


def files_of(method: Method, options: Mapping[str, object]) -> tuple[str, ...]:
    """The files that options name and that are there, in full."""
    files: dict[str, None] = {}

    def note(text: str) -> str:
        if file := _split_name_and_file(text)[1]:
            files[file] = None
        return text

    for name, value in options.items():
        if _is_marked(method, name, InputFile):
            _map_texts(value, note)
    return tuple(files)


def placeless(method: Method, options: Mapping[str, object]) -> dict[str, object]:
    """Options without the folders of files: what these hold counts, not where they are."""

    def name_of(text: str, *, sure: bool) -> str:
        head, file = ("", text) if sure else _split_name_and_file(text)
        return head + Path(file).name if file else text

    named = dict(options)
    for name, value in options.items():
        if _is_marked(method, name, InputFile):
            sure = method.options[name].mark(InputFile).sure
            named[name] = _map_texts(value, partial(name_of, sure=sure))
    return named


def options_of_task(
    method: Method, options: Mapping[str, object], testset: str, systems: Sequence[str]
) -> dict[str, object]:
    """Options whose files are those of a task: ``{testset}`` and ``{system}`` are filled in.

    A task of one system reads that system's file alone, so that files of hundreds of systems need
    not be read for each of them. A list without files is left out where the option has no default.
    """
    taken: dict[str, object] = {}
    for name, value in options.items():
        if not _is_marked(method, name, InputFile):
            taken[name] = value
            continue
        files = _map_texts(value, lambda text: text.replace("{testset}", testset))
        if isinstance(files, list):
            files = [file for text in files for file in _expand_systems(text, systems)]
        if files != [] or method.options[name].default is not None:
            taken[name] = files
    return taken


def missing_files(method: Method, options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Options that name files one by one, with each that is not there whatever the test set."""
    for name, value in options.items():
        if _is_marked(method, name, InputFile) and method.options[name].mark(InputFile).sure:
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and "{" not in text and not Path(text).is_file():
                    yield name, text


def _expand_systems(text: object, systems: Sequence[str]) -> list[object]:
    if isinstance(text, str) and "{system}" in text:
        return [text.replace("{system}", system) for system in systems]
    return [text]


def _is_marked(method: Method, option: str, mark: type) -> bool:
    return option in method.options and method.options[option].mark(mark) is not None


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value whose names are changed: a text, a list of them, or texts by name.

    A list by name holds no names: it is a list of words in place of a file of them.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {
            key: change(member) if isinstance(member, str) else member
            for key, member in value.items()
        }
    return (
        [_map_texts(member, change) for member in value]
        if isinstance(value, list | tuple)
        else value
    )


def _split_name_and_file(text: str) -> tuple[str, str]:
    """Split NAME=FILE into the part before the file, and the file."""
    name, equals, source = text.partition("=")
    for head, file in (("", text), (name + equals, source)):
        if Path(file).is_absolute() and os.path.isfile(file):  # noqa: PTH113  # a long text is no file, and no error
            return head, file
    return "", ""
