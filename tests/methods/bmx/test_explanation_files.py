"""Explanations from elsewhere go wherever an explainer does: by hand, and against our own."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

import gnomon as gn
from gnomon import bmx
from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, MissingFileError, SpecError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.spans import ErrorSpan

NAN = float("nan")


@pytest.fixture
def ts() -> gn.TestSet:
    return gn.TestSet.from_lists(
        {"a": ["the old cat", "a dog"], "b": ["the cat", "a dog"]},
        ["the cat", "one dog"],
        sources=["el gato", "un perro"],
        language_pair="es-en",
    )


def written(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"file({str(path)!r})"


def _span(start: int, end: int, importance: float) -> dict[str, float]:
    return {"start": start, "end": end, "importance": importance}


def explained(
    ts: gn.TestSet, spec: str, metric: str = "chrf", *, sides: str = "candidate"
) -> list[list[float]]:
    """The importances of every output, both sides after each other."""
    found = bmx.explanations(ts, metric, spec, sides=sides)  # type: ignore[arg-type]  # plain strings
    values, offsets = found.both()
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def test_words_and_spans_are_explanations_of_words(ts: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"system": "a", "segment": 1, "importances": [1, 2, 3]},
        {"system": "a", "segment": 2, "position": 2, "token": "dog", "importance": 4},
        {"system": "a", "segment": 2, "side": "candidate", "position": 1, "importance": None},
        # a span of both words, one of a part of the second, an error
        {"system": "b", "segment": 1, "spans": [_span(0, 7, 0.5), _span(4, 5, 1)]},
        {
            "system": "b",
            "segment": 1,
            "spans": [{"start": 3, "end": 5, "severity": "Major"}],
        },
        {"system": "b", "segment": 2, "spans": [_span(0, 1, 1), _span(2, 4, 2), _span(4, 5, 3)]},
    ]
    spec = written(tmp_path / "spans.jsonl", rows)
    found = explained(ts, spec)
    assert found[0] == [1, 2, 3]
    np.testing.assert_array_equal(found[1], [NAN, 4])
    assert found[2:] == [[0.5, 0.5 + 1 - 5], [1, 5]]
    wrong = explained(ts, spec[:-1] + ", lower_is_better=True)")
    assert wrong[2] == [-0.5, -0.5 - 1 - 5]  # an error stays bad


def test_either_side_is_explained_and_systems_share_a_side(ts: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"system": name, "segment": n, "importances": [n] * len(ts.systems[name][n - 1].split())}
        for name in ts.systems
        for n in (1, 2)
    ]
    shared = [{"side": "reference", "segment": n, "importances": [10 * n, 7]} for n in (1, 2)]
    own = {"system": "b", "side": "reference", "segment": 2, "importances": [1, 2]}
    spec = written(tmp_path / "x.jsonl", [*rows, *shared, own])
    assert explained(ts, spec, sides="both") == [
        [1, 1, 1, 10, 7],
        [2, 2, 20, 7],
        [1, 1, 10, 7],
        [2, 2, 1, 2],
    ]
    with pytest.raises(UsageError, match="explains no words of the source side; take sides="):
        bmx.explanations(ts, gn.metric(_length, name="length"), spec)
    sources = [{"side": "source", "segment": n, "spans": [_span(0, 2, n)]} for n in (1, 2)]
    spec = written(tmp_path / "y.jsonl", [*rows, *sources])
    found = bmx.explanations(ts, gn.metric(_length, name="length"), spec)
    assert found.sides[1].importance.tolist() == [1, 0, 2, 0, 1, 0, 2, 0]


def _length(candidate: str, source: str) -> float:
    return float(len(candidate) - len(source))


def test_equal_outputs_may_be_explained_differently_and_what_is_missing_is_undefined(
    ts: gn.TestSet, tmp_path: Path
) -> None:
    rows: list[dict[str, object]] = [
        {"system": "a", "segment": 2, "importances": [1, 2]},
        {"system": "b", "segment": 2, "importances": [3, 4]},
        {"system": "b", "segment": 1, "position": 1, "importance": 5},
    ]
    spec = written(tmp_path / "x.jsonl", rows)
    found = explained(ts, spec)
    assert (found[1], found[3]) == ([1, 2], [3, 4])
    np.testing.assert_array_equal(found[0], [NAN] * 3)
    np.testing.assert_array_equal(found[2], [5, NAN])
    notices = " ".join(notes(bmx.explanations(ts, "chrf", spec, sides="candidate").notices))
    assert "2 of 4 explanations have words of undefined importance" in notices
    assert explained(ts, spec[:-1] + ", absent='zero')")[0] == [0, 0, 0]
    assert explained(ts, spec[:-1] + ", absent='zero')")[2] == [5, 0]


def test_a_boosted_score_by_hand(ts: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"system": s, "segment": n, "importances": [v] * len(ts.systems[s][n - 1].split())}
        for s, n, v in (("a", 1, 1.0), ("a", 2, 2.0), ("b", 1, 3.0), ("b", 2, 4.0))
    ]
    written(tmp_path / "x.jsonl", rows)
    base = gn.score(ts, "chrf").segments
    boosted = bmx.Bmx(
        gn.metrics.parse("chrf"),
        explainer=f"file({str(tmp_path / 'x.jsonl')!r})",
        p=1,
        w=0.25,
        sides="candidate",
    )
    found = gn.score(ts, boosted)
    np.testing.assert_allclose(found.segments, 0.25 * base + 0.75 * np.array([[1, 2], [3, 4]]))
    assert gn.score(ts, boosted.spec).segments.tolist() == found.segments.tolist()
    assert gn.score(ts, replace(boosted, p=(1.0, 1.0), w=(1.0, 0.25))).segments == pytest.approx(
        found.segments  # the same explanations of the second iteration
    )


def test_errors_that_a_shift_would_turn_into_praise_are_told(
    ts: gn.TestSet, tmp_path: Path
) -> None:
    rows: list[dict[str, object]] = [
        {"system": s, "segment": n, "spans": []} for s in "ab" for n in (1, 2)
    ]
    error = {"start": 4, "end": 7, "severity": "major"}
    rows.append({"system": "a", "segment": 1, "spans": [error]})
    spec = written(tmp_path / "x.jsonl", rows)
    chrf = gn.metrics.parse("chrf")
    options: dict[str, Any] = {"explainer": spec, "w": 0.5, "sides": "candidate"}
    base = gn.score(ts, "chrf").segments
    found = gn.bmx(ts, bmx.Bmx(chrf, p=0, shift="exponential", **options))
    expected = 0.5 * base.mean(axis=1) - [0.5 * (5 / 3) / 2, 0]  # one word of three
    scores = {row["system"]: row["score"] for row in found.rows}
    assert [scores[name] for name in ts.systems] == pytest.approx(expected.tolist())
    assert not notes(found.notices)
    raised = gn.bmx(ts, bmx.Bmx(chrf, p=1, **options))
    assert "1 segment has importances below 0, which the shift 'paper'" in notes(raised.notices)[0]


def test_explanations_and_scores_may_both_be_from_elsewhere(ts: gn.TestSet, tmp_path: Path) -> None:
    table = ["system\tsegment\tscore", "a\t1\t.1", "a\t2\t.2", "b\t1\t.3", "b\t2\t.4"]
    (tmp_path / "scores.tsv").write_text("\n".join(table) + "\n")
    rows: list[dict[str, object]] = [
        {"system": s, "segment": n, "importances": [1.0] * len(ts.systems[s][n - 1].split())}
        for s in ts.systems
        for n in (1, 2)
    ]
    spec = written(tmp_path / "x.jsonl", rows)
    metric = f"scores({str(tmp_path / 'scores.tsv')!r})"
    given = gn.metrics.parse(metric)
    boosted = bmx.Bmx(given, explainer=spec, p=1, w=0.5, sides="candidate")
    found = gn.bmx(ts, boosted).rows
    row = next(row for row in found if row["system"] == "b")
    assert row["score"] == pytest.approx(0.5 * 0.35 + 0.5)
    for explainer in ("erasure", "lime"):
        with pytest.raises(UsageError, match="cannot score changed texts"):
            gn.bmx(ts, metric, explainer=explainer)
        with pytest.raises(UsageError, match="cannot score changed texts"):
            bmx.explanations(ts, metric, explainer)
    with pytest.raises(UsageError, match="cannot score changed texts"):
        bmx.explain(ts, metric, spec, sides="candidate", faithfulness=True)


@pytest.fixture
def judged() -> gn.TestSet:
    draw = np.random.default_rng(1)
    words = ["the", "old", "cat", "sat", "on", "mat", "dog", "ran"]
    texts = [[" ".join(draw.choice(words, 5)) for _ in range(12)] for _ in range(3)]
    spans = [
        ErrorSpan(name, segment, "candidate", 0, len(text.split()[0]), "word", "bad", kind="tags")
        for name, some in zip("ab", texts, strict=False)
        for segment, text in enumerate(some)
    ]
    made = gn.TestSet.from_lists({"a": texts[0], "b": texts[1]}, texts[2], language_pair="de-en")
    people = HumanScores("da", "segment", ("a", "b"), draw.random((2, 12)))
    return replace(made, errors=tuple(spans), human=(people,))


def test_what_was_saved_is_what_was_explained_in_every_method(
    judged: gn.TestSet, tmp_path: Path
) -> None:
    path = tmp_path / "erasure.jsonl"
    options = {"errors": True, "faithfulness": True}
    first = bmx.explain(judged, "chrf", "erasure", save_explanations=path, **options)
    spec = f"file({str(path)!r})"
    again = bmx.explain(judged, "chrf", spec, **options)
    for name in ("words", "errors", "faithfulness"):
        rows, other = first.table(name).rows, again.table(name).rows
        assert len(rows) == len(other) > 0
        for one, two in zip(rows, other, strict=True):
            for key in one.keys() - {"explainer"}:
                if isinstance(one[key], float):
                    assert two[key] == pytest.approx(one[key], abs=1e-12)
                else:
                    assert two[key] == one[key]
    assert all(row["random"] is not None for row in again.table("errors").rows)
    chrf = gn.metrics.parse("chrf")
    made = [bmx.Bmx(chrf, explainer=e, p=0.5, w=0.6) for e in ("erasure", spec)]
    boosted = [gn.bmx(judged, one).rows for one in made]
    assert [r["score"] for r in boosted[0]] == pytest.approx([r["score"] for r in boosted[1]])
    tuned = bmx.tune(judged, "chrf", ["erasure", spec], resamples=0)
    gains: dict[object, list[object]] = {}
    for row in tuned.rows:
        gains.setdefault(row["explainer"], []).append(row["gain"])
    assert gains["erasure"] == pytest.approx(gains[spec])


def test_the_control_is_measured_on_the_same_sentences(judged: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"system": "a", "segment": n + 1, "importances": [0, 1, 1, 1, 1]} for n in range(6)
    ]
    spec = written(tmp_path / "x.jsonl", rows)
    found = bmx.explain(judged, "chrf", spec, sides="candidate", errors=True)
    rows_found = found.table("errors").rows
    assert [row["value"] for row in rows_found] == [1, 1, 1]
    random = bmx.explain(judged, "chrf", "random", sides="candidate", errors=True)
    few = bmx.explain(
        judged.select(systems=["a"], segments=list(range(6))),
        "chrf",
        "random",
        sides="candidate",
        errors=True,
    )
    for row, same, every in zip(
        rows_found, few.table("errors").rows, random.table("errors").rows, strict=True
    ):
        assert row["sentences"] == 6
        assert row["random"] == pytest.approx(same["value"])
        assert row["random"] != pytest.approx(every["value"])
        assert row["gain"] == pytest.approx(1 - same["value"])


def test_tags_as_explanations_tell_all_errors(shared: Path, tmp_path: Path) -> None:
    """The tags of Eval4NLP themselves, as spans of a file, rank their errors without a fault."""
    table = shared / "data/eval4nlp21/et-en.test.tsv"
    lines = table.read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    rows: list[dict[str, object]] = []
    for number, line in enumerate(lines[1:41], start=1):
        record = dict(zip(header, line.split("\t"), strict=True))
        for side, text, tags in (("candidate", "hyp", "hyp_tags"), ("source", "src", "src_tags")):
            given = [-float(tag) for tag in record[tags].split()]
            tokens = record[text].split()
            rows.append({"segment": number, "side": side, "tokens": tokens, "importances": given})
    spec = written(tmp_path / "tags.jsonl", rows)
    testset = gn.TestSet.read(table)
    found = bmx.explain(
        testset,
        gn.metric(_length, name="length"),
        spec,
        errors=True,
        segments=list(range(1, 41)),
    )
    told = found.table("errors").rows
    assert {row["side"] for row in told} == {"candidate", "source"}
    assert [row["value"] for row in told] == [1.0] * 6
    assert all(0.3 < row["random"] < 0.75 for row in told if row["measure"] == "auc")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("[1]", "one object per line"),
        ("{", "not a JSON object"),
        ('{"segment": 1, "segment": 1}', "the key 'segment' occurs twice"),
        ({"segment": 3, "system": "a", "importances": [1]}, "segment 3 is none of 1 to 2"),
        ({"segment": True, "system": "a", "importances": [1]}, "segment True is none"),
        ({"segment": 1, "importances": [1]}, "names no system, and the test set has 2"),
        ({"segment": 1, "system": 3, "importances": [1]}, "a system is named by a string; got 3"),
        ({"segment": 1, "system": "a", "side": "left"}, "'left' is none of candidate, reference"),
        ({"segment": 1, "system": "a"}, "says nothing of a word"),
        ({"segment": 1, "system": "a", "importances": [1]}, "1 importances for a text of 3 words"),
        ({"segment": 1, "system": "a", "importances": 1}, "importances are a list"),
        ({"segment": 1, "system": "a", "importances": ["x"] * 3}, "is a number or null; got 'x'"),
        ({"segment": 1, "system": "a", "position": 4, "importance": 1}, "word 4 is none of the 3"),
        (
            {"segment": 1, "system": "a", "position": 2, "token": "new", "importance": 1},
            "word 2 of the text is 'old', not 'new'",
        ),
        ({"segment": 1, "system": "a", "spans": [_span(0, 99, 1)]}, "has 11 char"),
        ({"segment": 1, "system": "a", "spans": [_span(2, 1, 1)]}, r"span \[2, 1\)"),
        ({"segment": 1, "system": "a", "spans": [3]}, "a span is an object"),
        ({"segment": 1, "system": "a", "spans": {}}, "spans are a list"),
        ({"segment": 1, "system": "a", "spans": [{"start": 0, "end": 1}]}, "nor a severity"),
        (
            {"segment": 1, "system": "a", "tokens": ["the", "new"], "importances": [1, 2]},
            "2 importances for a text of 3 words",
        ),
        (
            {"segment": 1, "system": "a", "tokens": ["the", "o", "cat"], "importances": [1, 2, 3]},
            "spans that say where other tokens stand",
        ),
        (
            {"segment": 1, "side": "reference", "reference": "B", "importances": [1]},
            "unknown reference",
        ),
    ],
)
def test_wrong_lines_are_named(
    ts: gn.TestSet, tmp_path: Path, row: dict[str, object] | str, said: str
) -> None:
    path = tmp_path / "wrong.jsonl"
    line = row if isinstance(row, str) else json.dumps(row)
    path.write_text('{"system": "b", "segment": 1, "spans": []}\n' + line + "\n")
    with pytest.raises(FormatError, match=said) as raised:
        bmx.explanations(ts, "chrf", f"file({str(path)!r})", sides="candidate")
    assert "wrong.jsonl:2" in str(raised.value)


def test_an_empty_span_says_nothing_of_the_word_around_it(ts: gn.TestSet, tmp_path: Path) -> None:
    spans = [
        _span(6, 6, 5.0),
        _span(0, 3, 1.0),
        _span(3, 3, 7.0),
    ]  # inside "old", at the end of "the"
    row: dict[str, object] = {"segment": 1, "system": "a", "spans": spans}
    assert explained(ts, written(tmp_path / "spans.jsonl", [row]))[0] == [1.0, 0.0, 0.0]


def test_words_texts_and_explanations_come_once(ts: gn.TestSet, tmp_path: Path) -> None:
    word: dict[str, object] = {"system": "a", "segment": 1, "position": 1, "importance": 1}
    whole: dict[str, object] = {"system": "a", "segment": 1, "importances": [1, 2, 3]}
    for rows, said in (
        ([word, word], "word 1 comes twice"),
        ([word, whole], "explained before"),
        ([{**word, "metric": "x"}, {**word, "position": 2, "metric": "y"}], "of one metric"),
    ):
        with pytest.raises(FormatError, match=said):
            explained(ts, written(tmp_path / "x.jsonl", rows))


def test_a_file_may_hold_further_systems(ts: gn.TestSet, tmp_path: Path) -> None:
    """Tasks of a study see some of the systems."""
    rows: list[dict[str, object]] = [
        {"system": s, "segment": n, "spans": [_span(0, 1, n)]} for s in "abc" for n in (1, 2)
    ]
    spec = written(tmp_path / "x.jsonl", rows)
    found = bmx.explanations(ts.select(systems=["a"]), "chrf", spec, sides="candidate")
    assert found.sides[0].importance.tolist() == [1, 0, 0, 2, 0]
    assert notes(found.notices) == ("file('x.jsonl') also explains b and c, not in the test set",)
    strangers = gn.TestSet.from_lists({"z": ["x"]}, ["x"])
    with pytest.raises(DataError, match=r"explains no candidate .*its systems: a, b, c"):
        bmx.explanations(strangers, "chrf", written(tmp_path / "y.jsonl", rows[::2]))


def test_what_a_file_cannot_explain_is_refused(ts: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"side": "reference", "segment": 1, "importances": [1, 2]}]
    with pytest.raises(DataError, match="explains no candidate"):
        explained(ts, written(tmp_path / "x.jsonl", rows))
    with pytest.raises(MissingFileError, match="nowhere"):
        bmx.explanations(ts, "chrf", "file('nowhere.jsonl')")
    with pytest.raises(SpecError, match="in quotes"):
        bmx.find_explainer("file")
    with pytest.raises(MissingFileError, match="chrf"):
        bmx.explanations(ts, "chrf", "file(chrf)")
    rows = [{"system": s, "segment": n, "spans": [_span(0, 1, 1)]} for s in "ab" for n in (1, 2)]
    spec = written(tmp_path / "y.jsonl", rows)
    boosted = bmx.Bmx(gn.metrics.parse("chrf"), explainer=spec, p=1, w=0.5, sides="candidate")
    with pytest.raises(UsageError, match="changed texts"):
        gn.muler(ts, boosted, features=["re:x"], pattern={"x": "cat|dog"}, resamples=0)
    two = replace(ts, references={**ts.references, "B": ("x", "y")})
    rows += [{"side": "reference", "segment": 1, "spans": []}]
    with pytest.raises(FormatError, match="names no reference, and there are"):
        explained(two, written(tmp_path / "y.jsonl", rows))


def test_the_reference_that_is_held_is_the_one_that_is_explained(tmp_path: Path) -> None:
    two = gn.TestSet.from_lists({"a": ["the cat", "a dog"]}, [["x y", "the cat"], ["a dog", "z"]])
    names = list(two.references)
    rows: list[dict[str, object]] = [{"segment": n, "importances": [n, n]} for n in (1, 2)] + [
        {"segment": n, "side": "reference", "reference": name, "spans": [_span(0, 1, k)]}
        for n in (1, 2)
        for k, name in enumerate(names)
    ]
    found = explained(two, written(tmp_path / "x.jsonl", rows), sides="both")
    assert found == [[1, 1, 1, 0], [2, 2, 0, 0]]


def test_signatures_tell_the_content_and_not_the_folder(ts: gn.TestSet, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"system": s, "segment": n, "spans": [_span(0, 1, 1)]} for s in "ab" for n in (1, 2)
    ]
    said = set()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        spec = written(tmp_path / folder / "x.jsonl", rows)
        said.add(str(bmx.explanations(ts, "chrf", spec, sides="candidate").signature))
    (one,) = said
    assert "explainer:file('x.jsonl')|explanations:" in one


def test_the_command_line_takes_explanations_from_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ref.txt").write_text("the cat\na dog\n")
    (tmp_path / "sys.txt").write_text("the old cat\na dog\n")
    rows: list[dict[str, object]] = [
        {"segment": 1, "spans": [{"start": 4, "end": 7, "severity": "minor"}]},
        {"segment": 2, "spans": []},
    ]
    spec = written(tmp_path / "x.jsonl", rows)
    common = [str(tmp_path / "ref.txt"), "-i", str(tmp_path / "sys.txt"), "-f", "json"]
    common += ["--no-cache"]
    assert main(["bmx", "explain", *common, "--sides", "candidate", "--explainers", spec]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["importance"] for row in shown["rows"]] == [0, -1, 0, 0, 0]
    boosted = f'bmx(bleu, explainer="{spec}", sides="candidate", p=1, w=.5)'
    assert main(["bmx", "score", *common, "-m", boosted]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["system"] == "sys"
    assert main(["bmx", "score", *common, "--explainer", spec]) == 2
    assert "no p is published for explainer 'file'" in capsys.readouterr().err


_ANY = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 12), st.floats(), st.text(max_size=3),
    st.lists(st.one_of(st.integers(-1, 5), st.text(max_size=2), st.floats()), max_size=4),
)  # fmt: skip
_KEYS = (
    "system", "segment", "side", "reference", "position", "token", "importance", "importances",
    "tokens", "start", "end", "spans", "severity",
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(_KEYS), _ANY, max_size=6), max_size=3))
def test_whatever_lines_say_they_are_read_or_refused(rows: list[dict[str, object]]) -> None:
    made = gn.TestSet.from_lists({"a": ["the cat", "x"]}, ["the cat", ""], sources=["", "y z"])
    with tempfile.TemporaryDirectory() as folder:
        valid: dict[str, object] = {"segment": 1, "spans": []}
        spec = written(Path(folder) / "x.jsonl", [valid, *({"segment": 1, **row} for row in rows)])
        try:
            found = explained(made, spec)
        except (FormatError, DataError):
            return
    assert [len(one) for one in found] == [2, 1]
