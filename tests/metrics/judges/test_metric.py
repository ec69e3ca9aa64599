"""Judges as metrics: scores, what is missing, spans, repeats, calibration, composition."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, SpecError, UsageError
from gnomon.judges import BoundMarkingJudge, ChatJudge
from gnomon.metrics import parse
from gnomon.metrics.error_marks import read_every_mark

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat


def fenced(body: dict, name: str = "candidate") -> str:
    """A text as the model sees it, between its tags."""
    found = re.search(
        rf"<{name}-(\w+)>\n(.*)\n</{name}-\1>", body["messages"][-1]["content"], re.DOTALL
    )
    return found[2] if found else ""


def sets(**systems: list[str]) -> gn.TestSet:
    n = len(next(iter(systems.values())))
    return gn.TestSet.from_lists(
        systems,
        [f"reference {i}" for i in range(n)],
        sources=[f"source {i}" for i in range(n)],
        language_pair="en-cs",
    )


def spec(chat: Chat, rubric: str = "gemba-da", **options: object) -> str:
    more = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"judge('{rubric}', model='m', endpoint='{chat.url}'{more})"


def numbers(body: dict) -> str:
    """A judge that believes what candidates say of themselves: "good 70"."""
    found = re.search(r"(\d+)", fenced(body))
    return json.dumps({"score": int(found[1])}) if found else "I cannot say"


def test_a_judge_scores_and_its_signature_says_who_answered(chat: Chat) -> None:
    chat.reply = numbers
    found = gn.score(sets(a=["good 70", "bad 10"], b=["good 70", "fine 50"]), spec(chat))
    assert found.segments.tolist() == [[70, 10], [70, 50]]
    assert found.system.tolist() == [40, 60]
    assert notes(found.notices) == ()
    said = dict(found.signature.fields)
    assert (said["answers"], said["system"], said["schema"]) == ("fake-1", "fp_1", "yes")
    assert re.fullmatch("[0-9a-f]{16}", said["rubric"])
    assert "English into Czech" in chat.bodies[-1]["messages"][-1]["content"]
    assert (chat.answered, chat.most) == (3, 1)  # the first outputs are equal
    again = gn.score(sets(a=["good 70", "bad 10"], b=["good 70", "fine 50"]), spec(chat))
    assert str(again.signature) == str(found.signature)
    assert chat.answered == 3


def test_what_says_nothing_is_missing_and_counted_and_never_zero(chat: Chat) -> None:
    said = {"a": '{"score": 80}', "b": "well", "c": None, "d": '{"score": 0}'}
    chat.reply = lambda body: said[fenced(body)]
    found = gn.score(sets(s=["a", "b", "c", "d"]), spec(chat))
    assert np.isnan(found.segments[0]).tolist() == [False, True, True, False]
    assert found.system.tolist() == [40]
    (notice,) = notes(found.notices)
    assert "of 4 answers 1 were refused and 1 cannot be read: they are left out" in notice
    assert "2 outputs have no score" in notice


def test_mqm_scores_are_negated_penalties_and_errors_become_spans(chat: Chat) -> None:
    listed = [
        {
            "quote": "katze",
            "side": "translation",
            "category": "mistranslation",
            "severity": "major",
        },
        {"quote": "old", "side": "source", "category": "omission", "severity": "minor"},
        {"quote": "nowhere", "side": "translation", "category": "style", "severity": "minor"},
    ]
    chat.reply = lambda body: json.dumps({"errors": listed if fenced(body) else []})
    ts = gn.TestSet.from_lists({"s": ["Die Katze", ""]}, ["x", "y"], sources=["The old cat", "z"])
    found = gn.score(ts, spec(chat, "gemba-mqm"))
    assert found.segments.tolist() == [[-7, 0]]
    assert found.higher_is_better
    bound = parse(spec(chat, "gemba-mqm")).bind(ts)
    assert "spans" in bound.can
    spans = bound.error_spans(ts.batch())
    assert [(s.segment, s.side, s.start, s.end, s.severity, s.score) for s in spans] == [
        (0, "source", 4, 7, "minor", 1),
        (0, "candidate", 4, 9, "major", 5),
    ]
    assert {(s.system, s.rater, s.kind, s.by) for s in spans} == {
        ("s", parse(spec(chat, "gemba-mqm")).spec, "gemba-mqm", "judge")
    }
    assert "1 of 3 quoted errors do not stand in the texts" in notes(found.notices)[0]


def test_an_output_without_a_readable_answer_is_not_free_of_errors(chat: Chat) -> None:
    listed = [{"quote": "b", "side": "translation", "category": "", "severity": "minor"}]
    said = {"a": '{"errors": []}', "b": json.dumps({"errors": listed}), "c": "?", "d": None}
    chat.reply = lambda body: said[fenced(body)]
    (found,) = read_every_mark(sets(s=list(said)), None, spec(chat, "gemba-mqm"))
    assert found.judged.tolist() == [[[True, True, False, False]]]
    assert [place.segment for place in found.spans] == [1]
    assert found.by == "judge"


def test_only_judges_of_errors_mark_them(chat: Chat) -> None:
    bound = parse(spec(chat)).bind(sets(s=["a"]))
    assert "spans" not in bound.can
    assert bound.max_calls == 10_000
    assert "spans" not in parse(spec(chat)).can
    assert "spans" in parse(spec(chat, "gemba-esa")).can
    with pytest.raises(UsageError, match="'judge' is no metric that marks errors; take one of th"):
        bound.error_spans(sets(s=["a"]).batch())
    assert isinstance(parse(spec(chat, "gemba-esa")).bind(sets(s=["a"])), BoundMarkingJudge)


def test_repetitions_are_averaged_and_spans_say_how_many_mark_them(chat: Chat) -> None:
    def reply(body: dict) -> str:
        first = body["seed"] == 1
        error = {"quote": "cat", "side": "translation", "category": "x", "severity": "minor"}
        return json.dumps({"errors": [error] if first else [], "score": 60 if first else 90})

    chat.reply = reply
    judge = spec(chat, "gemba-esa", repeats=3, temperature=1.0)
    ts = sets(s=["a cat", "cat"])
    found = gn.score(ts, judge)
    assert found.segments.tolist() == [[80, 80]]
    assert sorted({body["seed"] for body in chat.bodies}) == [1, 2, 3]
    assert "own noise" in notes(found.notices)[0]
    spans = parse(judge).bind(ts).error_spans(ts.batch())  # type: ignore[attr-defined]  # it marks errors
    assert [(s.segment, s.start, round(s.confidence, 3)) for s in spans] == [
        (0, 2, 0.333),
        (1, 0, 0.333),
    ]


def two_turns(body: dict) -> str:
    """Errors first; then a score that falls with the errors that are shown."""
    shown = fenced(body, "errors")
    if shown:
        return json.dumps({"score": 100 - 30 * (shown != "(none)") * len(shown.splitlines())})
    words = [one for one in fenced(body).split() if one.startswith("bad")]
    listed = [
        {"quote": one, "side": "translation", "category": "", "severity": "major"} for one in words
    ]
    return json.dumps({"errors": listed})


def test_esa_asks_for_errors_and_then_for_a_score_given_these(chat: Chat) -> None:
    chat.reply = two_turns
    ts = sets(s=["fine", "bad1", "bad1 bad2", "fine"])
    judge = spec(chat, "gemba-esa")
    found = gn.score(ts, judge)
    assert found.segments.tolist() == [[100, 70, 40, 100]]
    # equal outputs of other segments have other sources: eight questions, none of them twice
    assert (chat.answered, chat.most) == (8, 1)
    kinds = [sorted(json.loads(json.dumps(body["response_format"]))["json_schema"]["schema"]
                    ["properties"]) for body in chat.bodies[1:]]  # fmt: skip
    assert sorted(kinds) == [["errors"]] * 4 + [["score"]] * 4
    assert len(parse(judge).bind(ts).error_spans(ts.batch())) == 3  # type: ignore[attr-defined]  # it marks errors
    assert chat.answered == 8  # all of it is remembered
    bound = parse(judge).bind(ts)
    assert bound.cost(ts.batch()) == 8


def test_the_cost_of_both_turns_is_known_before_the_first(chat: Chat) -> None:
    chat.reply = two_turns
    ts = sets(s=["fine", "bad1", "bad1 bad2"])
    with pytest.raises(UsageError, match=r"6 answers of 'm'.*more than the 5 that are allowed"):
        gn.score(ts, spec(chat, "gemba-esa", max_calls=5))
    assert chat.bodies == []
    chat.dies_after, chat.dies_by = 4, 404  # who answers, and the errors of all outputs
    with pytest.raises(gn.GnomonError, match="status 404"):
        gn.score(ts, spec(chat, "gemba-esa", concurrency=1))
    assert chat.answered == 3
    chat.dies_after = None
    more = sets(s=["fine", "bad1", "bad1 bad2", "new"])
    with pytest.raises(UsageError, match=r"5 answers of 'm'.*more than the 4 that are allowed"):
        gn.score(more, spec(chat, "gemba-esa", max_calls=4))  # 3 scores, and both turns of one
    assert chat.answered == 3
    assert gn.score(more, spec(chat, "gemba-esa", max_calls=5)).segments.shape == (1, 4)
    assert (chat.answered, chat.most) == (8, 1)


def test_a_second_turn_that_cannot_be_read_leaves_no_score_and_no_errors(chat: Chat) -> None:
    chat.reply = lambda body: "hm" if "bad1" in fenced(body, "errors") else two_turns(body)
    ts = sets(s=["fine", "bad1"])
    found = gn.score(ts, spec(chat, "gemba-esa"))
    assert np.isnan(found.segments[0]).tolist() == [False, True]
    assert "of 2 answers 1 cannot be read" in notes(found.notices)[0]
    bound = parse(spec(chat, "gemba-esa")).bind(ts)
    assert bound.answered(ts.batch()).tolist() == [[True, False]]  # type: ignore[attr-defined]  # a judge


def test_equal_repetitions_are_no_measure_of_noise(chat: Chat) -> None:
    found = gn.score(sets(s=["a", "b"]), spec(chat, repeats=2))
    assert "all 2 repetitions gave equal scores" in notes(found.notices)[0]


def test_a_change_of_the_system_behind_the_name_is_told(chat: Chat) -> None:
    ts = sets(s=["a", "b"])
    gn.score(ts, spec(chat))
    chat.served = "fake-2"
    found = gn.score(sets(s=["a", "b", "c"]), spec(chat))
    assert (
        "answers came from other systems than fake-1 fp_1, too: fake-2 fp_1 (1)"
        in notes(found.notices)[0]
    )
    assert dict(found.signature.fields)["answers"] == "fake-1"


def test_references_are_shown_where_they_are_asked_for(chat: Chat) -> None:
    gn.score(sets(s=["a"]), spec(chat))
    assert "reference 0" not in json.dumps(chat.bodies)
    gn.score(sets(s=["a"]), spec(chat, references=True))
    assert fenced(chat.bodies[-1], "reference") == "reference 0"
    bare = gn.TestSet.from_lists({"s": ["a"]}, ["r"])
    with pytest.raises(DataError, match="needs sources"):
        gn.score(bare, spec(chat))
    assert gn.score(bare, spec(chat, "adequacy")).system.tolist() == [50]


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("judge", "takes a rubric first"),
        ("judge(bleu, model='m')", "takes a rubric first"),
        ("judge('gemba-da')", "model's name"),
        ("judge('gemba-da', model='m', repeats=0)", "repeats is 0"),
        ("judge('gemba-da', model='m', endpoint='http://u:p@h/v1')", "user name"),
        ("judge('gemba-da', model='m', timeout=0)", "timeout is 0"),
        ("judge('gemba-da', model='m', repeat=2)", "did you mean 'repeats'"),
    ],
)
def test_a_spec_that_makes_no_judge_says_why(given: str, match: str) -> None:
    with pytest.raises((SpecError, UsageError), match=match):
        parse(given)


def test_a_spec_shows_what_changes_scores_and_nothing_else() -> None:
    given = "judge('gemba-da', model='m', repeats=3, concurrency=2, max_calls=9, timeout=5)"
    assert parse(given).spec == "judge('gemba-da', model='m', repeats=3)"
    assert parse(parse(given).spec) == parse(given)


def test_servers_elsewhere_are_refused_before_any_text_is_read() -> None:
    judge = "judge('gemba-da', model='m', endpoint='https://judge.invalid/v1')"
    with pytest.raises(UsageError, match=r"sent to judge\.invalid"):
        gn.score(sets(s=["a"]), judge)
    pairs = "judge('pairwise', model='m')"
    with pytest.raises(UsageError, match="gnomon compare"):
        gn.score(sets(s=["a"]), pairs)


def test_masking_asks_for_no_more_than_is_allowed(chat: Chat) -> None:
    def reply(body: dict) -> str:  # how many words of the reference the candidate has
        words, wanted = (set(fenced(body, name).split()) for name in ("candidate", "reference"))
        return json.dumps({"score": 100 * len(words & wanted) / len(wanted)})

    chat.reply = reply
    outputs = {"a": ["the red cat sat down", "a dog ran"], "b": ["the cat sat", "the dogs ran"]}
    references = ["the red cat sat there", "a dog ran off"]
    ts = gn.TestSet.from_lists(outputs, references, sources=["s", "t"], language_pair="en")
    names = {"re:cat": r"\bcats?\b", "re:dog": r"\bdogs?\b"}
    options = {"features": list(names), "pattern": {k[3:]: v for k, v in names.items()}}
    few = spec(chat, references=True, max_calls=5)
    with pytest.raises(UsageError, match="5 that are allowed"):
        gn.muler(ts, few, **options)
    assert chat.answered <= 5
    found = gn.muler(ts, spec(chat, references=True), **options)
    assert {row["feature"] for row in found.rows} >= {"re:cat", "re:dog"}
    assert chat.most == 1
    asked = chat.answered
    gn.muler(ts, spec(chat, references=True), **options)
    assert chat.answered == asked


def test_bmx_of_a_judge_asks_each_perturbed_text_once(chat: Chat) -> None:
    chat.reply = lambda body: json.dumps({"score": min(100, 10 * len(fenced(body).split()))})
    ts = sets(a=["the red cat", "a dog"])
    found = gn.score(ts, f"bmx({spec(chat)}, explainer='erasure')")
    assert np.isfinite(found.segments).all()
    asked = chat.answered
    assert chat.most == 1
    gn.score(ts, f"bmx({spec(chat)}, explainer='erasure')")
    assert chat.answered == asked


def test_the_errors_that_a_judge_marks_explain_its_scores(chat: Chat) -> None:
    listed = [
        {"quote": "red cat", "side": "translation", "category": "", "severity": "major"},
        {"quote": "cat", "side": "translation", "category": "", "severity": "minor"},
        {"quote": "source", "side": "source", "category": "", "severity": "minor"},
    ]
    chat.reply = lambda _: json.dumps({"errors": listed})
    ts = sets(a=["the red cat sat"])
    judge = spec(chat, "gemba-mqm")
    found = gn.bmx.explanations(ts, judge, "own", sides="both")
    assert found.sides[0].importance.tolist() == [0, -2.5, -3.5, 0]
    assert found.sides[1].importance.tolist() == [-1, 0]
    with pytest.raises(UsageError, match="marks none"):
        gn.bmx.explanations(ts, spec(chat), "own")


def test_scores_are_carried_over_to_peoples(chat: Chat, tmp_path: Path) -> None:
    chat.reply = numbers
    anchors = tmp_path / "people.tsv"
    rows = [("s", f"text {n}", 2 * n + 5) for n in (10, 20, 30, 40)]
    lines = ["source\tcandidate\tscore", *("\t".join(map(str, row)) for row in rows)]
    anchors.write_text("\n".join(lines) + "\n", encoding="utf-8")
    judge = spec(chat, calibration=str(anchors))
    found = gn.score(sets(s=["text 25", "text 35"]), judge)
    assert found.segments[0].tolist() == pytest.approx([55, 75])
    assert "calibrated: human = 5 +2 * judge, by 4 scores" in notes(found.notices)[-1]
    assert "calibration='people.tsv'" in str(found.signature)
    assert re.fullmatch("[0-9a-f]{16}", dict(found.signature.fields)["anchors"])
    anchors.write_text(
        "\n".join([lines[0], *reversed([f"s\ttext {n}\t{90 - n}" for n in (1, 2, 3)])])
    )
    with pytest.raises(DataError, match="fall as people's rise"):
        gn.score(sets(s=["text 25"]), judge)
    anchors.write_text("candidate\tscore\nx\t1\n")
    with pytest.raises(FormatError, match=r"people\.tsv:1: lacks the column 'source'"):
        gn.score(sets(s=["text 25"]), judge)


def test_a_judge_is_pickled_without_its_connections(chat: Chat) -> None:
    import pickle

    judge = parse(spec(chat))
    assert isinstance(judge, ChatJudge)
    assert pickle.loads(pickle.dumps(judge)) == judge  # noqa: S301  # made here


def test_a_segment_without_a_reference_has_no_score(chat: Chat) -> None:
    ts = gn.TestSet.from_lists({"s": ["a", "b"]}, [["r"], [None]])
    found = gn.score(ts, spec(chat, "adequacy"))
    assert found.segments[0, 0] == 50
    assert math.isnan(found.segments[0, 1])
