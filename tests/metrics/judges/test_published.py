"""Published prompts: the messages that are sent are those that GEMBA sends."""

from __future__ import annotations

import hashlib
import json
import random
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.metrics.judges.published_prompts import (
    copy_of_gemba,
    in_other_words,
    published_program,
)
from tests.metrics.judges.test_metric import spec

import gnomon as gn
from gnomon.core.errors import FormatError, MissingFileError, UnknownNameError, UsageError
from gnomon.metrics.judges import find_rubric, keep_prompts, published
from gnomon.metrics.judges.client import ChatAnswer
from gnomon.metrics.judges.plain_replies import class_in, errors_in, number_in, stars_in
from gnomon.metrics.judges.replies import penalised, read_reply

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat

_RUBRICS = ("da", "sqm", "stars", "classes", "mqm", "esa")
_SOURCE, _OUTPUT, _REFERENCE = "A cat {sat}.", "Kočka ```seděla```.", 'Jedna "kočka" seděla.'
_ERRORS = 'Major:\nno-error\nMinor:\nstyle/awkward - "seděla"'
#: SHA-256 of all messages about these texts, made by the published programs
_MESSAGES = "4cffd849988562441e1e5a6f51df431835b21fdf2a925eeef9da540b77932d9b"


def one_output() -> gn.TestSet:
    return gn.TestSet.from_lists(
        {"s": [_OUTPUT]}, [_REFERENCE], sources=[_SOURCE], language_pair="en-cs"
    )


def sent(chat: Chat, name: str, *, references: bool = False) -> list[list[dict[str, str]]]:
    """The messages about one output, turn after turn."""
    chat.bodies.clear()
    chat.reply = lambda body: "70" if "Score" in body["messages"][-1]["content"] else _ERRORS
    more = {"references": True} if references else {}
    gn.score(one_output(), spec(chat, f"gemba-{name}", variant="published", **more))
    return [
        body["messages"]
        for body in chat.bodies
        if "test of the connection" not in body["messages"][-1]["content"]
    ]


def published_messages(path: Path) -> dict[str, list[list[dict[str, str]]]]:
    """What the published programs make of the same output; one message is one of a user."""
    texts = {
        "source_lang": "English",
        "target_lang": "Czech",
        "source_seg": _SOURCE,
        "target_seg": _OUTPUT,
        "reference_seg": _REFERENCE,
        "error_spans": _ERRORS,
    }
    prompts = published_program(path, "prompt.py")["prompts"]
    mqm = published_program(path, "gemba_mqm_utils.py")
    esa = published_program(path, "gemba_esa.py")
    fill = mqm["apply_template"]
    made: dict[str, list[Any]] = {
        name.removeprefix("GEMBA-"): [fill(given["prompt"], texts)]
        for name, given in prompts.items()
    }
    made["mqm"] = [fill(mqm["TEMPLATE_GEMBA_MQM"], texts)]
    made["esa"] = [
        fill(esa[f"TEMPLATE_GEMBA_ESA_{turn}"], texts) for turn in ("ERROR_SPANS", "RANKING")
    ]
    return {
        name.lower(): [
            [{"role": "user", "content": turn}] if isinstance(turn, str) else turn for turn in turns
        ]
        for name, turns in made.items()
    }


def test_the_messages_that_are_sent_are_the_published_ones(chat: Chat) -> None:
    copy = copy_of_gemba()
    assert all(keep_prompts(copy).values())
    of_gnomon = {name: sent(chat, name) for name in _RUBRICS}
    of_gnomon |= {f"{name}_ref": sent(chat, name, references=True) for name in _RUBRICS[:4]}
    assert of_gnomon == published_messages(copy)
    assert [len(turns) for turns in of_gnomon.values()] == [1] * 5 + [2] + [1] * 4
    assert [len(of_gnomon[name][0]) for name in ("mqm", "esa", "da")] == [8, 8, 1]
    del of_gnomon["da_ref"]  # of which two forms were published
    packed = json.dumps(of_gnomon, sort_keys=True, ensure_ascii=True).encode()
    assert hashlib.sha256(packed).hexdigest() == _MESSAGES


# What plain answers say, beside what the published programs read of them.


def test_numbers_stars_and_classes_are_read_as_the_published_programs_read_them() -> None:
    theirs = published_program(copy_of_gemba(), "prompt.py")
    number, stars = theirs["validate_number"], theirs["validate_stars"]
    for n in range(-1, 103):
        for text in (f"{n}", f"Score: {n}", f" {n}.", f"{n}/100", f"I say {n}%", f"['{n}']"):
            if n >= 0:  # they read "-1" as 1
                assert number_in(text, 0, 100) == number(text)
    for text in ("", "good", "85 or 90", "1 of 2 of 3"):
        assert number(text) is None
        assert number_in(text, 0, 100) is None
    words = ("one", "two", "three", "four", "five")
    for n, word in enumerate(words, start=1):
        for text in (f"{n}", f"{n} stars", f"{word.title()} stars", word, "★" * n, "*" * n):
            assert stars_in(text, 1, 5) == stars(text) == n
    for text in ("six", "0 stars", "6", "no stars", "two or three stars", "★★ (3 stars)"):
        assert stars(text) is None
        assert stars_in(text, 1, 5) is None
    keep_prompts(copy_of_gemba())
    rubric = find_rubric("gemba-classes", variant="published")
    for name, score in rubric.classes.items():
        for text in (name, f"Class: {name.upper()}", f'"{name}".'):
            assert read_reply(ChatAnswer(text), rubric).score == score
            assert theirs["parse_classes"](text, list(rubric.classes)) == score
    assert len(rubric.classes) == 5


def test_lists_of_errors_cost_what_the_published_program_makes_of_them() -> None:
    copy = copy_of_gemba()
    theirs = published_program(copy, "gemba_mqm_utils.py")["parse_mqm_answer"]
    keep_prompts(copy)
    rubric = find_rubric("gemba-mqm", variant="published")
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


# Where the text comes from.


def test_without_a_copy_the_user_reads_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path))
    monkeypatch.setattr(published, "_PACKAGE", "no_such_package")
    with pytest.raises(UsageError, match="gnomon setup prompts FILE"):
        find_rubric("gemba-da", variant="published")


def test_a_copy_is_read_from_a_file_a_folder_or_a_wheel_and_nothing_of_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = in_other_words(monkeypatch, tmp_path)
    file.write_text(file.read_text() + f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    wheel = tmp_path / "gemba.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(file, "gemba/prompt.py")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "broken.py").write_text("def (")
    (tmp_path / "folder" / "all.py").write_text(file.read_text())
    for path in (file, wheel, tmp_path / "folder"):
        monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / f"cache of {path.name}"))
        assert set(keep_prompts(path).values()) == {True}
        rubric = find_rubric("gemba-mqm", variant="published")
        assert (rubric.question[:9], len(rubric.shots)) == ("Words of ", 3)
    assert not (tmp_path / "ran").exists()


def test_what_was_changed_is_not_what_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = in_other_words(monkeypatch, tmp_path)
    file.write_text(file.read_text().replace("Words of da.", "Words of da,"))
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    kept = keep_prompts(file)
    assert [name for name, complete in kept.items() if not complete] == ["gemba-da"]
    with pytest.raises(UsageError, match="gemba-da"):
        find_rubric("gemba-da", variant="published")
    published.prompts_file().write_text('["altered"')
    published._known_texts.cache_clear()
    with pytest.raises(UsageError, match="gemba-mqm"):
        find_rubric("gemba-mqm", variant="published")


def test_what_is_no_copy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 'words'")
    with pytest.raises(FormatError, match="no string of the published prompts"):
        keep_prompts(tmp_path / "other.py")
    with pytest.raises(MissingFileError, match="pip download"):
        keep_prompts(tmp_path / "nowhere.whl")
    with pytest.raises(UnknownNameError, match="gemba-esa"):
        find_rubric("gemba-eso", variant="published")
    with pytest.raises(UsageError, match="shows no reference"):
        find_rubric("gemba-mqm", references=True, variant="published")


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
    assert class_in("not good", ("good", "bad")) == "good"
    assert class_in("good or bad", ("good", "bad")) is None
    assert penalised((), find_rubric("gemba-mqm")).score == 0
