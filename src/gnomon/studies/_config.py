"""Study files: TOML read into a study and checked as a whole, every error with its key."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.core.errors import GnomonError
from gnomon.core.option_files import Problems, described, parsed_toml
from gnomon.data.formats import read_text
from gnomon.studies._checks import checked_options, checked_specs
from gnomon.studies.definition import SetSource, Step, StepKey, Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from gnomon.core.registry import Method

_TOP = ("name", "metrics", "testsets", "store", "methods")
_SET = (
    "path",
    "name",
    "language_pair",
    "systems",
    "exclude",
    "references",
    "first",
    "paraphrases",
    "n",
    "methods",
    "human",
)
#: options of all methods
_OF_A_STEP = ("metrics", "together", "testsets")
_WILD = frozenset("*?[")


def read_study(path: str | PathLike[str], *, allow_code: bool = False) -> Study:
    """Read and check a study.

    Paths in the file are relative to its folder. A path with wildcards names several test sets.
    """
    file = Path(path)
    folder = file.parent.absolute()  # workers run elsewhere
    given = parsed_toml(read_text(file), file)
    problems = Problems()
    problems.unknown(given, _TOP, "")
    listed = given.get("metrics", [])
    metrics = checked_specs(listed, "metrics", folder, problems, allow_code=allow_code)
    sets = _sets(given.get("testsets"), folder, problems)
    steps = _steps(given.get("methods", {}), metrics, folder, problems, allow_code=allow_code)
    study = Study(
        name=_text(given, "name", problems) or file.stem,
        path=str(file),
        testsets=tuple(source for _, source in sets),
        steps=tuple(step for _, step in steps),
        set_keys=tuple(key for key, _ in sets),
        step_keys=tuple(key for key, _ in steps),
        store=_store(file, given, problems),
    )
    if problems.found:  # what test sets lack is said with it, as far as they can be read
        from gnomon.studies._plan import look

        with suppress(GnomonError, OSError):
            look(study, problems, allow_code=allow_code)
    problems.refuse(file)
    return study


def _store(file: Path, given: Mapping[str, object], problems: Problems) -> Path:
    name = _text(given, "store", problems)
    if "://" in name:
        problems.add("store", f"{name} is elsewhere: name a folder, and copy it there")
    return file.parent / (name or f"{file.stem}.store")


def _sets(given: object, folder: Path, problems: Problems) -> list[tuple[str, SetSource]]:
    """The test sets, each with its key."""
    if not isinstance(given, list) or not given:
        problems.add("testsets", "a study needs test sets; write [[testsets]] and path = 'DIR'")
        return []
    sources: list[tuple[str, SetSource]] = []
    for number, entry in enumerate(given):
        where = f"testsets[{number}]"
        if not isinstance(entry, Mapping):
            problems.add(where, f"must be a table, [[testsets]]; got {described(entry)}")
            continue
        problems.unknown(entry, _SET, where)
        sources.extend((where, source) for source in _set(entry, where, folder, problems))
    titles = [
        " ".join(filter(None, (source.path, source.language_pair, source.name)))
        for _, source in sources
    ]
    for twice in sorted({title for title in titles if titles.count(title) > 1}):
        problems.add(
            "testsets", f"{twice} is named twice; narrow a path, give one a name, or take one away"
        )
    return sources


def _set(
    given: Mapping[str, object], where: str, folder: Path, problems: Problems
) -> list[SetSource]:
    path = _text(given, "path", problems, f"{where}.path")
    if not path:
        problems.add(f"{where}.path", "is missing; name the directory or file of a test set")
        return []
    files, human = (
        tuple(
            str(file)
            for pattern in problems.strings(given, key, where)
            for file in _places(pattern, folder, f"{where}.{key}", problems)
        )
        for key in ("paraphrases", "human")
    )
    taken = SetSource(
        path="",
        name=_text(given, "name", problems, f"{where}.name") or None,
        language_pair=_text(given, "language_pair", problems, f"{where}.language_pair") or None,
        systems=problems.strings(given, "systems", where),
        exclude=problems.strings(given, "exclude", where),
        references=problems.strings(given, "references", where),
        first=problems.positive(given, "first", where),
        paraphrases=files,
        n=problems.positive(given, "n", where),
        methods=problems.strings(given, "methods", where),
        human=human,
    )
    for key in ("n", "methods"):
        if key in given and "paraphrases" not in given:
            said = "is of paraphrases, and there are none; name files: paraphrases = ['made.jsonl']"
            problems.add(f"{where}.{key}", said)
    paths = _places(path, folder, f"{where}.path", problems)
    for key, named in (("paraphrases", files), ("human", human)):
        if named and len(paths) > 1:
            problems.add(f"{where}.{key}", "belong to one test set, and path names several")
    if taken.name and len(paths) > 1:
        problems.add(f"{where}.name", "is of one test set, and path names several")
    return [replace(taken, path=str(path)) for path in paths]


def _places(pattern: str, folder: Path, where: str, problems: Problems) -> list[Path]:
    given = Path(pattern).expanduser()
    whole = folder / given
    if whole.exists() or not _WILD & set(pattern):  # names may hold wildcards, too
        if whole.exists() or whole.name in _pairs(whole.parent):
            return [whole]
        problems.add(where, f"there is no {whole}")
        return []
    base = Path(given.anchor) if given.is_absolute() else folder
    try:
        paths = sorted(base.glob(str(given.relative_to(given.anchor))))
    except ValueError as error:
        problems.add(where, f"{pattern!r} is no pattern of paths: {error}")
        return []
    if not paths and not _WILD & set(str(given.parent)):
        paths = [whole.parent / p for p in _pairs(whole.parent) if fnmatchcase(p, whole.name)]
    if not paths:
        problems.add(where, f"nothing fits {whole}")
    return paths


def _pairs(folder: Path) -> tuple[str, ...]:
    """Language pairs of a directory whose test sets have no folders of their own."""
    from gnomon.data.formats import language_pairs

    try:
        return language_pairs(folder)
    except (GnomonError, OSError):
        return ()


def _steps(
    given: object, metrics: Sequence[str], folder: Path, problems: Problems, *, allow_code: bool
) -> list[tuple[StepKey, Step]]:
    """The methods, each with its key."""
    if not isinstance(given, Mapping) or not given:
        if given:
            problems.add("methods", f"must be a table; got {described(given)}")
        given = {"score": {}}
    steps: list[tuple[StepKey, Step]] = []
    for name, entry in _flat(given).items():
        where = f"methods.{name}"
        chosen = _choose_method(name, where, problems)
        if chosen is None:
            continue
        for number, options in enumerate(entry if isinstance(entry, list) else [entry]):
            step_key = f"{where}[{number}]" if isinstance(entry, list) else where
            if not isinstance(options, Mapping):
                problems.add(step_key, f"must be a table of options; got {described(options)}")
                continue
            steps.append(
                _step(chosen, options, metrics, folder, step_key, problems, allow_code=allow_code)
            )
    return steps


def _choose_method(name: str, where: str, problems: Problems) -> Method | None:
    """The method of that name, where a study can run it."""
    try:
        method = methods.find(name) if name in methods.names() else None
    except GnomonError as error:
        problems.add(where, error)
        return None
    if method is None or not method.tables:
        problems.name(where, "method of a study", name, methods.steps())
        return None
    return method


def _flat(given: Mapping[str, object], before: str = "") -> dict[str, object]:
    """``{"bmx": {"score": {...}}}`` is the method ``bmx.score``."""
    flat: dict[str, object] = {}
    for head, entry in given.items():
        name = f"{before}{head}"
        further = any(method.startswith(f"{name}.") for method in methods.names())
        if name in methods.names() and further:
            flat |= _merge_further_tables(name, entry)
        elif further and isinstance(entry, Mapping):
            flat |= _flat(entry, f"{name}.")
        else:
            flat[name] = entry
    return flat


def _merge_further_tables(name: str, entry: object) -> dict[str, object]:
    """A method that is the head of others: its own tables, and theirs."""
    given = entry if isinstance(entry, list) else [entry]
    tables = [table for table in given if isinstance(table, Mapping)]
    if len(tables) < len(given):
        return {name: entry}
    begins = f"{name}."
    further = [other for other in methods.names() if other.startswith(begins)]
    heads = {other.removeprefix(begins).partition(".")[0] for other in further}
    own = [{key: value for key, value in table.items() if key not in heads} for table in tables]
    inner = {key: value for table in tables for key, value in table.items() if key in heads}
    flat: dict[str, object] = {}
    if isinstance(entry, list):
        flat[name] = own
    elif own[0] or not inner:
        flat[name] = own[0]
    return flat | _flat(inner, begins)


def _step(
    chosen: Method,
    options: Mapping[str, object],
    metrics: Sequence[str],
    folder: Path,
    where: str,
    problems: Problems,
    *,
    allow_code: bool,
) -> tuple[StepKey, Step]:
    given = options.get("metrics")
    if given is not None and chosen.metrics == "none":
        problems.add(f"{where}.metrics", f"{chosen.name} takes no metrics; leave them out")
    specs = (
        tuple(metrics)
        if given is None
        else checked_specs(given, f"{where}.metrics", folder, problems, allow_code=allow_code)
    )
    refused = any("metrics" in problem.option for problem in problems.found)
    if chosen.metrics != "none" and not specs and not refused:
        problems.add(where, "needs metrics: write metrics = ['bleu'] here, or at the top")
    together = options.get("together", False)
    if not isinstance(together, bool):
        problems.add(f"{where}.together", f"must be true or false; got {described(together)}")
    rest = {key: value for key, value in options.items() if key not in _OF_A_STEP}
    step = Step(
        chosen.name,
        specs if chosen.metrics != "none" else (),
        checked_options(chosen, rest, folder, where, problems),
        together=together is True,
        testsets=problems.strings(options, "testsets", where),
    )
    of_metrics = f"{where}: metrics" if given is None else f"{where}.metrics"
    keys = tuple(f"{of_metrics}[{number}]" for number in range(len(step.metrics)))
    return StepKey(where, keys), step


def _text(
    given: Mapping[str, object], key: str, problems: Problems, where: str | None = None
) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        problems.add(where or key, f"must be a text; got {described(value)}")
        return ""
    return value
