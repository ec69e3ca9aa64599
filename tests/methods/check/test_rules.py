"""Rules that outputs must keep."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.check.rules import Rules, read_rules
from gnomon.core.errors import FormatError, UsageError
from gnomon.linguistics.faults import Texts


def broken(rules, outputs):
    """Segment (from 1), place and rule of each hit of the system."""
    texts = Texts(gn.TestSet.from_lists({"a": outputs}, ["x"] * len(outputs)))
    hits = [hit for hit in rules.fault.rule(texts) if hit.column == "a"]
    return [(hit.segment + 1, hit.start, hit.end, hit.params["rule"]) for hit in hits]


def table(folder, text):
    path = folder / "rules.tsv"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "cell", "outputs", "found"),
    [
        ("must", "Sie|Ihr", ["Ihr geht", "Geh", ""], [(n, -1, -1, "must") for n in (2, 3)]),
        ("must-not", "du|Du", ["Geh", "Gehst du"], [(2, 6, 8, "must-not")]),
        ("pattern", "^[A-Z]", ["Ja", "ja"], [(2, -1, -1, "pattern")]),
        ("pattern", "(?=.*b)", ["ab", "a"], [(2, -1, -1, "pattern")]),
        ("not-pattern", r"\d+", ["a", "a 12"], [(2, 2, 4, "not-pattern")]),
        ("at-most", "3", ["abc", "abcde"], [(2, 3, 5, "at-most")]),
    ],
)
def test_each_rule(tmp_path, header, cell, outputs, found):
    assert broken(read_rules(table(tmp_path, f"{header}\n{cell}\n")), outputs) == found


def test_a_row_may_hold_for_one_segment(tmp_path):
    rules = read_rules(table(tmp_path, "segment\tat-most\tmust\n2\t3\t\n\t\ta\n"))
    assert broken(rules, ["abcd", "abcd", "bcd"]) == [
        (2, 3, 4, "at-most"),
        (3, -1, -1, "must"),
    ]
    texts = Texts(gn.TestSet.from_lists({"a": ["x", "y"]}, ["x", "y"]))
    own = Rules(tuple(rule for rule in rules.rules if rule.segment is not None))
    assert own.fault.at_stake(texts).tolist() == [False, True]


def test_a_judge_says_yes_or_no():
    testset = gn.TestSet.from_lists({"a": ["ja", "nein"]}, ["x", "y"])
    says = gn.metric(lambda candidate, _: float(candidate == "ja"), name="formal")
    rules = Rules().add_judge(gn.score(testset, says))
    assert broken(rules, ["ja", "nein"]) == [(2, -1, -1, "formal")]
    grades = gn.metric(lambda *_: 5.0, name="grades")
    with pytest.raises(UsageError, match=r"scale \[0, 1\]"):
        Rules().add_judge(gn.score(testset, grades))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("note\nmind\n", 1, "no column of rules"),
        ("must\tnote\n\tmind\n", 2, "holds no rule"),
        ("at-most\nmany\n", 2, "at-most"),
        ("segment\tmust\n0\ta\n", 2, "segment"),
    ],
)
def test_odd_tables_are_refused_with_their_line(tmp_path, text, line, says):
    with pytest.raises(FormatError, match=says) as raised:
        read_rules(table(tmp_path, text))
    assert raised.value.line == line


def test_a_pattern_that_is_none_is_named_with_its_line(tmp_path):
    with pytest.raises(UsageError, match=r"line 2.*not a regular expression"):
        read_rules(table(tmp_path, "pattern\n(a\n"))


def test_a_pattern_that_takes_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gnomon.check.rules._SECONDS", 0.01)
    rules = read_rules(table(tmp_path, "pattern\n(a|a)+$\n"))
    with pytest.raises(UsageError, match="backtracks"):
        broken(rules, ["a" * 40 + "b"])


def test_without_rules_nothing_is_at_stake():
    texts = Texts(gn.TestSet.from_lists({"a": ["x"]}, ["x"]))
    np.testing.assert_array_equal(Rules().fault.at_stake(texts), [False])
