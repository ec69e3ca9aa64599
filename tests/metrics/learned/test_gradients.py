"""Input times gradient under learned metrics, held against finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.core.testset import TestSet
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable

SPECS = [
    ("comet", "regression", "sparsemax", ""),
    ("comet", "regression", "cls_final", ""),
    ("comet", "referenceless", "qe20_softmax_layernorm", ""),
    ("cometkiwi", "unified", "kiwi", ""),
    ("unite", "unified", "unite", ""),
    (
        "xcomet",
        "xcomet",
        "base",
        ", threshold=1",
    ),  # no error is marked, which would have no gradient
]


def _testset() -> TestSet:
    systems = {"a": ["the cat sat there .", "a small dog", ""]}
    references = ["the cat was sitting .", "a dog", "nothing"]
    return TestSet.from_lists(
        systems, references, sources=["Die Katze saß da .", "Ein kleiner Hund", "Nichts"]
    )


@pytest.mark.parametrize(("name", "family", "model", "options"), SPECS)
def test_the_products_are_what_the_score_loses_when_an_embedding_shrinks(
    oracle: Callable[[str, str], Any], name: str, family: str, model: str, options: str
) -> None:
    testset = _testset()
    spec = f"{name}('{oracle(family, model).folder}', device='cpu'{options})"
    bound: Any = parse(spec).bind(testset)
    assert "gradients" in bound.can
    batch = testset.batch().select(segments=[0])
    found = bound.attributions(batch)
    unmarked = 0.22 if name == "xcomet" else 0.0  # the part of a text without errors
    np.testing.assert_allclose(found.score + unmarked, bound.segments(batch)[0], atol=1e-5)
    total = float(found.candidate.value.sum() + found.other.value.sum())
    pieces = len(found.candidate.value) + len(found.other.value)
    assert pieces > 8
    np.testing.assert_allclose(total, _slope(bound, batch, found), rtol=2e-2, atol=2e-3)


def _slope(bound: Any, batch: Any, found: Any) -> float:
    """What the score gains when the embeddings of both sides grow by a share, divided by it.

    The pieces of the source, where a reference is compared too, are left as they are. Special
    pieces of joint inputs belong to no side.
    """
    apart = bound.name == "comet"
    texts = [batch.texts[int(batch.candidates[0, 0])]]
    other = batch.references[0][0] if "references" in bound.needs else batch.sources[0]
    texts.append(batch.texts[int(other)])
    wanted = [one.ids.tolist() for one in bound.model.encoder.pieces(texts)]
    step = 1e-2
    scores = []
    for sign in (1, -1):

        def scale(_module: Any, given: Any, output: Any, sign: int = sign) -> Any:
            output = output.clone()
            for row, ids in enumerate(given[0].tolist()):
                for place in _places(ids, wanted, bound.model.encoder, apart=apart):
                    output[row, place] *= 1 + sign * step
            return output

        bound.model.memory.clear()
        bound.__dict__.pop("vectors", None)
        bound.__dict__.pop("results", None)
        handle = bound.model.encoder.model.get_input_embeddings().register_forward_hook(scale)
        scores.append(float(bound.segments(batch)[0, 0]))
        handle.remove()
    bound.model.memory.clear()
    bound.__dict__.pop("vectors", None)
    bound.__dict__.pop("results", None)
    return (scores[0] - scores[1]) / (2 * step)


def _places(ids: list[int], wanted: list[list[int]], encoder: Any, *, apart: bool) -> list[int]:
    """Where the pieces of some texts stand in an input, special ones of texts read alone too."""
    if apart:
        whole = [[encoder.begin, *own, encoder.end] for own in wanted]
        plain = [one for one in ids if one != encoder.padding]
        return list(range(len(plain))) if plain in whole else []
    found = []
    for own in wanted:
        for at in range(len(ids) - len(own) + 1):
            if ids[at : at + len(own)] == own:
                found += range(at, at + len(own))
                break
    return found


def test_bmx_explains_by_gradients(oracle: Callable[[str, str], Any]) -> None:
    spec = f"comet('{oracle('regression', 'softmax_layernorm').folder}', device='cpu')"
    found = gn.bmx.explanations(_testset(), spec, explainer="gradient")
    candidate = found.sides[0]
    assert candidate.offsets.tolist() == [0, 5, 8, 8]
    assert np.abs(candidate.importance).min() > 0


def test_a_sentinel_has_nothing_to_compare(oracle: Callable[[str, str], Any]) -> None:
    testset = _testset()
    bound: Any = parse(f"comet('{oracle('referenceless', 'sentinel_mt').folder}')").bind(testset)
    with pytest.raises(UsageError, match="looks at one text alone"):
        bound.attributions(testset.batch())


# The metric's own errors as explanations.


def test_bmx_explains_by_the_errors_that_the_metric_marks(
    oracle: Callable[[str, str], Any],
) -> None:
    found = oracle("xcomet", "xl")
    testset = found.testset().select(segments=range(6))
    spec = f"xcomet('{found.folder}', device='cpu')"
    explained = gn.bmx.explanations(testset, spec, explainer="own", sides="candidate")
    (candidate,) = explained.sides
    bound: Any = parse(spec).bind(testset)
    cost = np.zeros(6)
    for error in bound.error_spans(testset.batch()):
        text = testset.systems["system"][error.segment]
        if text[error.start : error.end].strip():
            cost[error.segment] += error.score
    assert cost.sum() > 10
    sums = [candidate.importance[candidate.rows(cell)].sum() for cell in range(6)]
    np.testing.assert_allclose(sums, -cost, atol=1e-9)
    assert (candidate.importance <= 0).all()
    assert (candidate.importance == 0).any()


def test_a_metric_that_marks_nothing_has_no_own_explanation(
    oracle: Callable[[str, str], Any],
) -> None:
    testset = _testset()
    kiwi = f"cometkiwi('{oracle('unified', 'kiwi').folder}', device='cpu')"
    for spec in ("chrf", kiwi):
        with pytest.raises(UsageError, match="marks none"):
            gn.bmx.explanations(testset, spec, explainer="own", sides="candidate")
