"""DS_x and DS_t: by hand, by brute force, and against published texts."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.data.formats import Tree, parse_tree, read_lines, read_trees
from gnomon.paraphrase import lexical_diversity, syntactic_diversity, tree_similarity

_LEAVES = st.builds(Tree, st.sampled_from("AB"), st.sampled_from([("x",), ("y",)]))
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        st.sampled_from("AB"),
        st.lists(inner, min_size=1, max_size=2),
    ),
    max_leaves=5,
)


def _fragments(tree: Tree) -> list[tuple[str, int]]:
    """Every fragment rooted here, and its number of productions, written out one by one."""
    options: list[list[tuple[str, int]]] = []
    for child in tree.children:
        if isinstance(child, str):
            options.append([(f"'{child}", 0)])
        else:
            options.append([(child.label, 0), *_fragments(child)])
    return [
        (f"({tree.label} {' '.join(text for text, _ in parts)})", 1 + sum(n for _, n in parts))
        for parts in product(*options)
    ]


def _all_fragments(tree: Tree) -> Counter[tuple[str, int]]:
    found = Counter(_fragments(tree))
    for child in tree.children:
        if isinstance(child, Tree):
            found += _all_fragments(child)
    return found


def _brute_force(a: Tree, b: Tree, decay: float) -> float:
    def kernel(one: Tree, other: Tree) -> float:
        mine, theirs = _all_fragments(one), _all_fragments(other)
        return sum(count * theirs[key] * decay ** key[1] for key, count in mine.items())

    return kernel(a, b) / math.sqrt(kernel(a, a) * kernel(b, b))


@given(_TREES, _TREES, st.sampled_from([0.1, 0.4, 1.0]))
def test_the_kernel_counts_all_common_fragments(a: Tree, b: Tree, decay: float) -> None:
    assert tree_similarity(a, b, decay=decay) == pytest.approx(_brute_force(a, b, decay), rel=1e-9)


@given(_TREES, _TREES)
def test_similarity_is_symmetric_and_one_for_equal_trees(a: Tree, b: Tree) -> None:
    assert tree_similarity(a, b) == pytest.approx(tree_similarity(b, a), rel=1e-12)
    assert tree_similarity(a, a) == pytest.approx(1.0)


def test_trees_with_too_many_fragments_to_count_are_compared_all_the_same() -> None:
    level = [Tree("N", (f"w{k}",)) for k in range(1024)]
    while len(level) > 1:
        pairs = range(0, len(level), 2)
        level = [Tree(f"X{len(level)}.{i}", tuple(level[i : i + 2])) for i in pairs]
    other = Tree("S", (level[0], Tree("N", ("v",))))
    assert tree_similarity(level[0], level[0], decay=1.0) == pytest.approx(1.0)
    similar = tree_similarity(level[0], other, decay=1.0)
    assert similar is not None
    assert 0 < similar < 1


def test_without_words_parts_of_speech_are_the_leaves() -> None:
    a, b = "(NP (DT a) (NN cat))", "(NP (DT the) (NN dog))"
    assert tree_similarity(a, b, words=False) == pytest.approx(1.0)
    assert tree_similarity("(NN cat)", b, words=False) is None


def test_a_word_never_equals_a_label() -> None:
    assert tree_similarity("(A (B b))", "(A B)") == pytest.approx(0.0)


def test_trees_that_were_not_parsed_have_no_similarity() -> None:
    assert tree_similarity("(())", "(A a)") is None


@pytest.mark.parametrize("decay", [0.0, -1.0, 1.5, math.nan])
def test_a_decay_outside_its_range_is_refused(decay: float) -> None:
    with pytest.raises(UsageError, match="decay"):
        tree_similarity("(A a)", "(A a)", decay=decay)


def test_lengths_count_distinct_words_or_all_words() -> None:
    texts = ["the cat and the dog", "the cat and the dog"]
    assert lexical_diversity(texts) == 0
    assert lexical_diversity(texts, "lexical-tokens") == pytest.approx(1 - 4 / 5)


@given(st.lists(st.text("ab ,.", max_size=8), min_size=2, max_size=4))
def test_diversity_lies_between_none_and_all(texts: list[str]) -> None:
    value = lexical_diversity(texts)
    assert value is not None
    assert -1e-12 <= value <= 1
    assert lexical_diversity([texts[0]] * 3) == pytest.approx(0)


def test_sentences_are_averaged_and_missing_paraphrases_left_out() -> None:
    groups = [["a b", "c d"], ["a b", "a b"], ["a b", None]]
    assert lexical_diversity(groups) == pytest.approx(0.5)
    assert lexical_diversity([["a b"], [None]]) is None
    assert lexical_diversity(["a b"]) is None


def test_unknown_variants_and_wrong_shapes_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="lexical-tokens"):
        lexical_diversity(["a", "b"], "tokens")
    with pytest.raises(UsageError, match="must be a list of texts"):
        lexical_diversity([["a", "b"], "c"])  # type: ignore[list-item]  # what is refused
    with pytest.raises(UnknownNameError, match="skip"):
        syntactic_diversity(["(A a)", "(A a)"], lone="drop")


def test_a_sentence_with_a_lone_tree_counts_nothing_or_is_left_out() -> None:
    groups = [["(A a)", "(B b)"], ["(A a)", "(())"]]
    assert syntactic_diversity(groups) == pytest.approx(0.5)
    assert syntactic_diversity(groups, lone="skip") == pytest.approx(1.0)
    assert syntactic_diversity([["(A a)", None]]) is None


def _human(shared: Path) -> Path:
    return shared / "data/paraphrases/wmt19-de-en-500"


@pytest.mark.parametrize(
    ("variant", "column", "published"),
    [("lexical", 2, 0.462474), ("lexical-tokens", 1, 0.503144)],
)
def test_human_paraphrases_have_the_diversity_of_the_oracle(
    shared: Path, variant: str, column: int, published: float
) -> None:
    files = [_human(shared) / f"ref.human{k}.txt" for k in range(1, 6)]
    groups = list(zip(*map(read_lines, files), strict=True))
    oracle = read_lines(shared / "oracles/paraphrase/human500_dsx_text.tsv")[1:]
    wanted = [float(line.split("\t")[column]) for line in oracle]
    assert [lexical_diversity(group, variant) for group in groups] == pytest.approx(
        wanted, abs=1e-9
    )
    assert lexical_diversity(groups, variant) == pytest.approx(published, abs=1e-6)


@pytest.mark.parametrize(
    ("words", "wanted"), [pytest.param(True, 0.6829, marks=pytest.mark.verify), (False, 0.593)]
)
def test_parses_of_human_paraphrases_have_the_diversity_that_was_found_for_them(
    shared: Path, *, words: bool, wanted: float
) -> None:
    # no published value has these settings; .6812 is printed, .6829 came out of the authors' files
    files = [_human(shared) / f"parses/ref.human{k}.ptb" for k in range(1, 6)]
    groups = list(zip(*(read_trees(file).trees for file in files), strict=True))
    found = syntactic_diversity(groups, words=words)
    assert found == pytest.approx(wanted, abs=5e-4 if not words else 5e-5)


@pytest.mark.verify
def test_every_parse_of_the_shared_files_is_read(shared: Path) -> None:
    for file in sorted((_human(shared) / "parses").glob("*.ptb")):
        found = read_trees(file)
        assert len(found.trees) == 500
        assert not found.damaged
        assert all(parse_tree(str(t)) is not None for t in found.trees if t is not None)
