"""Pairs are written, scored elsewhere and read back."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.data.formats import read_pair_scores, read_pairs
from gnomon.data.formats.pairs import write_pairs

WORDS = ["number", "swap", "lower", "twice"]
TEXTS = [f"The {n} cats of Anna sat on mat {n}." for n in range(10, 40)]


@pytest.fixture
def testset():
    outputs = [text.replace("sat", "slept") for text in TEXTS]
    return gn.TestSet.from_lists(
        {"a": outputs}, TEXTS, language_pair="de-en", sources=[text[::-1] for text in TEXTS]
    )


def test_pairs_that_are_written_and_read_give_the_same_finding(testset, tmp_path):
    path = tmp_path / "pairs.tsv"
    own = gn.stress(testset, ["bleu", "chrf"], perturb=WORDS, save_pairs=path)
    read = gn.stress(None, ["bleu", "chrf"], pairs=[path])
    assert [dict(row) for row in read.rows] == [dict(row) for row in own.rows]
    counts = Counter(pair.phenomenon for pair in read_pairs(path))
    assert counts["missing capitals"] == counts["wrong numbers"] == 30


def test_scores_of_a_metric_that_ran_elsewhere_are_read_back(testset, tmp_path):
    path = tmp_path / "pairs.tsv"
    gn.stress(testset, "bleu", perturb=WORDS, save_pairs=path)
    pairs = read_pairs(path)
    good, bad = ([getattr(pair, side) for pair in pairs] for side in ("good", "bad"))
    references = [list(pair.references) for pair in pairs]
    both = gn.TestSet.from_lists({"good": good, "bad": bad}, references, language_pair="de-en")
    by_side = gn.score(both, "ter").segments
    lines = path.read_text(encoding="utf-8").splitlines()
    header = f"{lines[0]}\tTER-good\tTER-bad"
    rows = [f"{line}\t{by_side[0][n]}\t{by_side[1][n]}" for n, line in enumerate(lines[1:])]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert len(read_pair_scores(path)["TER"]) == len(pairs)
    found = gn.stress(None, "ter", pairs=[path], lower_is_better=["TER"])
    of_metric = {
        name: [
            (r["phenomenon"], r["detected"], r["ties"]) for r in found.rows if r["metric"] == name
        ]
        for name in ("ter", "TER")
    }
    assert of_metric["ter"] == of_metric["TER"]
    with pytest.raises(UnknownNameError, match="unknown metric of the pairs 'XX'"):
        gn.stress(None, "ter", pairs=[path], lower_is_better=["XX"])


@pytest.mark.parametrize(
    ("columns", "cells", "said"),
    [
        ("", "", None),
        ("\tM-good", "\t1", "p.tsv:2: has no column M-bad beside the other one"),
        ("\tM-good\tM-bad", "\t1\tx", "p.tsv:2: M-bad is 'x'; a number is expected"),
    ],
)
def test_wrong_scores_are_refused_with_their_line(tmp_path, columns, cells, said):
    path = tmp_path / "p.tsv"
    path.write_text(
        f"good-translation\tincorrect-translation\tphenomena{columns}\na\tb\tc{cells}\n"
    )
    if said is None:
        assert read_pair_scores(path) == {}
        return
    with pytest.raises(FormatError) as caught:
        gn.stress(None, "bleu", pairs=[path])
    assert said in str(caught.value)


HEADER = "good-translation\tincorrect-translation\tphenomena\tM-good\tM-bad\n"


def test_odd_pairs_are_left_out_with_their_scores_and_said(tmp_path, caplog):
    path = tmp_path / "p.tsv"
    path.write_text(f"{HEADER}a\tb\tc\t1\t2\na\ta\tc\t3\t4\na\nd\te\tc\t5\t6\nf\tg\tc\t7\t8\n")
    assert [pair.good for pair in read_pairs(path)] == ["a", "d", "f"]
    assert read_pair_scores(path) == {"M": [(1, 2), (5, 6), (7, 8)]}
    assert "2 odd rows are left out; the first: " in caplog.text
    assert "p.tsv:3: both texts are the same, so that none is the worse" in caplog.text
    assert len(caplog.records) == 1


def test_a_table_of_which_half_the_pairs_are_odd_is_refused(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text(f"{HEADER}a\tb\tc\t1\t2\na\ta\tc\t3\t4\n")
    with pytest.raises(FormatError, match=r"p\.tsv:3: both texts are the same"):
        read_pairs(path)


def test_quotation_marks_of_texts_are_kept_where_cells_are_not_quoted(tmp_path):
    path = tmp_path / "p.tsv"
    rows = [
        ('"Go," she said.', '"Stay," she said.'),
        ('"Never"', '"Ever"'),
        ('He said "no".', 'He said "yes'),
        ('"Open', "Shut"),
    ]
    path.write_text(HEADER + "".join(f"{good}\t{bad}\tc\t1\t2\n" for good, bad in rows))
    assert [(pair.good, pair.bad) for pair in read_pairs(path)] == rows


def test_cells_that_a_spreadsheet_quoted_are_read_as_they_were_meant(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text(f'{HEADER}"""Go,"" she said."\t"a\tb"\tc\t1\t2\n"Never"\tx\tc\t1\t2\n')
    pairs = [(pair.good, pair.bad) for pair in read_pairs(path)]
    assert pairs == [('"Go," she said.', "a\tb"), ("Never", "x")]


def test_files_of_demetr_with_doubled_ids_or_without_checks_are_refused(tmp_path):
    record = '{"id": 1, "mt_sent": "a b", "pert_sent": "a", "pert_name": "x", "eng_sent": "a b"%s}'
    path = tmp_path / "d.json"
    path.write_text("[" + record % "" + "]")
    with pytest.raises(FormatError, match="pert_check"):
        read_pairs(path)
    checked = record % ', "pert_check": true'
    path.write_text(f"[\n{checked},\n{checked}\n]")
    with pytest.raises(FormatError, match="id 1 is there twice"):
        read_pairs(path)


def test_aces_is_read_as_json_lines_too(tmp_path):
    record = {
        "source": "Zwei Katzen",
        "good-translation": "two cats",
        "incorrect-translation": "nine cats",
        "reference": "two cats",
        "phenomena": "number",
        "langpair": "de-en",
    }
    path = tmp_path / "challenge_set.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(record | {"reference": ""}) + "\n")
    first, second = read_pairs(path)
    assert (first.good, first.bad, first.references) == ("two cats", "nine cats", ("two cats",))
    assert (second.references, second.language_pair) == ((), "de-en")


def test_what_is_written_is_what_is_read(tmp_path):
    pairs = read_pairs_of(tmp_path)
    write_pairs(tmp_path / "again.tsv", pairs)
    assert read_pairs(tmp_path / "again.tsv") == pairs


def read_pairs_of(folder):
    testset = gn.TestSet.from_lists(
        {"a": ['"Two", he said.', "Nine men."]},
        [["Two, he said.", "“Two”"], ["Nine men."]],
        documents=["x", "y"],
        language_pair="de-en",
    )
    gn.stress(testset, "bleu", perturb=["lower", "swap"], save_pairs=folder / "p.tsv")
    pairs = read_pairs(folder / "p.tsv")
    assert pairs[0].good == '"Two", he said.'
    assert {pair.document for pair in pairs} == {"x", "y"}
    return pairs


def test_a_perturbation_that_changes_nothing_is_said(testset):
    @gn.stress.perturbation("idle", phenomenon="nothing")
    def idle(output, pool, rng):
        return iter(())

    assert "idle change none of the texts" in notes(
        gn.stress(testset, "bleu", perturb=[idle, "swap"]).notices
    )
    with pytest.raises(DataError, match="nothing in the texts of a could be changed by idle"):
        gn.stress(testset, "bleu", perturb=[idle])


def test_the_best_output_is_changed_and_any_other_if_asked(testset):
    worse = ["Nothing 5." for _ in range(30)]
    both = gn.TestSet.from_lists({"bad": worse, **testset.systems}, TEXTS, language_pair="de-en")
    assert gn.stress(both, "bleu", perturb=["lower"]).facts["texts"] == (
        "outputs of a, the best of 2 by chrF"
    )
    other = gn.stress(both, "bleu", perturb=["lower"], perturbed_system="bad")
    assert other.facts["texts"] == "outputs of bad"
    on_reference = gn.stress(both, "bleu", perturb=["lower"], perturbed_system="REFERENCE")
    assert on_reference.rows[0]["detected"] == 1.0
    with pytest.raises(UnknownNameError, match="unknown system 'c'"):
        gn.stress(both, "bleu", perturbed_system="c")


def test_same_command_same_bytes(testset, tmp_path, capsys):
    texts = {name: tmp_path / name for name in ("ref.txt", "a.txt")}
    texts["ref.txt"].write_text("\n".join(TEXTS) + "\n")
    texts["a.txt"].write_text("\n".join(testset.systems["a"]) + "\n")
    command = ["stress", str(texts["ref.txt"]), "-i", str(texts["a.txt"]), "-q", "-l", "xx"]
    printed = []
    for _ in range(2):
        assert main([*command, "--limit", "9", "-m", "chrf"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert np.array([len(text) > 500 for text in printed]).all()


def test_pairs_are_saved_as_a_table_alone(testset, tmp_path):
    with pytest.raises(UsageError, match=r"save_pairs must be a file name in \.tsv; got .*p\.json"):
        gn.stress(testset, "bleu", perturb=["lower"], save_pairs=tmp_path / "p.json")


def test_texts_that_are_no_translation_take_the_places_of_the_same_outputs(testset, tmp_path):
    path = tmp_path / "p.tsv"
    gn.stress(testset, "bleu", perturb=["twice", "half"], limit=10, save_pairs=path)
    segments = {}
    for pair in read_pairs(path):
        segments.setdefault(pair.phenomenon, []).append(pair.origin)
    first, second = segments.values()
    assert first == second
    assert len(first) == 10
