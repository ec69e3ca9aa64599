"""Several judges as one metric: mean, scales, what is missing, budgets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.metrics.judges.chat_server import Chat, serving
from tests.metrics.judges.test_metric import fenced, sets, spec
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import SpecError, UsageError
from gnomon.judges import ChatJudge, JudgePanel, planned_requests
from gnomon.metrics import parse
from gnomon.metrics.titles import metric_titles

if TYPE_CHECKING:
    from pathlib import Path

    from tests.metrics.judges.chat_server import Reply


def panel(chat: Chat, models: str = "abc", rubric: str = "gemba-da", **options: object) -> str:
    """A panel of models by one rubric."""
    judges = ", ".join(spec(chat, rubric).replace("model='m'", f"model='{m}'") for m in models)
    more = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"judge([{judges}]{more})"


def by_model(scores: dict[str, dict[str, object]]) -> Reply:
    """Answers by model and candidate; None: words that hold no score."""

    def reply(body: dict) -> str:
        score = scores[body["model"]][fenced(body)]
        return "well" if score is None else json.dumps({"score": score})

    return reply


_SCORES: dict[str, dict[str, object]] = {
    "a": {"x": 10, "y": 50, "z": None},
    "b": {"x": 20, "y": 50, "z": 30},
    "c": {"x": 60, "y": 80, "z": 90},
}


def test_a_panel_is_the_mean_of_its_judges_where_all_have_a_score(chat: Chat) -> None:
    chat.reply = by_model(_SCORES)
    scores = gn.score(sets(s=["x", "y", "z"]), panel(chat))
    assert scores.segments[0, :2].tolist() == [30, 60]
    assert np.isnan(scores.segments[0, 2])
    assert scores.system.tolist() == [45]
    assert "1 of 3 outputs have no score: not all 3 judges have one" in notes(scores.notices)[0]
    assert "of 3 answers 1 cannot be read" in notes(scores.notices)[1]
    assert chat.answered == 9


def test_sentences_of_comparisons_count_in_points_of_the_judge(chat: Chat) -> None:
    chat.reply = lambda body: json.dumps({"score": 20 + 60 * fenced(body).startswith("good")})
    texts = {"a": [f"good {n}" for n in range(40)], "b": [f"bad {n}" for n in range(40)]}
    for judge, title in ((spec(chat), "judge"), (panel(chat), "judge panel of 3")):
        verdict = gn.compare(sets(**texts), judge, resamples=50).verdict
        assert any(f"by 60.0 points of the {title} [" in str(said) for said in verdict), verdict


def test_rubrics_of_several_scales_are_carried_to_one(chat: Chat) -> None:
    def reply(body: dict) -> str:
        if '"errors"' in body["messages"][0]["content"]:
            error = {"quote": "", "side": "translation", "category": "", "severity": "major"}
            return json.dumps({"errors": [error]})
        return '{"score": 60}'

    chat.reply = reply
    rubrics = f"judge(['gemba-da', 'gemba-mqm'], model='m', endpoint='{chat.url}')"
    scores = gn.score(sets(s=["x"]), rubrics)
    assert scores.segments.tolist() == [[70]]  # 60, and -5 of -25 to 0
    assert scores.higher_is_better
    assert dict(scores.signature.fields)["scale"] == "0-100"


def test_a_signature_names_all_judges_and_who_answered(chat: Chat) -> None:
    scores = gn.score(sets(s=["x"]), panel(chat, "ab"))
    said = dict(scores.signature.fields)
    assert {"judge1", "judge2"} <= set(said)
    assert "answers=fake-1" in said["judge1"]
    assert "rubric=" in said["judge2"]
    made = parse(str(scores.signature))
    assert isinstance(made, JudgePanel)
    assert made == parse(panel(chat, "ab"))
    assert parse(made.spec) == made
    assert [judge.model for judge in made.judges] == ["a", "b"]
    assert made.bind(sets(s=["x"])).max_calls == 20_000
    assert metric_titles([made.spec]) == {made.spec: "judge panel of 2"}
    assert JudgePanel((ChatJudge("gemba-da", "a", chat.url), ChatJudge("gemba-da", "b", chat.url)))\
        == made  # fmt: skip


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("judge([])", "two judges or more; got 0"),
        ("judge(['gemba-da'], model='m')", "two judges or more; got 1"),
        ("judge(['gemba-da', 'gemba-da'], model='m')", "twice"),
        ("judge(['gemba-da', bleu], model='m')", "a panel is of judges"),
        ("judge(['gemba-da', 'gemba-sqm'])", "model's name"),
        ("judge(['gemba-da', 'gemba-sqm'], model='m', modl='x')", "did you mean 'model'"),
        (
            "judge([judge('gemba-da', model='a'), judge('gemba-da', model='b')], model='m')",
            "options of their own",
        ),
        ("judge(['gemba-da', 'gemba-sqm' model='m')", "expected ',' or ']'"),
        ("bleu([chrf, ter])", "takes no list first"),
    ],
)
def test_a_list_that_makes_no_panel_says_why(given: str, match: str) -> None:
    with pytest.raises((SpecError, UsageError), match=match):
        parse(given)


def test_judges_that_cannot_be_combined_are_refused_before_they_are_asked(
    chat: Chat, tmp_path: object
) -> None:
    ts = sets(s=["x"])
    mixed = f"judge(['gemba-da', 'pairwise'], model='m', endpoint='{chat.url}')"
    with pytest.raises(UsageError, match="make no panel"):
        gn.score(ts, mixed)
    one = spec(chat, calibration="people.tsv")
    with pytest.raises(UsageError, match="calibrate all, or none"):
        gn.score(ts, f"judge([{one}, {spec(chat, 'gemba-sqm')}])")
    with pytest.raises(UsageError, match="make no panel"):
        gn.compare(sets(x=["a"], y=["b"]), panel(chat, rubric="pairwise"))
    assert chat.bodies == []


def test_the_budget_of_each_judge_holds_before_the_first_is_asked(chat: Chat) -> None:
    ts = sets(s=["x", "y", "z"])
    judges = f"judge([{spec(chat)}, {spec(chat, 'gemba-sqm', max_calls=2)}])"
    with pytest.raises(UsageError, match=r"3 answers of 'm'.*more than the 2 that are allowed"):
        gn.score(ts, judges)
    assert chat.bodies == []
    gn.score(sets(s=["x", "y"]), judges)
    assert chat.answered == 4
    assert gn.score(sets(s=["x", "y"]), judges).segments.shape == (1, 2)
    assert chat.answered == 4


def test_a_panel_asks_each_server_as_it_wants_to_be_asked(chat: Chat) -> None:
    """One server is busy and fails now and then; no more questions than allowed are under way."""
    with serving(Chat(reply=lambda _: '{"score": 10}')) as other:
        chat.problems = [429, 503, "drop", 500]
        chat.headers = {"retry-after-ms": "1"}
        judges = f"judge([{spec(chat, concurrency=2)}, {spec(other, concurrency=1)}])"
        ts = sets(s=[f"text {n}" for n in range(12)])
        scores = gn.score(ts, judges)
        assert scores.system.tolist() == [30]
        assert (chat.answered, chat.most) == (12, 1)
        assert (other.answered, other.most) == (12, 1)
        assert chat.widest <= 2
        assert other.widest == 1


def test_a_dry_run_of_a_panel_lists_its_models(chat: Chat) -> None:
    with planned_requests() as plan:
        gn.score(sets(s=["x", "y"]), panel(chat, "ab"))
    assert [(row["model"], row["requests"]) for row in plan.finding("score").rows] == [
        ("a", 2),
        ("b", 2),
    ]
    assert chat.bodies == []


def test_methods_of_single_judges_take_those_of_a_panel_one_by_one(chat: Chat) -> None:
    result = gn.judges.reliability(sets(s=["x", "y"]), panel(chat, "ab"), injections=0)
    assert [row["metric"] for row in result.rows if row["measure"] == "score"] == [
        judge.spec
        for judge in parse(panel(chat, "ab")).judges  # type: ignore[attr-defined]  # a panel
    ]


# Agreement


def test_agreement_of_judges_is_what_plain_formulas_say(chat: Chat) -> None:
    draw = np.random.default_rng(3)
    truth = draw.normal(50, 10, (2, 40))
    scores = (truth + draw.normal(0, 6, (3, 2, 40))).round(1)
    names = [[f"{s} {i}" for i in range(40)] for s in "xy"]

    def reply(body: dict) -> str:
        system, segment = fenced(body).split()
        judge = "abc".index(body["model"])
        return json.dumps({"score": float(scores[judge, "xy".index(system), int(segment)])})

    chat.reply = reply
    ts = sets(x=names[0], y=names[1])
    result = gn.judges.reliability(ts, panel(chat), injections=0)
    flat = scores.reshape(3, -1)
    specs = [judge.spec for judge in parse(panel(chat)).judges]  # type: ignore[attr-defined]  # a panel
    rows = {(row["metric"], row["measure"], row["subject"]): row for row in result.rows}
    alpha = rows[panel(chat), "alpha", "all judges"]
    assert alpha["value"] == pytest.approx(gn.stats.krippendorff_alpha(flat))
    assert alpha["low"] < alpha["value"] < alpha["high"]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        level, r = (rows[specs[a], measure, specs[b]] for measure in ("level", "r"))
        assert level["value"] == pytest.approx((flat[a] - flat[b]).mean())
        assert r["value"] == pytest.approx(gn.stats.pearson(flat[a], flat[b]))
        assert r["low"] < r["value"] < r["high"]
    assert chat.answered == 240
    again = gn.judges.reliability(ts, specs, injections=0)
    assert [row["value"] for row in again.rows] == [row["value"] for row in result.rows]
    assert chat.answered == 240


def test_what_each_judge_of_a_panel_says_is_handed_on_by_its_name(
    chat: Chat, tmp_path: Path
) -> None:
    def reply(body: dict) -> str:
        score = _SCORES[body["model"]][fenced(body)]
        return json.dumps({"reasons": f"{body['model']} says so", "score": score})

    chat.reply = reply
    (tmp_path / "own.toml").write_text(
        'answer = "score"\nreasons = true\nquestion = "How good is {candidate}?"\n'
    )
    judges, ts = panel(chat, rubric=str(tmp_path / "own.toml")), sets(s=["x", "y", "z"])
    said = gn.score(ts, judges).remarks[0, 2]
    assert said["judge (b): score"] == "30"
    assert said["judge (c): reason"] == "c says so"
    assert json.loads(said["judge (c): answer"])["score"] == 90
    assert "judge (a): score" not in said  # it cannot be read
    assert "null" in said["judge (a): answer"]
    finding = gn.compare(sets(s=["x"], t=["y"]), judges, resamples=0)
    texts = {text.name: text.values for text in finding.exhibits[0].texts}
    assert (texts["s"]["judge (a): score"], texts["t"]["judge (c): score"]) == ("10", "80")
    assert chat.answered == 9


def test_judges_that_make_no_panel_are_refused_before_any_is_asked(chat: Chat) -> None:
    with pytest.raises(SpecError, match="twice"):
        gn.judges.reliability(sets(s=["x"]), [spec(chat), spec(chat)])
    assert chat.bodies == []
