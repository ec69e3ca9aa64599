"""Output-guided constraints, variants, and what they bring on other systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.cli import main
from gnomon.core.errors import FormatError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet
from gnomon.paraphrase import (
    output_constraints,
    read_constraints,
    read_variants,
    variant_constraints,
    variant_paraphrases,
)

_WORDS = st.lists(st.sampled_from("abcd"), max_size=6).map(" ".join)


def _set(*outputs: str, reference: str = "r") -> TestSet:
    return TestSet.from_lists({f"s{k}": [text] for k, text in enumerate(outputs)}, [reference])


def test_the_longest_common_ngrams_come_first_and_hold_all_shorter_ones() -> None:
    ts = _set("a b c d e f", "a b c d e", "a b c d", "x", reference="a")
    found = output_constraints(ts)
    assert [(one.tokens, one.systems, one.share) for one in found] == [
        (("a", "b", "c", "d"), 3, 0.75)
    ]


def test_what_the_reference_holds_is_no_constraint() -> None:
    found = output_constraints(_set("a b", "a b", reference="b a"))
    assert [one.tokens for one in found] == [("a", "b")]
    assert not output_constraints(_set("b a", "b a", reference="x b a"))


def test_the_text_of_a_constraint_is_that_of_an_output() -> None:
    found = output_constraints(_set('He said: "no".', 'He said: "no".', reference="He denied ."))
    assert found[0].text == 'He said: "'


@given(st.lists(_WORDS, min_size=1, max_size=4), _WORDS, st.sampled_from([0.5, 0.75, 1.0]))
def test_constraints_keep_their_definition(
    outputs: list[str], reference: str, share: float
) -> None:
    found = output_constraints(_set(*outputs, reference=reference), share=share)
    padded = [f" {text} " for text in outputs]
    for one in found:
        text = f" {' '.join(one.tokens)} "
        assert sum(text in output for output in padded) == one.systems >= share * len(outputs)
        assert text not in f" {reference} "
        assert 1 <= len(one.tokens) <= 4
    texts = [f" {' '.join(one.tokens)} " for one in found]
    assert not any(a in b for a in texts for b in texts if a is not b)


@given(st.permutations(["a b c", "a b", "b c", "c"]))
def test_the_order_of_systems_does_not_matter(outputs: Sequence[str]) -> None:
    found = {one.tokens for one in output_constraints(_set(*outputs), share=0.5)}
    assert found == {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("options", [{"share": 0}, {"share": 1.1}, {"longest": 0}, {"most": 0}])
def test_options_out_of_range_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        output_constraints(_set("a"), **options)  # type: ignore[arg-type]  # what is refused


def _judged(systems: int = 8, segments: int = 6) -> TestSet:
    rng = np.random.default_rng(1)
    references = [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(segments)]
    outputs = {}
    for k in range(systems):
        rows = [list(text.split()) for text in references]
        for row in rows:
            for place in rng.choice(8, k, replace=False):
                row[place] = "z"
        outputs[f"s{k}"] = [" ".join(row) for row in rows]
    values = np.arange(systems, 0, -1, dtype=np.float64).reshape(-1, 1)
    return TestSet(
        name="t",
        references={"A": references},
        systems=outputs,
        human=(HumanScores("da", "system", tuple(outputs), values),),
    )


def test_variants_ask_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "variants.txt"
    path.write_text("# names\nU.S. / United States / US\n\ndon't\tdo not\n", encoding="utf-8")
    lines = read_variants(path)
    assert lines == (("U.S.", "United States", "US"), ("don't", "do not"))
    ts = TestSet.from_lists({}, ["The U.S. is big", "we do not", "United States and US"])
    found = variant_constraints(ts, lines)
    assert [(one.segment, one.text, one.replaces) for one in found] == [
        (1, "United States", "U.S."),
        (1, "US", "U.S."),
        (2, "don't", "do not"),
        (3, "U.S.", "United States"),
    ]
    assert [(p.segment, p.text) for p in variant_paraphrases(ts, lines)] == [
        (1, "The United States is big"),
        (1, "The US is big"),
        (2, "we don't"),
        (3, "U.S. and US"),
        (3, "United States and U.S."),
    ]


def test_a_longer_variant_hides_the_shorter_one_in_it() -> None:
    ts = TestSet.from_lists({}, ["New York City"])
    lines = [("New York", "New York City", "NYC")]
    assert [p.text for p in variant_paraphrases(ts, lines)] == ["NYC"]


@pytest.mark.parametrize("line", ["alone", "a / a", "mat\x0brug\tcarpet", "a / b\u2028c"])
def test_a_line_of_one_variant_or_with_a_control_character_is_refused(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "v.txt"
    path.write_text(f"a / b\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"v\.txt:2: "):
        read_variants(path)


def test_what_references_lack_is_listed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testset = _judged()
    testset.write(tmp_path / "set")
    saved = tmp_path / "c.jsonl"
    base = ["paraphrase", "coverage", "-t", str(tmp_path / "set"), "-f", "json"]
    assert main([*base, "--share", "0.3", "--missing-per-segment", str(saved)]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["missing per segment"]
    kept = read_constraints(saved)
    assert kept == output_constraints(testset, share=0.3)
    assert [row["ngram"] for row in rows] == [one.text for one in kept]
    assert main([*base, "--share", "0"]) == 2


def test_words_of_a_constraint_are_letters_where_no_space_parts_them(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"segment": 1, "text": "新能源 car ที่"}\n', "utf-8")
    [read] = read_constraints(tmp_path / "c.jsonl")
    assert read.tokens == ("新", "能", "源", "car", "ที่")
