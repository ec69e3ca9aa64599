"""Paraphrases by a language model: what is asked, dropped, kept and gone on with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.metrics.judges.chat_server import Chat, serving
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import FormatError, ServerFailedError, SpecError, UsageError
from gnomon.data.formats import read_paraphrases
from gnomon.linguistics import Mark, register
from gnomon.paraphrase import find_generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_REFERENCES = ["In 2010 there came 1,000 people.", "It rained.", "", "Nobody knew why."]


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    for name in ("GNOMON_ALLOW_NETWORK", "GNOMON_ANSWERS", "GNOMON_JUDGE_KEY"):
        monkeypatch.delenv(name, raising=False)
    with serving(Chat(reply=worded)) as found:
        yield found


def reference(body: dict[str, Any]) -> str:
    found = re.search(r"<reference-(\w+)>\n(.*)\n</reference-\1>", body["messages"][-1]["content"])
    assert found is not None
    return found[2]


def worded(body: dict[str, Any]) -> str:
    text = reference(body)
    mark = "" if body["seed"] == 1 else f" ({chr(96 + body['seed'])})"
    made = [f"{text}", f"So:  {text}{mark}\n", f"Well, {text}{mark}", f"Well, {text}{mark}"]
    return json.dumps({"paraphrases": made})


def method(chat: Chat, **options: object) -> str:
    more = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"llm(model='m', endpoint='{chat.url}'{more})"


def test_wordings_are_made_checked_and_recorded(chat: Chat, tmp_path: Path) -> None:
    ts = gn.TestSet.from_lists({}, _REFERENCES, language_pair="xx")
    saved = tmp_path / "p.jsonl"
    found = gn.paraphrase.generate(ts, method(chat, n=2), save=saved)
    made = read_paraphrases([saved])
    assert [(one.segment, one.text) for one in made][:2] == [
        (1, f"So: {_REFERENCES[0]}"),
        (1, f"Well, {_REFERENCES[0]}"),
    ]
    assert {one.segment for one in made} == {1, 2, 4}
    assert {(one.method, one.seed) for one in made} == {("llm", 1)}
    assert all(re.fullmatch(r"fake-1 fp_1 prompt:[0-9a-f]{16}", one.model or "") for one in made)
    row = found.rows[0]
    assert (row["paraphrases"], row["bare"], row["copies"]) == (6, 1, 3)
    assert any("names were not checked" in one for one in notes(found.notices))
    assert (chat.answered, chat.most) == (3, 1)


def test_what_filters_drop_is_asked_for_again_a_few_times(chat: Chat, tmp_path: Path) -> None:
    ts = gn.TestSet.from_lists({}, ["It rained."])
    found = gn.paraphrase.generate(ts, method(chat), n=6, save=tmp_path / "p.jsonl")
    assert found.rows[0]["paraphrases"] == 6  # two of each of three rounds
    assert sorted(body["seed"] for body in chat.bodies[1:]) == [1, 2, 3]
    few = gn.paraphrase.generate(ts, method(chat), n=9, save=tmp_path / "q.jsonl")
    assert (few.rows[0]["paraphrases"], few.rows[0]["short"]) == (6, 1)


def test_wordings_with_other_numbers_are_dropped_and_counted(chat: Chat, tmp_path: Path) -> None:
    wordings = ["1000 people came in 2010.", "1,000 came in 2011.", "Many came in 2010."]
    chat.reply = lambda _: json.dumps({"paraphrases": wordings})
    ts = gn.TestSet.from_lists({}, _REFERENCES[:1])
    found = gn.paraphrase.generate(ts, method(chat), n=3, save=tmp_path / "p.jsonl")
    assert [one.text for one in read_paraphrases([tmp_path / "p.jsonl"])] == wordings[:1]
    assert any("2 times a wording had other numbers" in one for one in notes(found.notices))
    every = gn.paraphrase.generate(ts, method(chat, numbers=False), n=3, save=tmp_path / "q.jsonl")
    assert every.rows[0]["paraphrases"] == 3


class _Capitals:
    """Takes words with a capital for names."""

    name = "capitals:1"
    signature = "capitals 1"
    layers: Mapping[str, tuple[str, ...]] = {"pos": ("pos",)}  # of a protocol

    def inventory(self, kind: str) -> list[str]:  # noqa: ARG002  # of a protocol
        return []

    def annotate(  # of a protocol
        self,
        texts: Sequence[str],
        layers: Sequence[str],  # noqa: ARG002
    ) -> list[dict[str, list[Mark]]]:
        return [
            {"pos": [Mark(*one.span(), "PROPN") for one in re.finditer(r"\b[A-Z]\w+", text)]}
            for text in texts
        ]


def test_wordings_with_other_names_are_dropped_and_counted(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.linguistics.annotators._registered", {})
    register("capitals", lambda _: _Capitals())
    wordings = [
        "In Prague Angela met Macron.",
        "In Prague she met Macron.",
        "In Praha Angela met Macron and Obama.",
        "Praguers saw Angela meet Macron.",
    ]
    chat.reply = lambda _: json.dumps({"paraphrases": wordings})
    ts = gn.TestSet.from_lists({}, ["Angela met Macron in Prague."])
    found = gn.paraphrase.generate(
        ts, method(chat, tagger="capitals:1"), n=4, save=tmp_path / "p.jsonl"
    )
    made = [one.text for one in read_paraphrases([tmp_path / "p.jsonl"])]
    assert made == [wordings[0], wordings[3]]
    assert any("2 times a wording lost a name" in one for one in notes(found.notices))


def test_a_server_that_dies_leaves_a_file_to_go_on_with(chat: Chat, tmp_path: Path) -> None:
    texts = [f"It rained for days {chr(97 + n)}." for n in range(6)]
    ts = gn.TestSet.from_lists({}, texts)
    whole = tmp_path / "whole.jsonl"
    gn.paraphrase.generate(ts, method(chat), n=2, save=whole, batch=2)
    saved = tmp_path / "p.jsonl"
    dying = Chat(reply=worded, dies_after=4, dies_by=503, headers={"Retry-After": "0"})
    with serving(dying) as other:
        work = find_generator(method(other, concurrency=1))
        with pytest.raises(ServerFailedError):
            gn.paraphrase.generate(ts, work, n=2, save=saved, batch=2)
        other.dies_after = None
        gn.paraphrase.generate(ts, work, n=2, save=saved, batch=2, resume=True)
        assert (other.answered, other.most) == (6, 1)
    texts_of = [[one.text for one in read_paraphrases([path])] for path in (whole, saved)]
    assert texts_of[0] == texts_of[1]


def test_answers_that_hold_no_wordings_are_counted(chat: Chat, tmp_path: Path) -> None:
    said = {"a": None, "b": "sorry", "c": '{"paraphrases": [1]}', "d": '{"paraphrases": ["", "e"]}'}
    chat.reply = lambda body: said[reference(body)]
    ts = gn.TestSet.from_lists({}, list(said))
    found = gn.paraphrase.generate(ts, method(chat), n=1, save=tmp_path / "p.jsonl")
    assert [one.text for one in read_paraphrases([tmp_path / "p.jsonl"])] == ["e"]
    assert any("3 times the model or its server declined" in one for one in notes(found.notices))
    assert any("6 answers could not be read" in one for one in notes(found.notices))
    assert found.rows[0]["empty"] == 1


def test_what_it_costs_is_refused_before_the_first_question(chat: Chat, tmp_path: Path) -> None:
    ts = gn.TestSet.from_lists({}, ["a", "b", "c"])
    with pytest.raises(UsageError, match=r"3 answers of 'm'.*more than the 2"):
        gn.paraphrase.generate(ts, method(chat, max_calls=2), n=1, save=tmp_path / "p.jsonl")
    with pytest.raises(UsageError, match=r"sent to judge\.invalid"):
        gn.paraphrase.generate(
            ts, "llm(model='m', endpoint='https://judge.invalid/v1')", save=tmp_path / "p.jsonl"
        )
    assert chat.bodies == []
    assert not (tmp_path / "p.jsonl").exists()
    for wrong in ("llm(model='')", "llm(model='m', temperature=-1)", "llm(model='m', n=0)"):
        with pytest.raises(SpecError):
            find_generator(wrong)


def test_a_prompt_of_the_users_is_asked_in_place_of_ours(chat: Chat, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Sag es in {n} anderen Worten: {reference}", encoding="utf-8")
    ts = gn.TestSet.from_lists({}, ["Es regnet."])
    gn.paraphrase.generate(ts, method(chat, prompt=str(own)), n=1, save=tmp_path / "p.jsonl")
    assert "Sag es in 1 anderen Worten: <reference-" in chat.bodies[-1]["messages"][-1]["content"]
    for text, match in (("{n}", r"shows no \{reference\}"), ("{reference} {m}", r"place \{m\}")):
        own.write_text(text)
        with pytest.raises(FormatError, match=match):
            gn.paraphrase.generate(ts, method(chat, prompt=str(own)), save=tmp_path / "q.jsonl")


def test_the_command_makes_and_a_judge_scores_them(
    chat: Chat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(body: dict[str, Any]) -> str:
        asked = body["response_format"]["json_schema"]["schema"]["properties"]
        return worded(body) if "paraphrases" in asked else '{"score": 90}'

    chat.reply = reply
    (tmp_path / "ref.txt").write_text("It rained.\nNobody knew why.\n")
    saved = str(tmp_path / "p.jsonl")
    judge = f"judge('adequacy', model='m', endpoint='{chat.url}')"
    base = ["paraphrase", "generate", str(tmp_path / "ref.txt"), "--method", method(chat)]
    given = ["--save", saved, "--n", "2", "--filter", judge, "--least", "80"]
    assert main([*base, *given]) == 0
    assert "4" in capsys.readouterr().out
    command = ["paraphrase", "diversity", str(tmp_path / "ref.txt"), "--paraphrases", saved]
    assert main([*command, "-m", judge, "-f", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tables"]["adequacy"]
    assert row["value"] == 90
