"""Published prompts in rubrics: the messages that are sent are those that GEMBA sends."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from tests.metrics.judges.published_prompts import copy_of_gemba, published_program
from tests.metrics.judges.test_metric import spec

import gnomon as gn
from gnomon.judges import find_rubric
from gnomon.judges.client import ChatAnswer
from gnomon.judges.plain_replies import errors_in, number_in
from gnomon.judges.replies import penalised, read_reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.metrics.judges.chat_server import Chat

_SOURCE, _OUTPUT, _REFERENCE = "A cat {sat}.", "Kočka ```seděla```.", 'Jedna "kočka" seděla.'
_ERRORS = 'Major:\nno-error\nMinor:\nstyle/awkward - "seděla"'
#: what the places of the published prompts hold here, and what rubrics call them
_PLACES = {
    "source_lang": ("English", "{source_language}"),
    "target_lang": ("Czech", "{target_language}"),
    "source_seg": (_SOURCE, "{source}"),
    "target_seg": (_OUTPUT, "{candidate}"),
    "reference_seg": (_REFERENCE, "{reference}"),
    "error_spans": (_ERRORS, "{answer}"),
}


def one_output() -> gn.TestSet:
    return gn.TestSet.from_lists(
        {"s": [_OUTPUT]}, [_REFERENCE], sources=[_SOURCE], language_pair="en-cs"
    )


def published_turns(copy: Path) -> dict[str, list[list[dict[str, str]]]]:
    """The messages of each turn of the published programs, with their places."""
    prompts = published_program(copy, "prompt.py")["prompts"]
    mqm = published_program(copy, "gemba_mqm_utils.py")
    esa = published_program(copy, "gemba_esa.py")
    made: dict[str, list[Any]] = {
        name.removeprefix("GEMBA-").lower(): [given["prompt"]] for name, given in prompts.items()
    }
    made["mqm"] = [mqm["TEMPLATE_GEMBA_MQM"]]
    made["esa"] = [esa[f"TEMPLATE_GEMBA_ESA_{turn}"] for turn in ("ERROR_SPANS", "RANKING")]
    return {
        name: [
            [{"role": "user", "content": turn}] if isinstance(turn, str) else turn for turn in turns
        ]
        for name, turns in made.items()
    }


def filled(text: str, number: int) -> str:
    """A published text with what its places hold (0), or with a rubric's places (1)."""
    return text.format(**{name: both[number] for name, both in _PLACES.items()})


def rubric_file(folder: Path, name: str, turns: list[list[dict[str, str]]]) -> str:
    """The published messages as a rubric."""
    *before, question = turns[0]
    kind = {"mqm": "errors", "esa": "errors-then-score"}.get(name, "score")
    keys: dict[str, object] = {
        "answer": kind,
        "reply": "plain",
        "fences": False,
        "question": filled(question["content"], 1),
    }
    if before:
        keys["system"] = before[0]["content"]
    if len(turns) > 1:
        keys |= {"score_question": filled(turns[1][0]["content"], 1), "score_system": ""}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    lines += ["[penalties]", "counted = 5"]
    for shown, said in zip(before[1::2], before[2::2], strict=True):
        lines.append("[[shots]]")
        texts = {"question": shown["content"], "answer": said["content"]}
        # the texts of its places stand in the question already
        texts |= {"source": "", "candidate": ""}
        lines += [f"{key} = {json.dumps(value)}" for key, value in texts.items()]
    file = folder / f"{name}.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return str(file)


def sent(chat: Chat, rubric: str) -> list[list[dict[str, str]]]:
    """The messages about one output, turn after turn."""
    chat.bodies.clear()
    chat.reply = lambda body: "70" if "Score" in body["messages"][-1]["content"] else _ERRORS
    gn.score(one_output(), spec(chat, rubric))
    return [
        body["messages"]
        for body in chat.bodies
        if "test of the connection" not in body["messages"][-1]["content"]
    ]


def test_a_rubric_with_the_published_words_sends_the_published_messages(
    chat: Chat, tmp_path: Path
) -> None:
    published = published_turns(copy_of_gemba())
    assert len(published) == 10
    for name, turns in published.items():
        messages = sent(chat, rubric_file(tmp_path, name, turns))
        assert [[message["role"] for message in turn] for turn in messages] == [
            [message["role"] for message in turn] for turn in turns
        ]
        # but for white space at the ends
        assert [[message["content"].strip() for message in turn] for turn in messages] == [
            [filled(message["content"], 0).strip() for message in turn] for turn in turns
        ]


# What plain answers say, beside what the published programs read of them.


def test_numbers_are_read_as_the_published_programs_read_them() -> None:
    theirs = published_program(copy_of_gemba(), "prompt.py")
    number = theirs["validate_number"]
    for n in range(-1, 103):
        for text in (f"{n}", f"Score: {n}", f" {n}.", f"{n}/100", f"I say {n}%", f"['{n}']"):
            if n >= 0:  # they read "-1" as 1
                assert number_in(text, 0, 100) == number(text)
    for text in ("", "good", "85 or 90", "1 of 2 of 3"):
        assert number(text) is None
        assert number_in(text, 0, 100) is None


def test_lists_of_errors_cost_what_the_published_program_makes_of_them(tmp_path: Path) -> None:
    copy = copy_of_gemba()
    theirs = published_program(copy, "gemba_mqm_utils.py")["parse_mqm_answer"]
    rubric = find_rubric(rubric_file(tmp_path, "mqm", published_turns(copy)["mqm"]))
    draw = random.Random(5)
    kinds = ("accuracy/omission", "fluency/grammar", "style/awkward", "non-translation", "other")
    for _ in range(500):
        lines = []
        for severity in ("Critical:", "Major:", "Minor:"):
            errors = [f'{draw.choice(kinds)} - "w{n}"' for n in range(draw.choice((0, 0, 1, 2, 7)))]
            lines += [severity, *(errors or ["no-error"])]
        text = "\n".join(lines)
        score = theirs(text)
        expected = -(100 - score) / 4 if "normalize" in theirs.__code__.co_varnames else score
        assert read_reply(ChatAnswer(text), rubric).score == expected
    assert read_reply(ChatAnswer("no-error"), rubric).score == 0


def test_errors_of_a_list_have_sides_kinds_and_words() -> None:
    listed = errors_in(
        "Here they are.\nCritical:\n- non-translation\nMajor: no-error\n"
        'Minor:\n1. accuracy/omission – "the old"\nfluency/grammar: „wäre“\nstyle/awkward'
    )
    assert listed == [
        ("critical", "non-translation", "", False),
        ("minor", "accuracy/omission", "the old", True),
        ("minor", "fluency/grammar", "wäre", False),
        ("minor", "style/awkward", "", False),
    ]
    assert penalised((), find_rubric("gemba-mqm")).score == 0
