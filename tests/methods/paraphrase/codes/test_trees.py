"""Pruned trees, and the network that packs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.core.errors import DataError, UsageError
from gnomon.data.formats import Tree, parse_tree
from gnomon.paraphrase import codes
from gnomon.paraphrase.codes.trees import flat, forest

_LABELS = ("NP", "VP", "PP", "ADJP", "SBAR")


def _tree(text: str) -> Tree:
    found = parse_tree(text)
    assert found is not None
    return found


def _random(rng: np.random.Generator, level: int = 1) -> Tree:
    label = str(rng.choice(_LABELS)) if level > 1 else "S"
    if level == 4 or (level > 1 and rng.random() < 0.3):
        return Tree(label, ("word",))
    return Tree(label, tuple(_random(rng, level + 1) for _ in range(rng.integers(1, 4))))


def _bracketed(*labels: str) -> Tree:
    return Tree("S", tuple(Tree(label, ("word",)) for label in labels))


def test_pruning_drops_words_functions_traces_and_what_lies_below_the_depth() -> None:
    tree = _tree(
        "(S (NP-SBJ-1 (DT the) (-LRB- -LRB-) (NP=2 (NN cat))) (NP (-NONE- *T*)) (VP (VBZ is)))"
    )
    assert str(codes.pruned(tree, 1)) == "(S)"
    assert str(codes.pruned(tree, 2)) == "(S (NP) (VP))"
    assert str(codes.pruned(tree, 3)) == "(S (NP (DT) (-LRB-) (NP)) (VP (VBZ)))"
    assert codes.pruned(tree, 4) == codes.pruned(tree, None)
    assert str(codes.pruned(tree, 3, most_children=1)) == "(S (NP (DT)))"


@pytest.fixture(scope="module")
def made() -> codes.Codes:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'gnomon[training]'")
    pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
    rng = np.random.default_rng(0)
    recipe = codes.TreeRecipe(hidden=48, embedding=24, batch=10, iterations=60, rate=0.05)
    trees = [*(_random(rng) for _ in range(40)), None]
    return codes.fit([], trees=trees, encoder="syntactic", k=4, seed=0, recipe=recipe, device="cpu")


def _vectors(made: codes.Codes, trees: list[Tree]) -> np.ndarray:
    assert made.space is not None
    return np.concatenate(list(made.space.vectors([codes.pruned(tree) for tree in trees])))


def test_the_network_gives_back_the_trees_it_was_trained_on(made: codes.Codes) -> None:
    import torch

    from gnomon.paraphrase.codes.autoencoder import Syntactic, decoder_logits, encoded

    space, rng = made.space, np.random.default_rng(0)
    assert isinstance(space, Syntactic)
    numbers = {label: number for number, label in enumerate(space.labels, start=1)}
    trees = forest([flat(codes.pruned(_random(rng)), numbers) for _ in range(40)])
    with torch.no_grad():
        told = decoder_logits(space.weights, trees, encoded(space.weights, trees))
    for side, name, right, commonest in ((0, "labels", 0.7, 0.3), (1, "children", 0.8, 0.6)):
        true = np.concatenate([getattr(level, name) for level in trees.levels])
        given = np.concatenate([logits[side].argmax(1).numpy() for logits in told])
        assert (given == true).mean() > right
        assert np.bincount(true).max() / len(true) < commonest


def test_trees_side_by_side_have_the_vectors_that_they_have_alone(made: codes.Codes) -> None:
    rng = np.random.default_rng(1)
    trees = [*(_random(rng) for _ in range(30)), _bracketed("NP"), Tree("S", ("word",))]
    alone = np.concatenate([_vectors(made, [tree]) for tree in trees])
    assert np.abs(_vectors(made, trees) - alone).max() < 1e-6


def test_a_vector_reads_words_not_at_all_and_children_in_any_order(made: codes.Codes) -> None:
    one = _tree("(S (NP (DT the) (NN cat)) (VP (VBZ sits)))")
    words = _tree("(S (NP (DT a) (NN dog)) (VP (VBZ barks)))")
    turned = _tree("(S (VP (VBZ sits)) (NP (NN cat) (DT the)))")
    moved = _tree("(S (VP (VBZ sits) (DT the)) (NP (NN cat)))")
    first, same, order, other = _vectors(made, [one, words, turned, moved])
    assert (first == same).all()
    assert np.abs(first - order).max() < 1e-6
    assert np.abs(first - other).max() > 1e-3


def test_syntactic_codes_are_saved_whole(made: codes.Codes, tmp_path: Path) -> None:
    made.save(tmp_path)
    read = codes.load(tmp_path, device="cpu")
    rng = np.random.default_rng(2)
    trees = [None, *(_random(rng) for _ in range(20)), _tree("(X (QQ (ZZ new)))")]
    assert read.identity == made.identity
    found = read.assign([], trees=trees)
    assert found.tolist() == made.assign([], trees=trees).tolist()
    assert found[0] == -1
    assert found[-1] >= 0  # labels that nobody knows
    assert made.fitted.skipped == 1


def test_sentences_without_trees_need_the_parser_of_the_codes(made: codes.Codes) -> None:
    with pytest.raises(UsageError, match="made from trees that were given"):
        made.assign(["the cat"])


def test_trees_that_are_not_parallel_are_refused(made: codes.Codes) -> None:
    with pytest.raises(DataError, match="2 trees for 3 sentences"):
        made.assign(["a", "b", "c"], trees=[None, None])


def test_fewer_different_trees_than_codes_are_refused() -> None:
    trees = [_bracketed("NP"), _bracketed("VP"), _bracketed("NP")]
    with pytest.raises(UsageError, match="2 different pruned trees cannot make 3 codes"):
        codes.fit([], trees=trees, encoder="syntactic", k=3)


def test_syntactic_codes_need_trees_or_a_parser() -> None:
    with pytest.raises(UsageError, match="syntactic codes need trees"):
        codes.fit(["the cat sits"], encoder="syntactic", k=1)


def test_a_recipe_has_positive_numbers() -> None:
    with pytest.raises(UsageError, match="rate must be a number, above 0"):
        codes.TreeRecipe(rate=float("nan"))
    with pytest.raises(UsageError, match="depth must be a whole number, 1 or more"):
        codes.TreeRecipe(depth=0)
    assert codes.TreeRecipe(decay=0).decay == 0
