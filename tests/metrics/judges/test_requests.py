"""What judges would be asked and what it costs: dry runs, prices, further fields, batch files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_command_line import folder
from tests.metrics.judges.test_metric import fenced, numbers, sets, spec, two_turns
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import FormatError, SpecError, UsageError
from gnomon.judges import (
    ChatAnswer,
    ChatJudge,
    ChatQuestion,
    estimated_cost,
    planned_requests,
    tokens_used,
)
from gnomon.metrics import parse
from gnomon.paraphrase.generation.by_chat import ChatParaphrases

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.metrics.judges.chat_server import Chat

__all__ = ["folder"]  # a fixture

_DATA = ["ref.txt", "-i", "a.txt", "b.txt", "-s", "src.txt", "-l", "en-cs"]


def read(path: str | Path) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def answered(
    requests: list[dict], reply: Callable[[dict], str | None] = numbers, **more: object
) -> list[dict]:
    """What a batch endpoint makes of requests."""
    results = []
    for n, request in enumerate(requests):
        body = {
            "model": "batch-1",
            "choices": [{"message": {"content": reply(request["body"])}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7},
            **more,
        }
        response = {"status_code": 200, "request_id": f"r{n}", "body": body}
        results.append({"custom_id": request["custom_id"], "response": response, "error": None})
    return results


def write(path: str | Path, lines: list[dict]) -> str:
    Path(path).write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return str(path)


# What it costs


def test_an_estimate_counts_a_token_for_four_bytes_until_servers_have_counted() -> None:
    question = ChatQuestion("1234", "wörd", max_tokens=50)  # 9 bytes
    others = [ChatQuestion("", "x" * 35, repetition=n) for n in range(5)]
    cost = estimated_cost([question, *others[:1]], prices=(1e6, 2e6))
    assert (cost.requests, cost.read, cost.written, cost.money) == (2, 11, None, 11)
    assert "at one for 4 bytes" in str(cost)
    assert "for the questions alone" in str(cost)
    limited = estimated_cost([question], later=2)
    assert (limited.requests, limited.read, limited.written) == (3, 7, 150)
    assert "at most 150 of answers" in str(limited)
    earlier = {other: ChatAnswer("", read=70, written=11) for other in others}
    measured = estimated_cost([question], earlier=earlier, prices=(1e6, 1e6))
    assert (measured.read, measured.written, measured.money) == (18, 11, 29)
    assert "as in 5 earlier answers" in str(measured)


def test_tokens_are_summed_where_the_server_counts_them() -> None:
    answers = [ChatAnswer("", read=10, written=2), ChatAnswer(""), ChatAnswer("", rejected="no")]
    used = tokens_used(answers, (1e6, 1e6))
    assert used == (2, 1, 10, 2, 12)
    assert "of 1; the server counted no others" in str(used)
    assert str(tokens_used(answers[1:])) == ""


def test_a_resumed_run_tells_the_tokens_of_all_its_answers(chat: Chat) -> None:
    chat.reply, chat.usage = numbers, (120, 8)
    judge = spec(chat, prices=[2.0, 10.0])
    gn.score(sets(s=["a 1", "b 2"]), judge)
    scores = gn.score(sets(s=["a 1", "b 2", "c 3"]), judge)
    assert chat.answered == 3
    assert notes(scores.notices)[-1].endswith(
        "3 answers took 360 tokens of questions and 24 of answers; 0.00096 at the given prices"
    )
    assert "prices" not in str(scores.signature)


def test_answers_of_earlier_versions_are_read_and_tell_no_tokens(chat: Chat) -> None:
    kept = json.dumps(["text", "model", "fp", "stop", False]).encode()
    assert ChatAnswer.unpacked(kept) == ChatAnswer("text", "model", "fp", "stop")
    answer = ChatAnswer("text", "m", read=3, written=4)
    assert ChatAnswer.unpacked(answer.packed()) == answer
    chat.usage = None
    assert notes(gn.score(sets(s=["a"]), spec(chat)).notices) == ()


@pytest.mark.parametrize("prices", ["[1]", "[1, -1]", "[1, inf]", "'free'"])
def test_prices_are_two_numbers(prices: str) -> None:
    with pytest.raises(SpecError, match="prices"):
        parse(f"judge('gemba-da', model='m', prices={prices})")


# Further fields


def test_further_fields_are_sent_and_stand_in_signature_and_key(chat: Chat) -> None:
    given = "{'top_p': 0.9, 'reasoning': {'effort': 'low', 'all': [1, None]}, 'greedy': True}"
    judge = spec(chat)[:-1] + f", extra={given})"
    scores = gn.score(sets(s=["a"]), judge)
    body = chat.bodies[-1]
    assert body["top_p"] == 0.9
    assert body["reasoning"] == {"effort": "low", "all": [1, None]}
    assert body["greedy"] is True
    assert '"top_p": 0.9' in str(scores.signature)
    assert parse(parse(judge).spec) == parse(judge)
    asked = chat.answered
    gn.score(sets(s=["a"]), spec(chat))
    assert chat.answered == asked + 1  # another question
    by_mapping = ChatJudge("gemba-da", "m", chat.url, extra={"b": 1, "a": 2})  # type: ignore[arg-type]  # read as its JSON
    assert by_mapping == ChatJudge("gemba-da", "m", chat.url, extra='{"a": 2, "b": 1}')


@pytest.mark.parametrize(
    ("extra", "match"),
    [
        ("{'messages': []}", "extra cannot set 'messages'"),
        ("{'model': 'other'}", "extra cannot set 'model'"),
        ("{'temperature': 1}", "give temperature="),
        ("{'stream': True}", "whole answers are read"),
        ("{'x': {'api_key': 'sk-1'}}", "looks like a key"),
        ("{'x': ['my secret-key-123456']}", "looks like a key"),
        ("{'token': 'mine'}", "looks like a key"),
        ("{'x': ['hf_abcdefghijklmnopqrstuv']}", "looks like a key"),
        ("{'headers': {'x': 'Bearer mine'}}", "looks like a key"),
        ("'[1]'", "give an object"),
        ("'{\"a\": NaN}'", "must be JSON"),
        ("{'a': 1, 'a': 2}", "given twice"),
        ("{a: 1}", "in quotes"),
        ("{'a' 1}", "expected ':'"),
    ],
)
def test_fields_that_requests_have_anyway_and_keys_are_refused(
    extra: str, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "secret-key-123456")
    with pytest.raises(SpecError, match=match) as error:
        parse(f"judge('gemba-da', model='m', extra={extra})")
    assert "secret-key" not in str(error.value).replace(extra, "")


@pytest.mark.parametrize("key", ["secret-key-123456", "hf_abcdefghijklmnopqrstuv"])
def test_a_key_in_the_place_of_a_models_name_is_refused_and_not_shown(
    key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "secret-key-123456")
    judges = f"judge('gemba-da', model='{key}')", f"judge(['gemba-da', 'gemba-sqm'], model='{key}')"
    for judge in judges:
        with pytest.raises(SpecError, match="model= holds what looks like a key") as error:
            parse(judge)
        assert key not in str(error.value)
    with pytest.raises(SpecError, match="looks like a key"):
        ChatParaphrases(key)
    (tmp_path / "ref.txt").write_text("a b\n")
    data = [str(tmp_path / "ref.txt"), "-i", str(tmp_path / "ref.txt")]
    assert main(["score", *data, "-m", judges[0]]) == 2
    printed = capsys.readouterr()
    assert "looks like a key" in printed.err
    assert key not in printed.out + printed.err
    assert parse("judge('gemba-da', model='gpt-5-mini')")


def test_fields_about_tokens_and_texts_that_begin_like_keys_are_taken() -> None:
    extra = "{'stop_token_ids': [1], 'min_tokens': 2, 'token_healing': True, 'stop': ['hf_']}"
    assert parse(f"judge('gemba-da', model='m', extra={extra})")


# Dry runs


@pytest.mark.parametrize(
    "command",
    [
        ["score"],
        ["compare"],
        ["judges", "reliability", "--injections", "0"],
        ["judges", "reliability", "--injections", "2"],
        ["stress"],
    ],
)
def test_a_dry_run_asks_nothing_and_says_how_much_it_would(
    command: list[str], chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, *_DATA, "-m", spec(chat), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Nothing was asked. ")
    assert "requests would be sent; 0 answers are on disk already" in out
    shown = json.loads(out.partition("The first request:\n")[2])
    assert shown["model"] == "m"
    assert [message["role"] for message in shown["messages"]] == ["system", "user"]
    assert chat.bodies == []


def test_a_dry_run_counts_what_is_answered_and_keeps_no_results(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.reply, chat.usage = numbers, (100, 10)
    first = ["ref.txt", "-i", "a.txt", "-s", "src.txt", "-l", "en-cs"]
    assert main(["score", *first, "-m", spec(chat)]) == 0
    asked = len(chat.bodies)
    capsys.readouterr()
    more = ["--segment-scores", "seg.tsv", "-f", "json", "--dry-run"]
    assert main(["score", *_DATA, "-m", spec(chat, prices=[1.0, 1.0]), *more]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["requests"], row["kept"]) == (2, 2)
    assert row["money"] > 0
    assert not Path("seg.tsv").exists()
    assert len(chat.bodies) == asked
    with planned_requests() as plan:
        gn.score(sets(s=["new"]), spec(chat))
    assert plan.requests == 1
    assert plan.first()["model"] == "m"
    assert len(chat.bodies) == asked
    assert gn.score(sets(s=["new 9"]), spec(chat)).system.tolist() == [9]  # asked again


def test_a_dry_run_needs_no_consent_and_tells_of_second_turns_and_of_too_many(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = "judge('gemba-esa', model='m', endpoint='http://judge.invalid/v1', max_calls=5)"
    assert main(["score", *_DATA, "-m", judge, "--dry-run", "-v"]) == 0
    out = capsys.readouterr().out
    assert "8 requests would be sent" in out
    assert "4 of the requests ask again, given the first answer" in out
    assert "8 answers are more than the 5 that are allowed" in out
    assert "was not asked before: one request more asks who answers" in out


def test_a_dry_run_of_what_asks_no_judge_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *_DATA, "-m", "chrf", "--dry-run", "-v"]) == 0
    assert "no server was to be asked" in capsys.readouterr().out
    assert main(["score", "nowhere.txt", "-i", "a.txt", "-m", "chrf", "--dry-run"]) == 1


# Batch files


def test_a_batch_answers_what_the_command_would_ask(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = spec(chat, seed=5)
    assert main(["score", *_DATA, "-m", judge, "--batch-write", "requests.jsonl"]) == 0
    assert "4 requests are written" in capsys.readouterr().out
    requests = read("requests.jsonl")
    assert {request["url"] for request in requests} == {"/v1/chat/completions"}
    assert {request["method"] for request in requests} == {"POST"}
    assert requests[0]["body"]["seed"] == 5
    assert len({request["custom_id"] for request in requests}) == 4
    assert max(len(request["custom_id"]) for request in requests) <= 64
    results = answered(requests)
    random.Random(2).shuffle(results)
    write("results.jsonl", results)
    asked = ["score", *_DATA, "-m", judge, "-f", "json"]
    assert main([*asked, "--batch-read", "results.jsonl"]) == 0
    told = capsys.readouterr()
    assert "results.jsonl: 4 answers kept, 0 known before" in told.err
    scored = json.loads(told.out)
    again = gn.judges.read_batch("results.jsonl")
    assert (again.kept, again.known) == (0, 4)
    assert main(asked) == 0
    assert [row["score"] for row in scored["rows"]] == [50, 75]
    assert "answers:batch-1" in json.dumps(scored)
    assert chat.bodies == []  # not even who answers was asked


def test_requests_as_a_batch_are_those_that_a_command_sends(chat: Chat, tmp_path: Path) -> None:
    ts = sets(s=["a 1", "b 2"])
    with planned_requests() as plan:
        gn.score(ts, spec(chat))
    plan.write_batches(tmp_path / "requests.jsonl")
    gn.score(ts, spec(chat))
    written = [request["body"] for request in read(tmp_path / "requests.jsonl")]
    assert sorted(map(str, written)) == sorted(map(str, chat.bodies[1:]))


def test_two_turns_are_two_batches(chat: Chat, tmp_path: Path) -> None:
    ts, judge = sets(s=["fine", "bad1", "bad1 bad2"]), spec(chat, "gemba-esa")
    for number, n in ((1, 3), (2, 3)):
        with planned_requests() as plan:
            gn.score(ts, judge)
        assert plan.requests == (6 if number == 1 else 3)
        plan.write_batches(tmp_path / "requests.jsonl")
        requests = read(tmp_path / "requests.jsonl")
        assert len(requests) == n
        assert all(("marked" in fenced(r["body"], "errors")) is False for r in requests)
        gn.judges.read_batch(write(tmp_path / "r.jsonl", answered(requests, two_turns)))
    assert gn.score(ts, judge).segments.tolist() == [[100, 70, 40]]
    assert chat.bodies == []


def test_errors_of_a_batch_are_counted_and_asked_again(chat: Chat, tmp_path: Path) -> None:
    ts, chat.reply = sets(s=[f"text {n}" for n in range(7)]), numbers
    with planned_requests() as plan:
        gn.score(ts, spec(chat))
    plan.write_batches(tmp_path / "requests.jsonl")
    requests = read(tmp_path / "requests.jsonl")
    results = answered(requests)
    failed = {"status_code": 400, "body": {"error": {"message": "too long"}}}
    results[0]["response"] = failed
    results[1] |= {"response": None, "error": {"code": "batch_expired", "message": "too late"}}
    results[2]["response"]["body"]["choices"] = []
    filtered = {"error": {"code": "content_filter", "message": "no"}}
    results[3]["response"] = {"status_code": 400, "body": filtered}
    results[5]["custom_id"] = "request-5"
    path = write(tmp_path / "results.jsonl", results[:-1])
    with Path(path).open("a") as file:
        file.write(json.dumps(results[-1])[:80])
    result = gn.judges.read_batch(path)
    assert (result.kept, result.lost, result.foreign) == (2, 3, 2)
    assert "; 3 requests came to nothing (most often: " in str(result)
    assert "; 2 lines are no results of gnomon's" in str(result)
    scores = gn.score(ts, spec(chat))
    assert chat.answered == 5
    assert scores.segments[0, [4, 0, 6]].tolist() == [4, 0, 6]
    again = gn.judges.read_batch(path)
    assert (again.kept, again.known) == (0, 2)


def test_a_batch_that_takes_no_schemas_is_written_without_next_time(
    chat: Chat, tmp_path: Path
) -> None:
    ts = sets(s=["text 1"])
    for structured in (True, False):
        with planned_requests() as plan:
            gn.score(ts, spec(chat))
        plan.write_batches(tmp_path / "requests.jsonl")
        (request,) = read(tmp_path / "requests.jsonl")
        assert ("response_format" in request["body"]) is structured
        result = answered([request])
        if structured:
            said = {"error": {"message": "response_format is not supported"}}
            result[0]["response"] = {"status_code": 400, "body": said}
        told = gn.judges.read_batch(write(tmp_path / "results.jsonl", result))
        assert told.format_refused is structured
        assert ("no JSON schema" in str(told)) is structured
    scores = gn.score(ts, spec(chat))
    said = dict(scores.signature.fields)
    assert (said["answers"], said["schema"]) == ("batch-1", "no")
    assert chat.bodies == []


def test_a_file_of_other_requests_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "other.jsonl", [{"custom_id": "1", "response": {}}])
    with pytest.raises(FormatError, match="no result of a request that gnomon wrote"):
        gn.judges.read_batch(path)


def test_a_file_of_requests_holds_one_model_and_no_more_than_servers_take(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon.judges.planned._MOST_LINES", 2)
    with planned_requests() as plan:
        gn.score(sets(s=["a", "b", "c"]), [spec(chat), spec(chat).replace("'m'", "'n'")])
    written = plan.write_batches(tmp_path / "r.jsonl")
    assert [(path.name, model, n) for path, model, n in written] == [
        ("r-1.jsonl", "m", 2), ("r-2.jsonl", "m", 1), ("r-3.jsonl", "n", 2), ("r-4.jsonl", "n", 1),
    ]  # fmt: skip
    for path, model, _ in written:
        assert {request["body"]["model"] for request in read(path)} == {model}


def test_nothing_to_ask_writes_no_file(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *_DATA, "-m", "chrf", "--batch-write", "r.jsonl"]) == UsageError.exit_code
    assert "no request is left to be written" in capsys.readouterr().err
    assert not Path("r.jsonl").exists()
    both = ["--batch-write", "r.jsonl", "--dry-run"]
    assert main(["score", *_DATA, "-m", spec(chat), *both]) == UsageError.exit_code
