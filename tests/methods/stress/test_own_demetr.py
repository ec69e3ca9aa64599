"""Own perturbations of DEMETR's translations are detected as often as DEMETR's own errors."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import spearmanr
from tests.methods.stress.changed import MODEL

import gnomon as gn
from gnomon.core.errors import MissingDependencyError
from gnomon.core.minimal_pairs import Pair
from gnomon.metrics.wordnet import find_wordnet
from gnomon.stress.detection import stress_pairs
from gnomon.stress.figures import StressRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

pytest.importorskip(MODEL, reason="needs an English pipeline of spaCy")
pytest.importorskip("lemminflect", reason="needs lemminflect: pip install 'gnomon[stress]'")

#: DEMETR's files but hypernyms and the three that are no errors, and the rules that mean the same
MATCHED = {
    "minor_id1_repeat2": ("repeat",),
    "minor_id2_repeat4": ("stutter",),
    "critical_id4_codemix": ("untranslated",),
    "major_id5_pp_removed": ("no phrase",),
    "critical_id6_addition": ("add",),
    "critical_id7_antonym": ("antonym",),
    "critical_id8_negation": ("negation",),
    "critical_id9_ne_replaced": ("name",),
    "critical_id10_numbers_replaced": ("number",),
    "critical_id11_gender": ("gender",),
    "minor_id12_conj_removed": ("delete pos:CCONJ", "delete pos:SCONJ"),
    "minor_id13_pos_shift": ("word class",),
    "minor_id14_word_swap": ("swap",),
    "minor_id15_case": ("pronoun case",),
    "minor_id16_function_word": ("function word",),
    "major_id17_tense": ("tense",),
    "major_id18_aspect": ("aspect",),
    "major_id19_question": ("question",),
    "critical_id20_shuffled": ("shuffle",),
    "critical_id21_adj_adv_removed": ("delete pos:ADJ", "delete pos:ADV"),
    "critical_id22_verb_removed": ("delete pos:VERB",),
    "critical_id23_noun_removed": ("delete pos:NOUN",),
    "critical_id24_subj_removed": ("no subject",),
    "critical_id25_ne_removed": ("no name",),
    "minor_id26_misspelled": ("typo",),
    "minor_id27_char_removed": ("letter",),
    "minor_id28_final_punc_removed": ("no stop",),
    "minor_id29_punc_addition": ("punctuation",),
    "minor_id30_tokenized": ("tokenised",),
    "minor_id31_full_lower": ("lower",),
    "minor_id32_first_lower": ("first lower",),
}


@cache
def _records(folder: Path, name: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads((folder / f"{name}.json").read_text())
    return [record for record in records if str(record["pert_check"]) == "True"]


def _sentences(folder: Path) -> list[dict[str, Any]]:
    """Each translation once, with its source and reference."""
    every = {record["mt_sent"]: record for name in MATCHED for record in _records(folder, name)}
    return [every[text] for text in sorted(every)]


def _detected(rows: Sequence[StressRow]) -> dict[tuple[str, str], tuple[float, int]]:
    """Share detected and pairs, by metric and phenomenon."""
    return {
        (row.metric, row.phenomenon): (row.detected, row.pairs)
        for row in rows
        if row.detected is not None and not row.control
    }


def accuracies(
    folder: Path, metrics: list[str], number: int | None = None
) -> dict[str, dict[str, tuple[float, int, float, int]]]:
    """By metric and file of DEMETR: share detected and pairs, of own and its errors."""
    sentences = _sentences(folder)
    sentences = sentences[:: len(sentences) // number] if number else sentences
    texts = {record["mt_sent"] for record in sentences}
    testset = gn.TestSet.from_lists(
        {"mt": [record["mt_sent"] for record in sentences]},
        [record["eng_sent"] for record in sentences],
        sources=[record["src_sent"] for record in sentences],
        language_pair="xx-en",
    )
    names = [name for names in MATCHED.values() for name in names]
    own = gn.stress(testset, metrics, perturb=names, limit=len(sentences))
    ours = _detected(own.records(StressRow))
    pairs = [
        Pair(
            good=record["mt_sent"],
            bad=record["pert_sent"],
            phenomenon=name,
            references=(record["eng_sent"],),
            source=record["src_sent"],
        )
        for name in MATCHED
        for record in _records(folder, name)
        if record["mt_sent"] in texts and record["mt_sent"] != record["pert_sent"]
    ]
    theirs = _detected(stress_pairs(pairs, metrics).records(StressRow))
    return {
        metric: {
            name: (*_together(ours, metric, rules), *theirs[metric, name])
            for name, rules in MATCHED.items()
            if (metric, name) in theirs
        }
        for metric in metrics
    }


def _together(
    detected: dict[tuple[str, str], tuple[float, int]], metric: str, rules: tuple[str, ...]
) -> tuple[float, int]:
    """Share detected over the pairs of some rules."""
    from gnomon.stress.perturbations import find_perturbations

    rows = [
        detected[metric, rule.phenomenon]
        for rule in find_perturbations(rules, "en")
        if (metric, rule.phenomenon) in detected
    ]
    pairs = sum(number for _, number in rows)
    return sum(share * number for share, number in rows) / pairs, pairs


def _rank_correlation(rows: dict[str, tuple[float, int, float, int]]) -> float:
    return float(spearmanr([row[0] for row in rows.values()], [row[2] for row in rows.values()])[0])


@pytest.fixture
def folder(shared: Path) -> Path:
    folder = shared / "data" / "demetr"
    if not folder.is_dir():
        pytest.skip("needs DEMETR's files")
    return folder


@pytest.mark.verify
def test_two_hundred_sentences_rank_the_kinds_of_errors_as_demetr_does(folder: Path) -> None:
    for rows in accuracies(folder, ["bleu", "chrf"], 200).values():
        enough = {name: row for name, row in rows.items() if min(row[1], row[3]) >= 50}
        assert len(enough) >= 25
        assert _rank_correlation(enough) >= 0.85
        apart = [abs(row[0] - row[2]) for row in enough.values()]
        assert sum(apart) / len(apart) <= 0.05


#: METEOR forgives a change of the part of speech that keeps the stem, of which DEMETR has more
MISFITS = {"meteor": {"minor_id13_pos_shift"}}


@pytest.mark.verify
def test_all_sentences_rank_the_kinds_of_errors_as_demetr_does(folder: Path) -> None:
    try:
        find_wordnet()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    for metric, rows in accuracies(folder, ["bleu", "chrf", "ter", "meteor"]).items():
        assert _rank_correlation(rows) >= (0.90 if metric == "bleu" else 0.93)
        apart = {name for name, row in rows.items() if abs(row[0] - row[2]) > 0.08}
        assert apart <= MISFITS.get(metric, set())
