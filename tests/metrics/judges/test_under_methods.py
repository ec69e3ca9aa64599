"""Judges under other methods, as a user runs them: each command twice, and nothing asked twice."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.metrics.judges.test_metric import fenced, spec

import gnomon as gn
from gnomon import study
from gnomon.cli import main
from gnomon.core.human import HumanScores
from gnomon.data import example

if TYPE_CHECKING:
    from pathlib import Path

    from tests.metrics.judges.chat_server import Chat

_SEGMENTS = 12
_LONG = [pytest.mark.verify]
_OWN = """\
answer = "words-then-score"
reply = "plain"
system = "You are an editor."
question = "What is wrong with {candidate}, beside {reference}?"
score_question = "An editor says: {answer} Which score from 0 to 100 has {candidate}?"
[[shots]]
candidate = "He go home."
reference = "He goes home."
answer = "The verb does not agree."
"""
_PLAIN = """\
answer = "score"
reply = "plain"
fences = false
question = "Score '{source}' > '{candidate}' vs '{reference}'"
"""
_LISTED = """\
answer = "errors"
reply = "plain"
question = "Which errors has {candidate}, from {source}?"
"""
_LISTED_THEN_SCORED = """\
answer = "errors-then-score"
reply = "plain"
question = "Which errors has {candidate}, from {source}?"
score_question = "Score {candidate} from 0 to 100, after {answer}"
"""
_RUBRICS = {
    "own.toml": _OWN,
    "plain.toml": _PLAIN,
    "listed.toml": _LISTED,
    "then-scored.toml": _LISTED_THEN_SCORED,
}
_NUMBERS = ["--features", "re:number", "--pattern", "number=[0-9]+"]
#: commands that ask about single outputs, and the figures of which there have to be some
_COMMANDS = {
    "score": ["score"],
    "compare": ["compare", "--resamples", "50"],
    "muler": ["muler", *_NUMBERS, "--resamples", "50"],
    "stress": ["stress", "--perturb", "number", "swap", "--limit", "5"],
    "metaeval": ["metaeval", "--human", "da", "--resamples", "50"],
    "reliability": ["judges", "reliability", "--injections", "3"],
    "calibrate": ["judges", "calibrate", "--human", "da", "--items", "20"],
}
#: judge -> its spec after the name of its rubric
_JUDGES = {
    "ours": ("gemba-da", {"references": True}),
    "own": ("own.toml", {}),
    "plain": ("plain.toml", {}),
}


def shared(first: str, second: str) -> int:
    """How many of the words of two texts are in both, of 100."""
    one, other = set(first.split()), set(second.split())
    return round(100 * len(one & other) / max(1, len(one | other)))


def reply(body: dict) -> str:
    """What follows from the texts of a question, in the form that it asks for."""
    question = body["messages"][-1]["content"]
    plain = re.search(r"> '(.*)' vs '(.*)'", question, re.DOTALL)
    if "Which errors has" in question:
        return 'Critical:\nno-error\nMajor:\naccuracy/mistranslation - "the"\nMinor:\nno-error'
    if "Score <candidate" in question:
        return "Score: 60"
    pair = (plain[1], plain[2]) if plain else (fenced(body), fenced(body, "reference"))
    number = shared(*pair)
    if "response_format" in body:
        return json.dumps({"score": number})
    if "What is wrong with" in question:
        return f"{number} of 100 words are right."
    if "An editor says" in question:
        return fenced(body, "answer").split()[0]
    return f"Score: {number}"


@pytest.fixture
def folder(tmp_path: Path, chat: Chat, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a test set that people scored, and rubrics."""
    bundled = gn.TestSet.read(example.path()).select(segments=range(_SEGMENTS))
    draw = np.random.default_rng(7)
    scores = draw.integers(0, 101, (len(bundled.systems), _SEGMENTS)).astype(float)
    human = (HumanScores("da", "segment", tuple(bundled.systems), scores),)
    replace(bundled, name="judged", human=human).write(tmp_path / "judged")
    for name, rubric in _RUBRICS.items():
        (tmp_path / name).write_text(rubric, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    chat.reply = reply
    return tmp_path


@pytest.mark.parametrize(
    ("judge", "command"),
    [
        pytest.param(judge, command, marks=[] if judge == "own" or command == "score" else _LONG)
        for judge, command in product(_JUDGES, _COMMANDS)
    ],
)
def test_a_command_works_with_a_judge_and_asks_nothing_twice(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str], judge: str, command: str
) -> None:
    rubric, options = _JUDGES[judge]
    line = [*_COMMANDS[command], "-t", str(folder / "judged"), "-m", spec(chat, rubric, **options)]
    assert main([*line, "-f", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"]
    sent = len(chat.bodies)
    assert sent > 1
    assert main([*line, "-f", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["rows"] == printed["rows"]
    assert (len(chat.bodies), chat.most) == (sent, 1)


@pytest.mark.parametrize("name", ["listed.toml", "then-scored.toml"])
def test_plain_lists_of_errors_are_marks(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    judge = spec(chat, name)
    data = ["-t", str(folder / "judged")]
    line = ["errors", *data, "--marks", judge, *_NUMBERS, "--resamples", "20"]
    assert main([*line, "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]
    sent = len(chat.bodies)
    explain = ["bmx", "explain", *data, "-m", judge, "--explainers", "own", "-f", "json"]
    assert main(explain) == 0
    assert json.loads(capsys.readouterr().out)["rows"]
    assert (len(chat.bodies), chat.most) == (sent, 1)


def test_a_calibrated_judge_is_scored_from_what_was_asked_before(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["-t", str(folder / "judged")]
    line = ["judges", "calibrate", *data, "--human", "da", "--save", "people.tsv", "--items", "20"]
    assert main([*line, "-m", spec(chat, "plain.toml")]) == 0
    rows = [one.split("\t") for one in (folder / "people.tsv").read_text().splitlines()]
    judged = gn.score(gn.TestSet.read(data[1]), spec(chat, "plain.toml"))
    # scores that rise with the judge's own
    texts = [text for texts in gn.TestSet.read(data[1]).systems.values() for text in texts]
    known = dict(zip(texts, judged.segments.ravel().tolist(), strict=True))
    at = rows[0].index("candidate")
    lines = ["\t".join([*row[:-1], str(2 + known[row[at]] / 2)]) for row in rows[1:]]
    (folder / "people.tsv").write_text("\n".join(["\t".join(rows[0]), *lines]) + "\n")
    sent = len(chat.bodies)
    capsys.readouterr()
    more = spec(chat, "plain.toml", calibration="people.tsv")
    assert main(["score", *data, "-m", more, "-f", "json"]) == 0
    scored = [row["score"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert scored == pytest.approx([2 + score / 2 for score in judged.system.tolist()])
    assert (len(chat.bodies), chat.most) == (sent, 1)


@pytest.mark.verify
def test_judges_are_metrics_of_all_steps_of_a_study(chat: Chat, folder: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
    judges = [
        spec(chat, str(folder / "own.toml")),
        spec(chat, str(folder / "plain.toml")),
    ]
    named = json.dumps(judges)
    file = folder / "study.toml"
    file.write_text(
        f"""
metrics = {named}
[[testsets]]
path = "judged"
[methods.compare]
resamples = 50
[methods.muler]
resamples = 50
features = ["re:number"]
pattern = {{number = "[0-9]+"}}
[methods.errors]
marks = [{json.dumps(spec(chat, str(folder / "listed.toml")))}]
resamples = 0
features = ["re:number"]
pattern = {{number = "[0-9]+"}}
[methods.stress]
perturb = ["number"]
limit = 5
[methods.metaeval]
resamples = 50
[methods.judges.reliability]
metrics = {named}
injections = 0
[methods.judges.calibrate]
metrics = {named}
items = 20
""",
        encoding="utf-8",
    )
    plan = study.plan(study.read_study(file))
    store = study.Store.open(plan.study.store, create=True)
    assert study.run(plan, study.open_engine("here"), store=store).failed == {}
    sent = len(chat.bodies)
    assert chat.most == 1
    tables = ("scores", "comparisons", "muler", "error_rates", "agreement", "judge_reliability")
    for table in (*tables, "judge_calibration", "stress"):
        [[rows]] = store.query(f"select count(*) from {table}").rows
        assert isinstance(rows, int)
        assert rows > 0
    other = study.Store.open(folder / "other.store", create=True)
    assert study.run(plan, study.open_engine("here"), store=other).failed == {}
    assert (len(chat.bodies), chat.most) == (sent, 1)
