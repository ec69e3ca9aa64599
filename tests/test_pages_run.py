"""What the tutorial, the how-tos and the README show is run, and short outputs are compared.

A block is left out where a comment `<!-- not run: REASON -->` stands before it. Lines behind a
command are its output, in which `...` stands for anything; the output of a block of Python is the
block of text behind it.
"""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gnomon as gn
from gnomon import example
from gnomon.cli import main

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = (
    _ROOT / "README.md",
    *(_ROOT / "docs" / "start" / f"{name}.md" for name in ("install", "tutorial", "migrate")),
    *sorted((_ROOT / "docs" / "compare").glob("*.md")),
    *(_ROOT / "docs" / "trust" / f"{name}.md" for name in ("stress", "campaign")),
    _ROOT / "benchmarks" / "statements.md",
)
#: those of them that take long
_SLOW = ("statements", "scores", "stress", "tutorial", "results")
#: pages of methods and extensions: their Python runs, in a moment or under verify
_QUICK = (
    *(_ROOT / "docs" / f"{name}.md" for name in ("reference/metrics", "reference/formats")),
    _ROOT / "docs" / "explain" / "difficulty.md",
    *sorted((_ROOT / "docs" / "extend").glob("*.md")),
)
_LONG = tuple(
    page
    for page in sorted((_ROOT / "docs").rglob("*.md"))
    if page not in (*_PAGES, *_QUICK)
    and "_build" not in page.parts
    and "```python" in page.read_text(encoding="utf-8")
)
#: test sets that pages name; here the bundled example stands for each
_STAND_INS = ("newstest2019/en-de", "newstest2019/de-en", "wmt18/de-en", "wmt19/de-en")
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]*?) -->\n+)?"
    r"^```(?P<kind>console|python|sh|bash|text)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_SHELL = re.compile(r"[|<>;&`(]|^\w+=")  # what the command line does not read by itself


@dataclass(frozen=True)
class _Block:
    """A block of a page: its kind, text, line, and why it is not run."""

    kind: str
    text: str
    line: int
    reason: str | None
    follows: bool  # nothing but empty lines stands between it and the block before


def _blocks(page: Path) -> list[_Block]:
    return _blocks_of(page.read_text(encoding="utf-8"))


def _blocks_of(text: str) -> list[_Block]:
    found, end = [], 0
    for match in _BLOCK.finditer(text):
        follows = not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start("kind")) + 1
        found.append(_Block(match["kind"], match["text"], line, match["reason"], follows))
        end = match.end()
    return found


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """Commands of a block, each with what the page shows as its output."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        length = 1
        while lines[length - 1].endswith("\\"):
            length += 1
        yield "\n".join(lines[:length]), "\n".join(lines[length:])


def _same(shown: str, given: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown.strip() + "\n", given.strip() + "\n", flags)


class _Reader:
    """Somebody who types a page, block by block, in a folder with the files that it names."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.code = 0
        self.printed = ""

    def read(self, block: _Block) -> None:
        where = f"{self.page.name}, line {block.line}"
        if block.kind == "python":
            self._python(block.text, where)
        elif block.kind == "text":
            if block.follows and self.printed:
                assert _same(block.text, self.printed), f"{where}:\n{self.printed}"
            self.printed = ""
        else:
            for command, shown in _commands(block.text):
                self._command(command, shown, where)

    def _python(self, text: str, where: str) -> None:
        said = io.StringIO()
        if module := re.match(r'(?:"""|# )(\w+\.py)\b', text):
            Path(module[1]).write_text(text, encoding="utf-8")
        with contextlib.redirect_stdout(said):
            exec(compile(text, where, "exec"), self.names)  # noqa: S102  # what the page shows
        self.printed = said.getvalue()

    def _command(self, command: str, shown: str, where: str) -> None:
        if command.strip() == "echo $?":
            assert shown.strip() == str(self.code), where
            return
        if command.startswith("gnomon ") and not _SHELL.search(re.sub(r"'[^']*'", "", command)):
            self.code, out, err = self._gnomon(command)
        else:
            self.code, out, err = self._shell(command)
        refused = "gnomon: error" in shown
        assert (self.code != 0) == refused, f"{where}: {command}\n{out}{err}"
        if shown.strip():
            assert any(_same(shown, given) for given in (out, err, out + err)), (
                f"{where}: {command}\n{out}{err}"
            )

    @staticmethod
    def _gnomon(command: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        line = re.sub(r"\s#\s.*", "", command.replace("\\\n", " "))
        words = []
        for word in shlex.split(os.path.expandvars(line)):
            files = sorted(str(path) for path in Path().glob(word)) if "*" in word else []
            quoted = f"'{word}'" in line
            words += files if files and not quoted else [word]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words[1:])
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
        return int(code or 0), out.getvalue(), err.getvalue()

    @staticmethod
    def _shell(command: str) -> tuple[int, str, str]:
        """By the shell; a variable that it sets stays set."""
        assigned = re.match(r"(\w+)=", command)
        tail = f'\nprintf %s "${assigned[1]}"' if assigned else ""
        done = subprocess.run(
            ["bash", "-c", f"set -e\n{command}{tail}"],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if assigned:
            os.environ[assigned[1]] = done.stdout
            return done.returncode, "", done.stderr
        return done.returncode, done.stdout, done.stderr


def _lay_out(folder: Path) -> None:
    """The files that pages name: the bundled example, and what is made up of it."""
    es_en = folder / "es-en"
    shutil.copytree(example.path(), es_en)
    for name, path in {
        "src.txt": es_en / "src.txt",
        "ref.txt": es_en / "ref.A.txt",
        "sysA.txt": es_en / "systems" / "apertium-catalan.txt",
        "sysB.txt": es_en / "systems" / "apertium-direct.txt",
    }.items():
        shutil.copy(path, folder / name)
    ts = gn.TestSet.from_files(
        references=[folder / "ref.txt"],
        systems=[folder / "sysA.txt", folder / "sysB.txt"],
        source=folder / "src.txt",
        language_pair="es-en",
    )
    _write_scores(folder, ts)
    _write_tables(folder)
    texts = {
        text for part in (*ts.references.values(), ts.systems["sysA"]) for text in part if text
    }
    labels = (
        {"text": text, "spans": [{"start": 0, "end": len(text.split()[0]), "label": "ent:FIRST"}]}
        for text in sorted(texts)
    )
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)) + "\n", "utf-8")
    (folder / "family.txt").write_text("mother\nfather\nsister\nbrother\nson\n", "utf-8")
    (folder / "ref.zh.txt").write_text("今天天气很好。\n我们去公园散步。\n", "utf-8")
    (folder / "sys.zh.txt").write_text("今天的天气很好。\n我们到公园走走。\n", "utf-8")


def _write_scores(folder: Path, ts: gn.TestSet) -> None:
    """Scores of a tool, and judgements of people: numbers that follow from the texts."""
    chrf = gn.score(ts, "chrf")
    rows = [(row["system"], row["segment"], row["score"]) for row in chrf.segment_rows()]
    (reference,) = ts.references.values()
    outputs = {
        f"{system}.txt": [
            {"src": source, "mt": output, "ref": right, "COMET": len(output) / 1000}
            for source, output, right in zip(ts.sources or (), texts, reference, strict=True)
        ]
        for system, texts in ts.systems.items()
    }
    (folder / "comet.json").write_text(json.dumps(outputs), "utf-8")
    dimensions = ("coherence", "consistency", "fluency", "relevance")
    for name, segment, columns in (
        ("llm.tsv", "segment", ("score",)),
        ("errors.tsv", "segment", ("score",)),
        ("people.tsv", "seg", ("quality",)),
        ("dimensions.tsv", "seg", dimensions),
    ):
        lines = ["\t".join(("system", segment, *columns))]
        for at, (system, number, score) in enumerate(rows):
            made = (
                str(1 + (at * step + round(score or 0)) % 5) for step, _ in enumerate(columns, 1)
            )
            lines.append("\t".join((system, str(number), *made)))
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    judged = ts.with_human(folder / "people.tsv")
    published = folder / "mtme" / "wmt"
    published.parent.mkdir()
    gn.formats.write_test_set(judged, published, layout="mt-metrics-eval")
    gn.formats.write_segment_scores(published, [chrf], ts, format="mt-metrics-eval")


def _write_tables(folder: Path) -> None:
    """The table that the page on CSV shows, as it shows it, and one with a row per output."""
    page = (_ROOT / "docs" / "compare" / "files.md").read_text(encoding="utf-8")
    shown = next(block.text for block in _blocks_of(page) if block.kind == "text")
    (folder / "outputs.csv").write_text(shown, "utf-8")
    rows = list(csv.DictReader(io.StringIO(shown)))
    for name, separator in (("long.csv", ","), ("long.tsv", "\t")):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerow(["system", "segment", "reference", "text"])
            for system in ("sysA", "sysB"):
                for at, row in enumerate(rows, 1):
                    writer.writerow([system, at, row["reference"], row[system]])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    _lay_out(folder)
    return folder


@pytest.fixture
def desk(
    files: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A folder to type in; what taggers say of the example is kept for all pages."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    shims = tmp_path_factory.mktemp("bin")
    for name, arguments in (("gnomon", "-m gnomon "), ("python", "")):
        shim = shims / name
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments}"$@"\n', encoding="utf-8")
        shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(part for part in sys.path if part))
    base = tmp_path_factory.getbasetemp()
    of_all = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    monkeypatch.setenv("GNOMON_CACHE", str(of_all / "cache-of-pages"))
    monkeypatch.setenv("EX", str(tmp_path / "es-en"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.verify] * (page.stem in _SLOW), id=page.stem)
        for page in _PAGES
    ],
)
def test_what_a_page_shows_can_be_typed(page: Path, desk: Path) -> None:
    pytest.importorskip("spacy", reason="needs a tagger: pip install 'gnomon[spacy]'")
    reader = _Reader(page)
    for block in _blocks(page):
        if block.reason is None:
            reader.read(block)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [*_QUICK, *(pytest.param(page, marks=pytest.mark.verify) for page in _LONG)],
    ids=lambda page: page.stem,
)
def test_python_of_other_pages_runs(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy", reason="needs a tagger: pip install 'gnomon[spacy]'")
    monkeypatch.syspath_prepend(str(desk))
    monkeypatch.setattr("gnomon.linguistics.annotators._registered", {})
    modules = set(sys.modules)
    for name in _STAND_INS:
        shutil.copytree(desk / "es-en", desk / name)
        (desk / name / "systems" / "apertium-direct.txt").rename(
            desk / name / "systems" / "online-B.0.txt"
        )
    reader = _Reader(page)
    testset = gn.TestSet.read(desk / "es-en")
    reader.names |= {"gn": gn, "gnomon": gn, "testset": testset, "texts": testset.sources}
    for block in _blocks(page):
        if block.reason is None and block.kind == "python":
            reader.read(block)
    for name in set(sys.modules) - modules:  # of the page, and another page's may have that name
        if (desk / f"{name}.py").exists():
            del sys.modules[name]


@pytest.mark.parametrize("page", [*_PAGES, *_QUICK, *_LONG], ids=lambda page: page.stem)
def test_blocks_that_are_not_run_say_why(page: Path) -> None:
    reasons = [block.reason for block in _blocks(page) if block.reason is not None]
    assert all(len(reason) > 10 for reason in reasons)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_a_page_shows_more_than_it_leaves_out(page: Path) -> None:
    blocks = [block for block in _blocks(page) if block.kind != "text"]
    run = [block for block in blocks if block.reason is None]
    assert blocks
    assert len(run) >= len(blocks) / 3


@pytest.mark.verify
def test_what_pages_fetch_from_the_hub_is_what_its_client_takes(tmp_path: Path) -> None:
    client = Path(sys.executable).with_name("hf")
    if not client.is_file():
        pytest.skip("needs the client of the hub: pip install 'gnomon[models]'")
    pages = [_ROOT / "README.md", *(_ROOT / "docs").rglob("*.md")]
    commands = {
        line.removeprefix("$ ")
        for page in pages
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("$ hf download ")
    }
    assert commands
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "NO_COLOR": "1"}
    for command in sorted(commands):
        answer = subprocess.run(
            [client, *shlex.split(command)[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | offline,
            check=False,
        )
        assert "Local entry not found" in answer.stderr, command  # it would ask the hub
        assert "Ignoring" not in answer.stderr, command
