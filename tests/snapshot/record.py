"""Records what every command gives, and tells what has changed since it was kept.

    python tests/snapshot/record.py                    what differs from the kept snapshot
    python tests/snapshot/record.py --exact            likewise, to the last bit of every number
    python tests/snapshot/record.py --write            keep what there is now
    python tests/snapshot/record.py --only muler bmx   some groups of cases alone
    python tests/snapshot/record.py --raw FOLDER       write what was recorded itself, for diff
    python tests/snapshot/record.py --shared FILE      cases on the shared test sets; kept in FILE

A case is a call of the command line (``cases.py``), run in this process in a folder of its own. Of
every table that comes out (JSON, the data of pages, written files, tables of a store) are kept: the
number of rows and, field by field, a digest of its exact values; of numbers also how many are
missing, their sum, the sum of their squares and a sum that depends on their order, since the last
digits differ between processors. Columns are kept with their titles, digits and directions, and
commands with their options and defaults. What has another name and equal values is reported as
renamed.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import io
import json
import math
import os
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.snapshot.cases import GROUPS, Case, Group  # noqa: E402  # found from here on

KEPT = Path(__file__).with_name("snapshot.json")
AGAIN = "if that is meant: python tests/snapshot/record.py --write"

Snapshot = dict[str, Any]
Rows = list[dict[str, Any]]


class CaseFailedError(Exception):
    """A call ended otherwise than it should."""


#: of CPU, by case
seconds: dict[str, float] = {}

#: versions, and what differs between them, which say nothing about the numbers
_MASKS = (
    (re.compile(r"gnomon:\d[^|\s\"']*"), "gnomon:V"),
    (re.compile(r"\"gnomon\": \"\d[^\"]*"), '"gnomon": "V'),
    (re.compile(r"version:\d[^|\s\"']*"), "version:V"),
    (re.compile(r"codes:[0-9a-f]{16}"), "codes:H"),  # of trained weights, to the last digit
    # of files made for the cases, which name the version of transformers
    (re.compile(r"\b(masked|seq2seq)#[0-9a-f]{16}"), r"\1#H"),
)


# ---- running


def call(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in this process; standard input is a closed terminal."""
    from gnomon.cli import main

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out, err = io.StringIO(), io.StringIO()
    with mock.patch("sys.stdin", Terminal()), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(list(argv))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def options() -> dict[str, dict[str, str]]:
    """Every command with its options, and their defaults as far as the parser knows them."""
    parsers: list[argparse.ArgumentParser] = []

    def parse_args(self: argparse.ArgumentParser, *_: object) -> None:
        parsers.append(self)
        raise SystemExit

    with mock.patch("argparse.ArgumentParser.parse_args", parse_args):
        call([])
    return dict(_leaves(parsers[0], ()))


def _leaves(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    getattr(parser, "built", lambda: None)()  # commands of methods take options when they are used
    found = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _leaves(inner, (*path, name))
            if action is not getattr(parser, "_further", None):  # a command of its own as well
                return
            continue
        name = "/".join(action.option_strings) or f"<{action.dest}>"
        if action.dest not in {"help", "version"}:
            found[name] = "" if action.default is None else json.dumps(action.default, default=str)
    yield " ".join(path), found


@contextmanager
def _own_surroundings(folder: Path) -> Iterator[None]:
    """A cache of its own, and neither width nor colours of somebody's terminal."""
    own = {"GNOMON_CACHE": str(folder / ".cache"), "COLUMNS": "120", "NO_COLOR": "1"}
    with mock.patch.dict(os.environ, own), chdir(folder):
        yield


def record_group(group: Group, base: Path, raw: Path | None = None) -> Snapshot:
    """What all cases of a group give, run one after another in a folder of the group's name."""
    folder = base.resolve() / group.name  # test sets are called by their folders
    known = options()
    found: Snapshot = {"cases": {}, "columns": defaultdict(set), "failed": {}}
    folder.mkdir(parents=True, exist_ok=True)
    with _own_surroundings(folder):
        group.prepare(folder)
        for case in group.cases:
            if not case.can_run():
                continue
            start = time.process_time()
            try:
                tables = _run(case, known, found["columns"])
            except CaseFailedError as error:
                found["failed"][case.name] = str(error)
                continue
            seconds[case.name] = time.process_time() - start
            if raw:
                _write_raw(raw, case, tables)
            found["cases"][case.name] = {
                name: _digests(rows, folder, {*_OPEN.get(name, ()), *case.unsettled})
                for name, rows in tables.items()
            }
    found["columns"] = {name: sorted(said) for name, said in sorted(found["columns"].items())}
    return found


def _run(
    case: Case, known: Mapping[str, Mapping[str, str]], columns: dict[str, set[str]]
) -> dict[str, Rows]:
    """All tables of a case by name."""
    argv = list(case.argv())
    command = next((name for name in known if " ".join(argv).startswith(f"{name} ")), "")
    taken = {form for names in known.get(command, ()) for form in names.split("/")}
    page = Path("page.html")
    page.unlink(missing_ok=True)
    argv += ["-f", "json"] if "--format" in taken else []
    argv += ["--html", str(page)] if "--html" in taken and case.page else []
    code, out, err = call([*argv, "-q"])
    if code != case.code:
        raise CaseFailedError(f"{case.name}: exit code {code}, not {case.code}: {err}{out[:500]}")
    tables: dict[str, Rows] = {}
    if out.startswith("{"):
        tables |= _json_tables(json.loads(out))
    elif out and case.text:
        tables["text"] = [{"line": line} for line in out.split("\n")]
    if page.is_file():
        tables |= _page_tables(page.read_text(encoding="utf-8"), columns)
    for name in case.files:
        tables |= dict(_file_tables(name, columns))
    for store in case.stores:
        tables |= _store_tables(store)
    return tables


def _write_raw(raw: Path, case: Case, tables: Mapping[str, Rows]) -> None:
    raw.mkdir(parents=True, exist_ok=True)
    lines = [
        f"{name}: {json.dumps(row, ensure_ascii=False)}\n"
        for name, rows in tables.items()
        for row in rows
    ]
    name = re.sub(r"[^\w.=-]+", "-", case.name)
    (raw / f"{name}.txt").write_text("".join(lines), encoding="utf-8")


# ---- what is in JSON, pages, files and stores


def _json_tables(content: Mapping[str, Any]) -> dict[str, Rows]:
    tables: dict[str, Rows] = {"rows": content.get("rows", [])}
    tables |= {f"table {name}": rows for name, rows in content.get("tables", {}).items()}
    told = content.get("messages", [])
    fields = ("text", "level", "rows", "code")
    found = [{key: one[key] for key in fields} for one in told]
    tables["json verdict"] = _flat(found) if found else []
    signatures = content.get("signatures", {})
    tables["signatures"] = [{"of": key, "is": value} for key, value in signatures.items()]
    known = {"gnomon", "command", "rows", "tables", "messages", "signatures"}
    for name in content.keys() - known:
        tables[f"json {name}"] = _flat(content[name])
    return {name: rows for name, rows in tables.items() if rows or name == "rows"}


_DATA = re.compile(
    r"<script type=\"application/json\"[^>]*id=\"([^\"]*)\"[^>]*>(.*?)</script>", re.DOTALL
)


def _page_tables(page: str, columns: dict[str, set[str]]) -> dict[str, Rows]:
    """The tables, charts and examples in the data of a page."""
    parts = {key: json.loads(text) for key, text in _DATA.findall(page)}
    about = parts.pop("data")
    if "findings" not in about:
        return _study_tables(about, parts, columns)
    tables: dict[str, Rows] = {}
    for finding in about["findings"]:
        tables |= _finding_tables(finding, about, columns)
    return tables


def _study_tables(
    about: dict[str, Any], parts: dict[str, Any], columns: dict[str, set[str]]
) -> dict[str, Rows]:
    """The tables of a study's page, whose columns stand apart from their cells."""
    tables: dict[str, Rows] = {}
    for number, table in enumerate(about.pop("tables")):
        rows: Rows = []
        names = [column["name"] for column in table["columns"]]
        for column in table["columns"]:
            columns[f"study: {column['name']}"].add(_about(column))
        for key in [key for key in parts if key.startswith(f"part-table-{number}-")]:
            cells = map(_cells, parts.pop(key))
            rows += [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
        tables[f"page: {table['name']}"] = rows
    about["facts"] = [fact for fact in about["facts"] if " s of " not in fact[1]]
    tables["page about"] = _flat({key: v for key, v in about.items() if key != "gnomon"})
    for key, part in parts.items():
        tables.setdefault(f"page {re.sub(r'[-0-9]+$', '', key)}", []).extend(_flat(part))
    return tables


def _finding_tables(
    finding: Mapping[str, Any], pools: Mapping[str, Any], columns: dict[str, set[str]]
) -> dict[str, Rows]:
    title = finding["title"]
    tables: dict[str, Rows] = {}
    for table in finding["tables"]:
        cells = {}
        for column in table["columns"]:
            cells[column["name"]] = _cells(column)
            columns[column["name"]].add(_about(column))
        rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        tables[f"page {title}: {table['title']}"] = rows
    tables[f"page {title}: charts"] = _flat(finding["panels"])
    tables[f"page {title}: examples"] = [
        _example(example, pools) for example in finding["exhibits"]
    ]
    return {name: rows for name, rows in tables.items() if rows}


def _cells(column: Mapping[str, Any]) -> list[Any]:
    if "cells" in column:
        return list(column["cells"])
    return [column["levels"][code] for code in column["codes"]]


def _about(column: Mapping[str, Any]) -> str:
    """What is said about a column, in a line."""
    given = {key: value for key, value in column.items() if key not in {"cells", "levels", "codes"}}
    return json.dumps({key: value for key, value in given.items() if value not in (None, "")})


def _example(example: Mapping[str, Any], pools: Mapping[str, Any]) -> dict[str, Any]:
    """A segment that a page shows: its texts and marks as such, not as numbers of them."""
    texts, numbers = [], []
    for side, text, marks, names, *values in example["texts"]:
        said = [[*mark[:2], pools["strings"][mark[2]], *mark[3:]] for mark in pools["marks"][marks]]
        texts.append([pools["sides"][side], pools["strings"][text], said, pools["names"][names]])
        numbers += values
    plain = {key: value for key, value in example.items() if key not in {"texts", "systems"}}
    known = [value for value in numbers if value is not None]
    return {
        **plain,
        "systems": json.dumps(example["systems"]),
        "texts": json.dumps(texts),
        "values": math.fsum(known) if known else None,
        "squares": math.fsum(v * v for v in known) if known else None,
    }


def _file_tables(pattern: str, columns: dict[str, set[str]]) -> Iterator[tuple[str, Rows]]:
    """The tables in written files: of TSV, JSON, arrays, else lines."""
    paths = sorted(Path().glob(pattern))
    if not paths:
        raise CaseFailedError(f"no file {pattern}")
    for path in paths:
        name = f"file {path.as_posix()}"
        if path.suffix == ".npz":
            import numpy as np

            with np.load(path, allow_pickle=False) as arrays:
                for key in arrays.files:
                    yield f"{name} {key}", [{"value": v} for v in arrays[key].ravel().tolist()]
        elif path.suffix == ".html":
            yield from _page_tables(path.read_text(encoding="utf-8"), columns).items()
        elif path.suffix == ".jsonl":
            yield name, [json.loads(line) for line in _lines(path)]
        elif path.suffix == ".json":
            content = json.loads(path.read_text(encoding="utf-8"))
            yield name, content if _is_table(content) else _flat(content)
        elif path.suffix == ".tsv":
            header, *lines = _lines(path)
            names = header.split("\t")
            yield name, [dict(zip(names, map(_cell, li.split("\t")), strict=True)) for li in lines]
        else:
            yield name, [{"line": line} for line in _lines(path)]


def _is_table(content: object) -> bool:
    return isinstance(content, list) and all(isinstance(row, dict) for row in content)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


def _cell(text: str) -> Any:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _flat(content: object, path: str = "") -> Rows:
    """Any data as rows: where a value stands (without numbers of places), and the value."""
    if isinstance(content, Mapping):
        inner: Iterable[tuple[str, object]] = ((f"{path}.{key}", v) for key, v in content.items())
    elif isinstance(content, list):
        inner = ((path, value) for value in content)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        return [{"at": path, "number": content, "text": None}]
    else:
        return [{"at": path, "number": None, "text": content}]
    return [row for below, value in inner for row in _flat(value, below)]


def _store_tables(store: str) -> dict[str, Rows]:
    """Every table of a study's results, in an order that does not depend on the run's."""
    names = [row["table"] for row in _asked(store)]
    found = {}
    for name in names:
        rows = _asked(store, f'select * from "{name}"')
        kept = [{key: v for key, v in row.items() if key not in _OF_THE_RUN} for row in rows]
        found[f"store {name}"] = sorted(kept, key=lambda row: json.dumps(list(row.values())))
    found["store columns"] = _asked(store, "--columns")
    return found


def _asked(store: str, *query: str) -> Rows:
    code, out, err = call(["query", store, *query, "-f", "json", "-q"])
    if code:
        raise CaseFailedError(f"query {store} {query}: {err}")
    rows: Rows = json.loads(out)["rows"]
    return rows


# ---- digests

#: of a run, not of what it found
_OF_THE_RUN = frozenset(
    {"seconds", "finished", "longest", "gnomon", "made_with", "key", "task", "minutes"}
)
#: fields of tables whose last digits, or choice among equals, the database leaves open
_OPEN = {
    "store muler_features": {"mean", "best_system", "worst_system"},
    "page: importance_words": {"mean_importance"},
}


def _digests(rows: Rows, folder: Path, without: Iterable[str] = ()) -> dict[str, Any]:
    left_out = {*_OF_THE_RUN, *without}
    fields = list(dict.fromkeys(key for row in rows for key in row if key not in left_out))
    return {
        "rows": len(rows),
        "fields": {key: _field([row.get(key) for row in rows], folder) for key in fields},
    }


def _field(values: Sequence[Any], folder: Path) -> list[Any]:
    """A digest of exact values; of numbers the missing, the sum, the squares, and the order."""
    plain = [_masked(value, folder) for value in values]
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:10]
    known = [(at, v) for at, v in enumerate(plain) if v is not None]
    if not known or not all(type(v) in (int, float) for _, v in known):
        return [digest]
    numbers = [v for _, v in known]
    ordered = math.fsum(v * (1 + at / len(plain)) for at, v in known)
    sums = (math.fsum(numbers), math.fsum(v * v for v in numbers), ordered)
    return [digest, len(plain) - len(known), *(float(f"{value:.11g}") for value in sums)]


def _masked(value: Any, folder: Path) -> Any:
    if isinstance(value, dict | list):
        value = json.dumps(value, sort_keys=True)
    if not isinstance(value, str):
        return value
    for path in _places(folder):
        value = value.replace(path, "FOLDER")
    for mask, instead in _MASKS:
        value = mask.sub(instead, value)
    return value


@cache
def _places(folder: Path) -> tuple[str, ...]:
    return str(folder), str(folder.resolve()), str(ROOT)


# ---- comparing


def differences(
    kept: Snapshot, now: Snapshot, *, exact: bool, tolerance: Callable[[str], float]
) -> list[str]:
    """What differs, a line each; nothing where all is as it was.

    Args:
        kept: the snapshot before.
        now: what there is now.
        exact: whether numbers must be equal to the last bit.
        tolerance: of a case, otherwise: relative.
    """
    said = [f"{name}: {message}" for name, message in now.get("failed", {}).items()]
    before = {name: one for name, one in kept["cases"].items() if name not in now.get("failed", {})}
    said += _case_differences(before, now["cases"], exact=exact, tolerance=tolerance)
    said += _named_differences("column", kept["columns"], now["columns"])
    for command in kept["options"].keys() & now["options"].keys():
        was, given = kept["options"][command], now["options"][command]
        said += _option_differences(command, was, given)
    said += [f"{name}: command gone" for name in kept["options"].keys() - now["options"].keys()]
    said += [f"{name}: command new" for name in now["options"].keys() - kept["options"].keys()]
    return said


def _case_differences(
    kept: Snapshot, now: Snapshot, *, exact: bool, tolerance: Callable[[str], float]
) -> list[str]:
    said = [f"{name}: case gone" for name in kept if name not in now]
    said += [f"{name}: case new" for name in now if name not in kept]
    for name in kept.keys() & now.keys():
        was, given = kept[name], now[name]
        renamed = _renamed(was, given, _same_table)
        said += [f"{name}: table renamed {old!r} -> {new!r}" for old, new in renamed.items()]
        said += [f"{name}: table gone {old!r}" for old in was if old not in {*given, *renamed}]
        new = [table for table in given if table not in {*was, *renamed.values()}]
        said += [f"{name}: table new {table!r}" for table in new]
        for table, before in was.items():
            after = given.get(renamed.get(table, table))
            if after is not None:
                margin = None if exact else tolerance(name)
                said += [f"{name}: {table}: {one}" for one in _changes(before, after, margin)]
    return said


def _renamed(
    was: Mapping[str, Any], given: Mapping[str, Any], same: Callable[[Any, Any], bool]
) -> dict[str, str]:
    """Old names with the new names of what is equal; in order, where several are."""
    found: dict[str, str] = {}
    fresh = [name for name in given if name not in was]
    for old in was:
        if old not in given:
            match = next((name for name in fresh if same(was[old], given[name])), None)
            if match is not None:
                found[old] = match
                fresh.remove(match)
    return found


def _same_table(was: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Most of the values are the same, under whatever names."""
    if was["rows"] != given["rows"] or not was["fields"]:
        return False
    before = Counter(field[0] for field in was["fields"].values())
    after = Counter(field[0] for field in given["fields"].values())
    return 2 * (before & after).total() > max(before.total(), after.total())


def _changes(
    was: Mapping[str, Any], given: Mapping[str, Any], tolerance: float | None
) -> Iterator[str]:
    """What differs within a table; a tolerance of None asks for equal bits."""
    if was["rows"] != given["rows"]:
        yield f"{was['rows']} -> {given['rows']} rows"
        return
    before, after = was["fields"], given["fields"]
    renamed = _renamed(before, after, lambda a, b: bool(a[0] == b[0]))
    yield from (f"field renamed {old} -> {new}" for old, new in renamed.items())
    gone = [old for old in before if old not in {*after, *renamed}]
    new = [name for name in after if name not in {*before, *renamed.values()}]
    yield from (f"field gone {name}" for name in gone)
    yield from (f"field new {name}" for name in new)
    for name in before.keys() & after.keys():
        change = _change(before[name], after[name], tolerance)
        if change:
            yield f"{name}: {change}"
    if not (gone or new or renamed) and list(before) != list(after):
        yield f"fields in another order: {' '.join(before)} -> {' '.join(after)}"


def _change(was: list[Any], given: list[Any], tolerance: float | None) -> str:
    if was[0] == given[0]:
        return ""
    if len(was) == 1 or len(given) == 1:
        return "other values"
    if was[1] != given[1]:
        return f"{was[1]} -> {given[1]} missing"
    # a sum of values that cancel each other is as exact as they are
    size = math.sqrt(max(was[3], given[3], 1e-300) * max(1, len(was)))
    scales = (max(abs(was[2]), abs(given[2]), size), max(was[3], given[3]), 2 * size)
    # and what rounding alone leaves is 0
    off = max(abs(a - b) / max(s, 1e-9) for a, b, s in zip(was[2:], given[2:], scales, strict=True))
    if tolerance is not None:
        return "" if off <= tolerance else f"numbers differ, relatively by {off:.2g}"
    if was[2:4] == given[2:4]:
        return "other bits of equal sums (another order, or the last digits)"
    return f"other numbers, relatively by {off:.2g}"


def _named_differences(what: str, was: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    said = [f"{what} {name}: gone" for name in was if name not in given]
    said += [f"{what} {name}: new" for name in given if name not in was]
    for name in was.keys() & given.keys():
        old = [one for one in was[name] if one not in given[name]]
        new = [one for one in given[name] if one not in was[name]]
        said += [f"{what} {name}: {old or 'nothing'} -> {new or 'nothing'}"] if old or new else []
    return said


def _option_differences(
    command: str, was: Mapping[str, str], given: Mapping[str, str]
) -> list[str]:
    """Options that came, went or have another default; sharing a form (-m) makes them one."""
    said, renamed = [], {}
    for old in was:
        if old not in given:
            shared = [
                new for new in given if new not in was and {*old.split("/")} & {*new.split("/")}
            ]
            renamed |= {old: shared[0]} if shared else {}
    said += [f"{command}: option renamed {old} -> {new}" for old, new in renamed.items()]
    said += [f"{command}: option gone {old}" for old in was if old not in {*given, *renamed}]
    fresh = [new for new in given if new not in {*was, *renamed.values()}]
    said += [f"{command}: option new {new}" for new in fresh]
    for old, default in was.items():
        now = given.get(renamed.get(old, old), default)
        if now != default:
            said.append(f"{command}: default of {old}: {default or 'none'} -> {now or 'none'}")
    return said


# ---- the file


def read(path: Path = KEPT) -> Snapshot:
    """A snapshot."""
    found: Snapshot = json.loads(path.read_text(encoding="utf-8"))
    for tables in found["cases"].values():
        for name, table in tables.items():
            tables[name] = copy.deepcopy(tables[table]) if isinstance(table, str) else table
    return found


def write(path: Path, content: Snapshot) -> None:
    """Write a snapshot, a line for each table, column and command, so that changes merge."""
    parts = []
    for part in ("options", "columns"):
        lines = [
            f"  {json.dumps(key)}: {json.dumps(v)}" for key, v in sorted(content[part].items())
        ]
        parts.append(f' "{part}": {{\n' + ",\n".join(lines) + "\n }")
    cases = []
    for name, tables in sorted(content["cases"].items()):
        lines, seen = [], dict[str, str]()
        for key, table in tables.items():
            value = json.dumps(table)  # a page holds mostly what JSON holds
            same = seen.setdefault(value, key)
            lines.append(f"   {json.dumps(key)}: {value if same == key else json.dumps(same)}")
        cases.append(f"  {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n  }")
    parts.append(' "cases": {\n' + ",\n".join(cases) + "\n }")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def merged(found: Iterable[Snapshot]) -> Snapshot:
    """Snapshots of groups as one."""
    columns: dict[str, set[str]] = defaultdict(set)
    cases: Snapshot = {}
    failed: dict[str, str] = {}
    for one in found:
        cases |= one["cases"]
        failed |= one["failed"]
        for name, said in one["columns"].items():
            columns[name] |= set(said)
    return {
        "options": options(),
        "columns": {name: sorted(said) for name, said in columns.items()},
        "cases": cases,
        "failed": failed,
    }


def part(content: Snapshot, names: Iterable[str]) -> Snapshot:
    """Some cases of a snapshot alone, without what is of all of them."""
    wanted = set(names)
    cases = {name: tables for name, tables in content["cases"].items() if name in wanted}
    return {"options": {}, "columns": {}, "cases": cases}


def tolerance_of(groups: Sequence[Group]) -> Callable[[str], float]:
    """How far numbers of a case may be off on another processor, relatively."""
    given = {case.name: case.tolerance for group in groups for case in group.cases}
    return lambda name: given.get(name, 1e-9)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main() -> int:
    """Record, and compare or write."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or ""), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep what there is now")
    parser.add_argument("--exact", action="store_true", help="compare bits")
    parser.add_argument("--only", nargs="+", metavar="GROUP", help="these groups of cases alone")
    parser.add_argument("--raw", type=Path, metavar="FOLDER", help="write all that was recorded")
    parser.add_argument("--times", action="store_true", help="CPU seconds of every case")
    parser.add_argument("--shared", type=Path, metavar="FILE", help="the shared test sets instead")
    args = parser.parse_args()
    groups, path = GROUPS, KEPT
    if args.shared:
        from tests.snapshot.shared_cases import GROUPS as SHARED_GROUPS

        groups, path = SHARED_GROUPS, args.shared.resolve()
        if ROOT in path.parents:
            parser.error("what comes of shared test sets is not kept in the repository")
    groups = tuple(group for group in groups if not args.only or group.name in args.only)
    raw = args.raw and args.raw.resolve()
    with tempfile.TemporaryDirectory(prefix="gnomon-") as folder:
        base = Path(folder)
        now = merged(record_group(group, base, raw) for group in groups)
    for name in sorted(seconds, key=seconds.__getitem__)[::-1] if args.times else ():
        _say(f"{seconds[name]:6.2f} s  {name}")
    if args.write or not path.exists():
        for name, message in now["failed"].items():
            _say(f"{name}: {message}")
        if args.only and path.exists():
            old = read(path)
            columns = {
                name: sorted({*old["columns"].get(name, ()), *now["columns"].get(name, ())})
                for name in sorted({*old["columns"], *now["columns"]})
            }
            now = {**now, "columns": columns, "cases": old["cases"] | now["cases"]}
        write(path, now)
        _say(f"{len(now['cases'])} cases are kept in {path}")
        return 0
    kept = read(path)
    if args.only:
        names = {case.name for group in groups for case in group.cases}
        kept, now = part(kept, names), {**part(now, names), "failed": now["failed"]}
    said = differences(kept, now, exact=args.exact, tolerance=tolerance_of(groups))
    _say("\n".join([*said, f"{len(now['cases'])} cases, {len(said)} differences"]))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
