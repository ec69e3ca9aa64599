"""``gnomon.difficulty.score``: both sides, ranks, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.difficulty.sets import contest, rows, sentences, spoiled
from tests.told import notes

import gnomon as gn
from gnomon import difficulty, stats
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.rank_changes import ranks
from gnomon.metrics import bind
from gnomon.stats.measures import grouped_statistic

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.findings import Finding

ROUGE = "rouge(type='rouge1')"


@pytest.fixture(scope="module")
def small() -> gn.TestSet:
    return contest()


@pytest.fixture
def tokens(tiny_model: Path) -> str:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    return f"bertscore(model='{tiny_model}', layer=2, device='cpu')"


def names(found: Finding) -> set[str]:
    return {table.name for table in found.tables}


def test_rows_are_those_of_the_contract_best_first(small) -> None:
    found = difficulty.score(small, "rouge1")
    assert list(found.rows[0]) == [
        "system", "metric", "score", "base_score", "rank", "base_rank",
    ]  # fmt: skip
    assert [row["rank"] for row in found.rows] == sorted(row["rank"] for row in found.rows)
    weighted = gn.score(small, "difficulty(rouge1)")
    base = gn.score(small, "rouge1")
    for row in found.rows:
        k = small.batch().systems.index(row["system"])
        assert row["score"] == pytest.approx(weighted.system[k])
        assert row["base_score"] == pytest.approx(base.system[k])
        assert row["metric"] == "difficulty(rouge(type='rouge1'))"


def test_only_the_weights_differ_between_base_and_weighted_score(small, tokens) -> None:
    spec = f"difficulty({tokens}, rescale=False)"
    found = difficulty.score(small, spec)
    batch = small.batch()
    unweighted = bind(small, spec.replace("False)", "False, weighted=False)"))[1]
    parts = unweighted.score_parts(batch)  # type: ignore[attr-defined]  # matching metrics have them
    p, r = parts[..., 0].mean(axis=1), parts[..., 1].mean(axis=1)
    for row in found.rows:
        k = batch.systems.index(row["system"])
        assert row["base_score"] == pytest.approx(2 * p[k] * r[k] / (p[k] + r[k]))
    plain = gn.score(small, tokens.replace(")", ", special='exclude')"))
    assert parts[..., 2] == pytest.approx(plain.segments, abs=1e-6)


def test_equal_scores_share_a_rank_and_undefined_ones_have_none() -> None:
    assert ranks(np.array([1.0, 2.0, np.nan, 2.0])) == [3, 1, None, 1]


@pytest.mark.parametrize("ties", [False, True])
def test_resamples_are_judged_as_by_the_statistics(ties) -> None:
    rng = np.random.default_rng(3)
    human, scores = rng.normal(size=7), rng.normal(size=(7, 20))
    if ties:
        human, scores = human.round(), scores.round()
    for statistic, of in (
        ("pearson", stats.pearson),
        ("spearman", stats.spearman),
        ("kendall_b", stats.kendall_b),
    ):
        found = grouped_statistic(statistic, "none").score_system_draws(human, scores.T)
        assert found == pytest.approx([of(human, one) for one in scores.T])


@pytest.mark.parametrize("inner", ["tokens", "rouge1"])
def test_a_frozen_pool_that_people_chose_stays_circular(inner, small, tmp_path, request) -> None:
    spec = request.getfixturevalue("tokens") if inner == "tokens" else inner
    path = str(tmp_path / "hard.npz")
    difficulty.score(small, f"difficulty({spec}, pool='top:5')", save=path)
    found = difficulty.score(small, f"difficulty({spec}, frozen='{path}')")
    assert names(found) == {"scores"}
    scores = gn.score(small, f"difficulty({spec}, frozen='{path}')")
    assert scores.informed_by == ("da",)


def test_saved_difficulties_give_the_same_scores(small, tmp_path) -> None:
    path = str(tmp_path / "hard.npz")
    once = difficulty.score(small, "rouge1", save=path)
    again = difficulty.score(small, f"difficulty(rouge1, frozen='{path}')")
    pick = [(row["system"], row["score"]) for row in once.rows]
    assert [(row["system"], row["score"]) for row in again.rows] == pick
    assert again.facts["pool (systems whose misses make words hard)"] == "from a file"


def test_a_pool_of_one_system_is_said_and_an_unknown_one_refused(small) -> None:
    found = difficulty.score(small, "difficulty(rouge1, pool=['s4'])")
    assert any("is one system" in notice for notice in notes(found.notices))
    with pytest.raises(UnknownNameError, match="'nobody'"):
        difficulty.score(small, "difficulty(rouge1, pool=['nobody'])")


def test_system_order_changes_nothing(small, tokens) -> None:
    turned = small.select(systems=list(reversed(list(small.systems))))
    for spec in ("rouge1", tokens):
        one, two = (difficulty.score(ts, spec) for ts in (small, turned))
        for a, b in zip(one.rows, two.rows, strict=True):
            assert a["system"] == b["system"]
            assert a["score"] == pytest.approx(b["score"], abs=1e-6)


def test_leaving_out_oneself_reaches_the_scores(small) -> None:
    found = difficulty.score(small, "difficulty(rouge1, leave_one_out=True)")
    expected = gn.score(small, "difficulty(rouge1, leave_one_out=True)").system
    got = {row["system"]: row["score"] for row in found.rows}
    assert [got[name] for name in small.systems] == pytest.approx(expected.tolist())


def test_two_references_and_an_empty_output_do_no_harm(tokens) -> None:
    references = sentences(4)
    outputs = {f"s{k}": spoiled(references, 0.2 * k, k) for k in range(3)}
    outputs["s2"][1] = ""
    pairs = [[a, b] for a, b in zip(references, sentences(4, 9), strict=True)]
    testset = gn.TestSet.from_lists(outputs, pairs, language_pair="en")
    found = difficulty.score(testset, f"difficulty({tokens}, rescale=False)")
    assert [row["rank"] for row in found.rows] == [1, 2, 3]
    assert all(0 <= row["score"] <= row["base_score"] for row in found.rows)


def test_several_metrics_stand_in_the_same_table(small) -> None:
    found = difficulty.score(small, ["rouge1", "bleu"])
    for spec in ("rouge1", "bleu"):
        alone = difficulty.score(small, spec)
        own = alone.rows[0]["metric"]
        assert rows(found, "scores", metric=own) == list(map(dict, alone.rows))
    assert set(found.signatures) == {row["metric"] for row in found.rows}


def test_one_file_of_difficulties_is_of_one_metric(small, tmp_path) -> None:
    with pytest.raises(UsageError, match="of one metric"):
        difficulty.score(small, ["rouge1", "bleu"], save=tmp_path / "hard.npz")


def test_the_room_is_called_as_its_main_method(small) -> None:
    assert gn.difficulty(small, "rouge1").rows == difficulty.score(small, "rouge1").rows


def test_a_metric_that_is_named_twice_is_refused(small: gn.TestSet) -> None:
    for method in (difficulty.score, difficulty.words, gn.bmx.score, gn.bmx.explain):
        with pytest.raises(UsageError, match="metric 'chrf' is named twice"):
            method(small, ["chrf", "ter", "chrf"])
    with pytest.raises(UsageError, match="an explainer is named twice: lime, lime"):
        gn.bmx.explain(small, "chrf", ["lime", "lime"])
