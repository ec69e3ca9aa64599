"""Metrics that stand side by side are masked alike, and where they are not it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.methods.muler.experiments import hybrids, parts, random_words
from tests.told import notes
from tests.truth.worlds_masks import Vectors
from tests.truth.worlds_muler import PATTERN, lines

import gnomon as gn
from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

MADE = lines({"A": {"animal": 0.2}, "B": {"animal": 0.5}})


def overlap(candidate: str, reference: str) -> float:
    ours, theirs = set(candidate.split()), set(reference.split())
    return len(ours & theirs) / len(ours | theirs)


OVERLAP = gn.metric(overlap, name="overlap")


def scored(metrics: object, masking: str = "auto", **options: object) -> Finding:
    asked = {"features": ["re:animal"], "pattern": PATTERN, "examples": 0, "resamples": 0}
    testset = gn.TestSet.from_lists(*MADE)
    return gn.muler.score(testset, metrics, masking=masking, **{**asked, **options})  # type: ignore[arg-type]  # as they are


def kinds(finding: Finding) -> dict[str, str]:
    return {str(row["metric"]): str(row["masks"]) for row in finding.rows}


def figures(finding: Finding, metric: str) -> list[object]:
    return [row["muler"] for row in finding.rows if row["metric"] == metric]


@pytest.mark.parametrize(
    ("metrics", "kind"),
    [
        (["bleu", "chrf"], "tokens"),
        (["bleu"], "tokens"),
        ([OVERLAP], "mask words"),
        ([OVERLAP, "bleu"], "substitute"),
        ([Vectors(), "bleu"], "substitute"),
        ([Vectors(), OVERLAP], "substitute"),
        ([Vectors()], "substitute"),
    ],
)
def test_metrics_are_masked_alike_by_default_and_it_is_said_with_what(
    metrics: list[object], kind: str
) -> None:
    finding = scored(metrics)
    assert set(kinds(finding).values()) == {kind}
    assert finding.facts["masks"]
    exchanged = all(one.get("masking") == "substitute" for one in finding.signatures.values())
    assert exchanged == (kind == "substitute")
    assert any("other words stand for words" in one for one in notes(finding.notices)) == exchanged
    assert not any(one.code == "muler.masks" for one in finding.verdict)


def test_what_a_metric_with_pooled_masks_gives_by_default_depends_on_no_other_metric() -> None:
    alone, beside = scored([Vectors()]), scored(["bleu", Vectors()])
    assert figures(alone, "vectors") == figures(beside, "vectors")
    assert figures(beside, "bleu") == figures(scored(["bleu"], "substitute"), "bleu")


def test_pooled_masks_stand_in_the_signature_and_the_rows() -> None:
    finding = scored([Vectors(), "bleu"], "pooled")
    assert kinds(finding) == {"vectors": "pooled", "bleu": "tokens"}
    assert "masking:pooled" in str(finding.signatures["vectors"])
    assert "masking" not in str(finding.signatures["bleu"])
    assert finding.facts["masks"] == "pooled, tokens"
    (said,) = (one for one in finding.verdict if one.code == "muler.masks")
    assert "vectors has words exchanged in vectors (pooled) and BLEU has masks on" in str(said)
    alone = scored([Vectors()], "pooled")
    assert "masking:pooled" in str(alone.signatures["vectors"])


def test_pooled_masks_are_refused_where_no_metric_has_them() -> None:
    with pytest.raises(UsageError, match=r"masking='pooled' .* got bleu, chrf: leave"):
        scored(["bleu", "chrf"], "pooled")


def test_tokens_of_what_could_pool_are_mask_words_in_its_texts() -> None:
    assert kinds(scored([Vectors()], "tokens")) == {"vectors": "mask words"}
    named = scored([OVERLAP, "bleu"], gn.muler.Masks(words=["X1", "X2", "X3"]))
    assert kinds(named) == {"overlap": "mask words", "bleu": "tokens"}
    assert any(one.code == "muler.masks" for one in named.verdict)


def test_experiments_and_errors_mask_alike_too() -> None:
    testset = gn.TestSet.from_lists(*MADE)
    for experiment in (hybrids, parts):
        finding = experiment(testset, [Vectors(), "bleu"], ["re:animal"], pattern=PATTERN)
        assert set(kinds(finding).values()) == {"substitute"}
    finding = random_words(
        testset, [Vectors(), "bleu"], ["re:animal"], pattern=PATTERN, draws=3, groups=[2]
    )
    assert set(kinds(finding).values()) == {"substitute"}


def test_tokens_of_several_classes_are_told_to_differ() -> None:
    def told(metrics: list[object], **options: object) -> bool:
        finding = scored(metrics, **options)  # type: ignore[arg-type]  # as they are
        return any("on the tokens of each metric" in one for one in notes(finding.notices))

    assert told(["bleu", "chrf"])
    assert not told(["bleu"])
    assert not told(["chrf", "chrf(word_order=2)"])
    assert not told(["bleu", "chrf"], masking="substitute")
