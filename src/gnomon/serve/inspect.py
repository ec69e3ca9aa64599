"""Inspection of files before use: encoding, counts, roles, languages, problems."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import GnomonError
from gnomon.core.testset import TestSet
from gnomon.data.formats import (
    best_texts,
    markup_of,
    misplaced_lines,
    plain_name,
    role_of_name,
    unit_format,
)
from gnomon.data.formats.line_sample import SomeLines
from gnomon.messages import noted
from gnomon.metrics.score_file import specs_of_logs
from gnomon.serve._inspection import (
    Drift,
    FileProblem,
    FileRemedy,
    InspectedFile,
    Inspection,
)
from gnomon.serve._texts import SET_SUFFIXES, decoded, is_log, read_set, texts_of_units
from gnomon.serve.encodings import ENCODINGS, certain_encoding, proposals
from gnomon.serve.language import guess_language
from gnomon.serve.problems import word_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["inspect", "is_archive"]


def inspect(
    files: Mapping[int, tuple[str, Path]], encodings: Mapping[int, str] | None = None
) -> Inspection:
    """Look at files that were uploaded, by their numbers."""
    confirmed = encodings or {}
    texts: dict[int, list[str]] = {}
    inspected = [
        _file(number, name, path, confirmed.get(number), texts)
        for number, (name, path) in files.items()
    ]
    _guess_roles(inspected, texts)
    aligned = _aligned(inspected, texts)
    fixed = [file for file in inspected if file.file not in aligned]
    counts = _counts(fixed, texts)
    sets = [file.segments for file in inspected if file.role == "set"]
    drifts = list(_drifts(fixed, texts))
    differ = len(counts) > 1
    return Inspection(
        files=inspected,
        segments=(sets[0] or 0) if sets else counts.pop() if len(counts) == 1 else 0,
        language_pair=_language_pair(inspected),
        counts_differ=differ,
        drifts=drifts,
        notes=[] if differ else _notes(fixed, texts, {drift.file for drift in drifts}),
    )


def _aligned(files: Sequence[InspectedFile], texts: Mapping[int, list[str]]) -> set[int]:
    """The outputs with more or fewer lines than the reference, of which that is said."""
    references = [file for file in files if file.role == "reference" and file.file in texts]
    if not references:
        return set()
    base, misfits = references[0], set()
    for file in files:
        if file.role != "output" or file.kind != "text" or file.segments in (None, base.segments):
            continue
        misfits.add(file.file)
        text = (
            f"{base.name} has {base.segments:,} lines, and {file.name} has {file.segments:,}: its"
            " lines are aligned when you compare, and the answer says how."
        )
        file.problems.append(FileProblem(text=text, stops=False))
    return misfits


def _counts(files: Sequence[InspectedFile], texts: Mapping[int, list[str]]) -> set[int]:
    """Numbers of segments; of files of units, which are joined by their ids, the first one's."""
    lines = [len(texts[f.file]) for f in files if f.file in texts and not f.is_of_units]
    units = [len(texts[file.file]) for file in files if file.is_of_units]
    return {*lines, *units[:1]}


# One file.


_SHOWN, _CLIPPED = 3, 400
#: characters of a line, above which it is hardly one segment
_LONG = 20_000
#: columns of a table, above which it is hardly one of translations
_COLUMNS = 5000
#: bytes in which markup shows
_BEGINNING = 10_000

_WORD_FILE = "is a Word file. Save it as plain text, one segment per line, and choose that file."
_ARCHIVE = (
    "is a ZIP archive, which is not opened here. Open it on your machine, take the files out of it,"
    " and choose these."
)
_GZIPPED = "is compressed by gzip. Unpack it, and choose the file in it."
_KNOWN = (
    (b"%PDF", "is a PDF file. Save its text as plain text, one segment per line."),
    (b"\xd0\xcf\x11\xe0", "is an old Office file. Save it as plain text, one segment per line."),
    (b"PK\x03\x04", _ARCHIVE),
    (b"\x1f\x8b", _GZIPPED),
    (b"BZh", "is compressed by bzip2. Unpack it, and choose the file in it."),
    (b"\xfd7zXZ", "is compressed by xz. Unpack it, and choose the file in it."),
    (b"\x28\xb5\x2f\xfd", "is compressed by Zstandard. Unpack it, and choose the file in it."),
    (b"7z\xbc\xaf", "is a 7z archive. Unpack it, and choose the files in it."),
    (b"Rar!", "is a RAR archive. Unpack it, and choose the files in it."),
    (b"\x89PNG", "is a picture. Choose a file of plain text."),
    (b"\xff\xd8\xff", "is a picture. Choose a file of plain text."),
    (b"PAR1", "is a Parquet file. Write its texts as plain text, one segment per line."),
    (b"\x7fELF", "is a program. Choose a file of plain text."),
    (b"MZ", "is a program. Choose a file of plain text."),
    (b"{\\rtf", "is a rich text file. Save it as plain text, one segment per line."),
)
_OFFICE = {".docx": _WORD_FILE, ".doc": _WORD_FILE, ".odt": _WORD_FILE.replace("Word", "Writer")}
_SHEET = "is a spreadsheet. Save it as XLSX or CSV, or each column as plain text."
_OFFICE |= dict.fromkeys((".xls", ".ods"), _SHEET)


def _file(
    number: int, name: str, path: Path, confirmed: str | None, texts: dict[int, list[str]]
) -> InspectedFile:
    file = InspectedFile(file=number, name=name, title=plain_name(Path(name).name))
    data = path.read_bytes()
    suffix = Path(name).suffix.casefold()
    refused = _binary(data, suffix) if data else "is empty."
    if refused:
        return _unreadable(file, f"{file.name} {refused}")
    if form := unit_format(name):
        return _units(file, path, form, texts)
    separators = max(data.partition(b"\n")[0].count(mark) for mark in (b"\t", b",", b";"))
    if suffix in SET_SUFFIXES and separators < _COLUMNS and _describe_set(file, path, name, texts):
        return file
    if markup := markup_of(data[:_BEGINNING].decode(errors="replace").split("\n")):
        return _units(file, path, markup, texts)
    return _plain(file, data, confirmed, texts)


def _units(
    file: InspectedFile, path: Path, form: str, texts: dict[int, list[str]]
) -> InspectedFile:
    """A file of translation units, whose texts stand in its order until they are joined."""
    try:
        lines = texts_of_units(path, file.name)
    except GnomonError as error:
        return _unreadable(file, f"{word_error(error).rstrip('.')}.")
    file.kind = form
    texts[file.file] = lines
    _describe(file, lines, "utf-8")
    return file


def _plain(
    file: InspectedFile, data: bytes, confirmed: str | None, texts: dict[int, list[str]]
) -> InspectedFile:
    encoding = confirmed or certain_encoding(data)
    if encoding is None:
        return _unsure(file, data)
    try:
        lines = best_texts(file.name, decoded(data, encoding, file.name))
    except GnomonError as error:
        return _unreadable(file, f"{str(error).rstrip('.')}.", *_readings(data))
    texts[file.file] = lines
    _describe(file, lines, encoding)
    return file


def _binary(data: bytes, suffix: str) -> str:
    """Kind of a file that is no text; empty where it may be one."""
    if data[:4] in (b"PK\x03\x04", b"PAR1") and suffix in (".xlsx", ".eval", ".parquet"):
        return ""
    if data.startswith(b"PK\x03\x04"):
        if suffix in _OFFICE:
            return _OFFICE[suffix]
        head = data[: 1 << 16]
        if b"word/" in head:
            return _WORD_FILE
        if b"xl/" in head:
            return _SHEET
    for magic, said in _KNOWN:
        if data.startswith(magic) and not (magic == b"MZ" and b"\0" not in data):
            return _OFFICE.get(suffix, said) if magic == b"\xd0\xcf\x11\xe0" else said
    return ""


def is_archive(path: Path, name: str) -> bool:
    """True if a file is an archive that is unpacked, and no document that is kept as one."""
    suffix = Path(name).suffix.casefold()
    with path.open("rb") as file:
        kind = _binary(file.read(1 << 16), suffix)
    return kind == _ARCHIVE or (kind == _GZIPPED and suffix == ".gz")


def _unreadable(file: InspectedFile, text: str, *remedies: FileRemedy) -> InspectedFile:
    file.kind = "unreadable"
    leave = FileRemedy(id="leave", text="Or leave it out.")
    file.problems = [FileProblem(text=text, remedies=[*remedies, leave])]
    return file


def _unsure(file: InspectedFile, data: bytes) -> InspectedFile:
    """A file that is not UTF-8: how it would read in other encodings, for the user to say."""
    readings = _readings(data)
    if not readings:
        return _unreadable(file, f"{file.name} is no text. Choose a file of plain text.")
    likely = ENCODINGS[readings[0].encoding or "utf-8"]
    text = f"{file.name} is not in UTF-8. It looks like {likely}: which of these reads right?"
    file.problems = [FileProblem(text=text, remedies=readings)]
    return file


def _readings(data: bytes) -> list[FileRemedy]:
    remedies = []
    for encoding in proposals(data):
        lines = decoded(data, encoding, "")
        telling = [line for line in lines if not line.isascii()] or lines
        text, shown = f"Read it as {ENCODINGS[encoding]}", _clipped(telling[:_SHOWN])
        remedies.append(FileRemedy(id="encoding", text=text, encoding=encoding, lines=shown))
    return remedies


def _describe(file: InspectedFile, lines: list[str], encoding: str) -> None:
    file.encoding, file.segments = encoding, len(lines)
    file.first, file.last = _clipped(lines[:_SHOWN]), _clipped(lines[_SHOWN:][-_SHOWN:])
    file.language = guess_language(lines)
    longest = max(range(len(lines)), key=lambda at: len(lines[at]))
    if len(lines[longest]) > _LONG:
        text = (
            f"Line {longest + 1:,} of {file.name} has {len(lines[longest]):,} characters;"
            " is there one segment on each line?"
        )
        file.problems.append(FileProblem(text=text, stops=False, line=longest + 1))
    empty = sum(not line.strip() for line in lines)
    if empty == len(lines):
        file.problems.append(FileProblem(text=f"All lines of {file.name} are empty."))
    elif empty:
        first = next(n for n, line in enumerate(lines, start=1) if not line.strip())
        text = (
            f"{empty:,} of {len(lines):,} lines of {file.name} are empty, the first is {first:,}."
        )
        file.problems.append(FileProblem(text=text, stops=False, line=first))


def _clipped(lines: Sequence[str]) -> list[str]:
    return [line if len(line) <= _CLIPPED else f"{line[:_CLIPPED]} ..." for line in lines]


def _describe_set(file: InspectedFile, path: Path, name: str, texts: dict[int, list[str]]) -> bool:
    """True if a file is a test set of its own, or a log of outputs alone, which is described."""
    try:
        testset = read_set(path, name)
    except GnomonError as error:
        if is_log(path, name):
            _units(file, path, "outputs", texts)
            return True
        if Path(name).suffix.casefold() in (".tsv", ".csv") and _may_be_lines(path, name):
            return False
        _unreadable(file, f"{error}")
        return True
    if not testset.systems:
        text = f"{file.name} holds no output of a system; choose plain text files, one for each."
        _unreadable(file, text)
        return True
    file.kind = "log" if is_log(path, name) else "set"
    file.role, file.segments = "set", testset.segments
    file.systems = list(testset.systems)
    file.scores = list(specs_of_logs(testset))
    file.why = f"it holds {len(testset.systems)} systems and {len(testset.references)} references"
    file.encoding, file.title = "utf-8", testset.name
    file.language = testset.language_pair
    first = next(iter([*testset.references.values(), *testset.systems.values()]))
    some = ["" if text is None else text for text in first]
    file.first, file.last = _clipped(some[:_SHOWN]), _clipped(some[_SHOWN:][-_SHOWN:])
    return True


def _may_be_lines(path: Path, name: str) -> bool:
    """True if a file may be plain text although it is called like a table."""
    if not (certain_encoding(path.read_bytes()) or "").startswith("utf-8"):
        return True
    try:
        return bool(texts_of_units(path, name))
    except GnomonError:
        return False


# Roles, by names, and by what the files hold.


def _guess_roles(files: Sequence[InspectedFile], texts: Mapping[int, Sequence[str]]) -> None:
    plain = [file for file in files if file.file in texts]
    for file in plain:
        file.role = role_of_name(file.name)
        if file.role != "unknown":
            file.why = f"its name says {file.role}"
    _guess_source(plain)
    _guess_reference(plain, texts)
    for file in plain:
        if file.role == "unknown":
            file.role, file.why = "output", "taken as a translation: nothing says otherwise"


def _guess_source(files: Sequence[InspectedFile]) -> None:
    """The one file in another language than all others."""
    languages = Counter(file.language for file in files)
    if any(file.role == "source" for file in files) or len(files) < 3 or len(languages) != 2:
        return
    (target, _), (other, times) = languages.most_common()
    (file, *more) = [file for file in files if file.language == other]
    if times == 1 and not more and file.role == "unknown" and languages[target] > 1:
        file.role, file.why = "source", "it alone is in another language"


def _guess_reference(files: Sequence[InspectedFile], texts: Mapping[int, Sequence[str]]) -> None:
    """Where no name says it: what people write is less like outputs than these are alike."""
    rest = [file for file in files if file.role == "unknown"]
    if any(file.role == "reference" for file in files) or len(rest) < 2:
        return
    usual = Counter(file.segments for file in files).most_common(1)[0][0]
    rest = [file for file in rest if file.segments == usual] or rest
    if len(rest) <= 2:
        rest[0].role, rest[0].why = "reference", "it was chosen first; please check"
        return
    likeness = {
        file.file: sum(_likeness(texts[file.file], texts[o.file]) for o in rest if o is not file)
        for file in rest
    }
    file = min(rest, key=lambda file: likeness[file.file])
    file.role = "reference"
    file.why = "it is least like the others, as people's translations are; please check"


def _likeness(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of words that lines of two files have in common."""
    step = max(1, min(len(a), len(b)) // 500)
    pairs = list(zip(a, b, strict=False))[::step]
    shared = [(set(x.casefold().split()), set(y.casefold().split())) for x, y in pairs]
    return sum(len(x & y) / max(1, len(x | y)) for x, y in shared) / max(1, len(shared))


def _language_pair(files: Sequence[InspectedFile]) -> str | None:
    for file in files:
        if file.role == "set":
            return file.language
    source = next((file.language for file in files if file.role == "source"), None)
    others = [f.language for f in files if f.role in ("reference", "output") and f.language]
    if not others:
        return None
    target = Counter(others).most_common(1)[0][0]
    return f"{source}-{target}" if source else target


# Whether lines of different files go together.


def _drifts(files: Sequence[InspectedFile], texts: Mapping[int, Sequence[str]]) -> Iterator[Drift]:
    """Where files cease to go with the reference (the source, with it), line by line."""
    plain = [file for file in files if file.file in texts and file.role != "unknown"]
    bases = [file for file in plain if file.role == "reference"] or plain[:1]
    if not bases or len(texts[bases[0].file]) < _LEAST_LINES:
        return
    base = bases[0]
    reference = texts[base.file]
    for file in plain:
        if file is base or file.kind != "text":  # units go by their ids, not by their order
            continue
        lines = texts[file.file]
        padded = [*lines[: len(reference)], *([""] * (len(reference) - len(lines)))]
        both = TestSet(name="", references={"": reference}, systems={file.name: padded})
        wrong = misplaced_lines(SomeLines(both), [file.name]).get(file.name)
        if wrong is None:
            if len(lines) != len(reference):
                text = f"{file.name} has {len(lines):,} lines, and {base.name} {len(reference):,}."
                at = min(len(lines), len(reference))
                yield _drift(file, base, at, 0, text, texts)
            continue
        line = wrong.first + 1
        if wrong.shift:
            lines_off = f"{abs(wrong.shift)} line{'s' if abs(wrong.shift) > 1 else ''}"
            text = (
                f"From line {line:,} on, {file.name} is off by {lines_off}: its line {line:,} goes"
                f" with line {line + wrong.shift:,} of {base.name}."
            )
        elif wrong.exchanged:
            text = f"From line {line:,} on, neighbouring lines of {file.name} are exchanged."
        else:
            text = f"The lines of {file.name} are in another order than those of {base.name}."
        yield _drift(file, base, wrong.first, wrong.shift, text, texts)


#: below, anything may look like an order
_LEAST_LINES = 10
_AROUND = 4


def _drift(
    file: InspectedFile,
    base: InspectedFile,
    at: int,
    shift: int,
    text: str,
    texts: Mapping[int, Sequence[str]],
) -> Drift:
    start = max(0, at - 1)
    shown = slice(start, start + _AROUND)
    if not any(problem.line == at + 1 for problem in file.problems):
        look = FileRemedy(id="look", text="Look", line=at + 1)
        stops = bool(shift) or len(texts[file.file]) != len(texts[base.file])
        file.problems.append(FileProblem(text=text, stops=stops, remedies=[look], line=at + 1))
    return Drift(
        file=file.file,
        beside=base.file,
        line=start + 1,
        shift=shift,
        text=text,
        lines=_clipped(texts[file.file][shown]),
        others=_clipped(texts[base.file][shown]),
    )


def _notes(
    files: Sequence[InspectedFile], texts: Mapping[int, list[str]], drifting: set[int]
) -> list[str]:
    """Anomalies of texts whose lines go together: copies, other languages, repetitions."""
    by_role: dict[str, dict[str, list[str]]] = {}
    for file in files:
        if file.kind == "text" and file.file in texts and file.file not in drifting:
            by_role.setdefault(file.role, {})[file.name] = texts[file.file]
    references, systems = by_role.get("reference", {}), by_role.get("output", {})
    if not references or not systems:
        return []
    sources = next(iter(by_role.get("source", {}).values()), None)
    try:
        testset = TestSet("texts", references=references, systems=systems, sources=sources)
    except GnomonError:
        return []
    return list(map(noted, testset.anomalies))
