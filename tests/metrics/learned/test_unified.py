"""CometKiwi, UniTE and xCOMET of gnomon against the original package, on random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gnomon.core.errors import SpecError
from gnomon.core.testset import TestSet
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable

TOLERANCE = 1e-5
#: family, model, mode of the oracle -> options of the spec
MODES = {
    ("unified", "kiwi", "src+mt"): "",
    ("unified", "kiwi", "src+mt+ref"): "",
    ("unified", "unite", "src+mt+ref"): "",
    ("unified", "unite", "src+mt"): ", against='source'",
    ("unified", "unite", "mt+ref"): ", against='reference'",
    ("unified", "kiwi_words", "src+mt"): "",
    ("unified", "unite_words", "src+mt+ref"): "",
    ("unified", "unite_words", "src+mt"): ", against='source'",
    ("unified", "unite_words", "mt+ref"): ", against='reference'",
    ("xcomet", "xl", "src+mt+ref"): "",
    ("xcomet", "xl", "src+mt"): ", against='source'",
    ("xcomet", "xl", "mt+ref"): ", against='reference'",
    ("xcomet", "xl", "src+mt, decoding threshold 0.35"): ", against='source', threshold=.35",
    ("xcomet", "base", "src+mt+ref"): "",
    ("xcomet", "base", "src+mt"): ", against='source'",
    ("xcomet", "base", "mt+ref"): ", against='reference'",
    ("xcomet", "base", "src+mt, decoding threshold 0.35"): ", against='source', threshold=.35",
}
#: part of a score -> what the oracle calls it
PARTS = {
    "all": "scores",
    "source": "src_scores",
    "reference": "ref_scores",
    "both": "unified_scores",
    "mqm": "mqm_scores",
}


def _spec(folder: str, family: str, model: str, options: str) -> str:
    name = "xcomet" if family == "xcomet" else "unite" if "unite" in model else "cometkiwi"
    return f"{name}('{folder}', device='cpu'{options})"


def _check_mode(oracle: Callable[[str, str], Any], name: tuple[str, str, str], batch: int) -> None:
    family, model, mode = name
    found = oracle(family, model)
    expected = found.expected["modes"][mode]
    testset = found.testset()
    spec = _spec(found.folder, family, model, f"{MODES[name]}, batch={batch}")
    bound: Any = parse(spec).bind(testset)
    parts = bound.score_parts_by_name(testset.batch())
    compared = 0
    for part, scores in parts.items():
        if PARTS[part] in expected:
            compared += 1
            np.testing.assert_allclose(
                scores[0], found.kept(expected[PARTS[part]]), atol=TOLERANCE, rtol=0
            )
    assert compared == sum(key in expected for key in PARTS.values()) - (mode == "mt+ref") * (
        "src_scores" in expected
    )
    mean = float(np.mean(found.kept(expected["scores"])))
    np.testing.assert_allclose(bound.system(testset.batch()), [mean], atol=TOLERANCE, rtol=0)
    assert ("spans" in bound.can) is ("error_spans" in expected)
    if "error_spans" not in expected:
        return
    marked: list[list[Any]] = [[] for _ in found.compared]
    for error in bound.error_spans(testset.batch()):
        marked[error.segment].append(error)
    for own, its in zip(marked, found.kept(expected["error_spans"]), strict=True):
        assert [(e.start, e.end, e.severity) for e in own] == [
            (e["start"], e["end"], e["severity"]) for e in its
        ]
        np.testing.assert_allclose(
            [e.confidence for e in own], [e["confidence"] for e in its], atol=TOLERANCE, rtol=0
        )


SHORT = [
    ("unified", "kiwi", "src+mt"),
    ("unified", "unite", "src+mt+ref"),
    ("unified", "kiwi_words", "src+mt"),
    ("unified", "unite_words", "mt+ref"),
    ("xcomet", "xl", "src+mt+ref"),
    ("xcomet", "base", "src+mt+ref"),
    ("xcomet", "base", "src+mt, decoding threshold 0.35"),
]


@pytest.mark.parametrize("name", SHORT, ids="-".join)
def test_scores_parts_and_spans_are_those_of_the_original_package(
    oracle: Callable[[str, str], Any], name: tuple[str, str, str]
) -> None:
    _check_mode(oracle, name, 64)


@pytest.mark.verify
@pytest.mark.parametrize("batch", [1, 7, 64])
@pytest.mark.parametrize("name", MODES, ids="-".join)
def test_the_size_of_batches_changes_no_score_and_no_span(
    oracle: Callable[[str, str], Any], name: tuple[str, str, str], batch: int
) -> None:
    _check_mode(oracle, name, batch)


def test_one_input_at_a_time_gives_the_same_scores_and_spans(
    oracle: Callable[[str, str], Any],
) -> None:
    _check_mode(oracle, ("xcomet", "base", "src+mt"), 1)


def test_each_distinct_pair_is_read_once_for_scores_parts_and_spans(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("xcomet", "base")
    rows = found.compared[:8]
    texts, source = [row["mt"] for row in rows], [row["src"] for row in rows]
    reference = [row["ref"] for row in rows]
    systems = {"a": texts, "b": texts[:4] + reference[4:], "c": texts}
    testset = TestSet.from_lists(systems, reference, sources=source)
    bound: Any = parse(_spec(found.folder, "xcomet", "base", ", batch=4")).bind(testset)
    bound.segments(testset.batch())
    spans = bound.error_spans(testset.batch())
    candidates = set(zip(texts, source, reference, strict=True)) | set(
        zip(systems["b"], source, reference, strict=True)
    )
    joint = {(c, s) for c, s, _ in candidates} | {(c, r) for c, _, r in candidates} | candidates
    assert bound.model.encoder.encoded == len(joint)
    own = [(e.segment, e.start, e.end) for e in spans if e.system == "a"]
    assert own == [(e.segment, e.start, e.end) for e in spans if e.system == "c"]
    order = [(testset.batch().systems.index(e.system), e.segment, e.start) for e in spans]
    assert order == sorted(order)


def test_spans_say_who_marked_them_and_what_they_cost(oracle: Callable[[str, str], Any]) -> None:
    found = oracle("xcomet", "xl")
    testset = found.testset()
    metric = parse(_spec(found.folder, "xcomet", "xl", ""))
    bound: Any = metric.bind(testset)
    batch = testset.batch().select(segments=range(10))
    for error in bound.error_spans(batch):
        assert (error.system, error.side, error.by) == ("system", "candidate", "metric")
        assert error.rater == metric.spec
        assert error.score == {"minor": 1, "major": 5, "critical": 10}[error.severity]
        assert 0 < error.confidence <= 1
    penalty = np.zeros(10)
    for error in bound.error_spans(batch):
        penalty[error.segment] += error.score
    np.testing.assert_allclose(
        bound.score_parts_by_name(batch)["mqm"][0], 1 - np.minimum(penalty, 25) / 25
    )


def test_a_model_of_another_class_is_answered_by_the_right_name(
    oracle: Callable[[str, str], Any],
) -> None:
    folders = {
        "comet": oracle("regression", "sparsemax").folder,
        "cometkiwi": oracle("unified", "kiwi").folder,
        "unite": oracle("unified", "unite").folder,
        "xcomet": oracle("xcomet", "base").folder,
    }
    for right, folder in folders.items():
        for wrong in folders.keys() - {right}:
            with pytest.raises(SpecError, match=f"write {right}\\('{folder}'\\)"):
                parse(f"{wrong}('{folder}')").needs  # noqa: B018  # what it needs stands there


def test_what_a_model_cannot_do_is_refused(oracle: Callable[[str, str], Any]) -> None:
    unite = oracle("unified", "unite")
    with pytest.raises(SpecError, match="marks no errors"):
        parse(f"unite('{unite.folder}', threshold=.5)").bind(unite.testset())
    with pytest.raises(SpecError, match="threshold"):
        parse(f"xcomet('{unite.folder}', threshold=2)")


def test_whether_a_metric_may_mark_errors_is_told_without_loading_it() -> None:
    assert "spans" in parse("xcomet('nowhere')").can
    assert "spans" not in parse("comet('nowhere')").can


def test_segments_without_a_reference_have_no_score_and_no_spans(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("xcomet", "base")
    rows = found.compared[:3]
    testset = TestSet(
        name="t",
        references={"A": [None, rows[1]["ref"], rows[2]["ref"]], "B": [None, None, rows[0]["ref"]]},
        sources=[row["src"] for row in rows],
        systems={"a": [row["mt"] for row in rows]},
    )
    bound: Any = parse(_spec(found.folder, "xcomet", "base", ", threshold=.05")).bind(testset)
    scores = bound.segments(testset.batch())[0]
    assert np.isnan(scores).tolist() == [True, False, False]
    assert {error.segment for error in bound.error_spans(testset.batch())} <= {1, 2}
    nothing = testset.batch().select(segments=[0])
    assert np.isnan(bound.segments(nothing)).all()
    assert bound.error_spans(nothing) == ()
