from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.linguistics.feature_names import (
    expand,
    features_of,
    kind_of,
    matches,
    ordered,
    reach_of,
)

OBSERVED = {"pos:VERB", "pos:ADJ", "ent:GPE", "ent:DATE", "morph:Gender", "morph:Gender=Fem"}
KNOWN = {*OBSERVED, "pos:SYM", "pos:NOUN", "ent:LAW", "morph:Gender=Masc"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("NOUN", "did you mean 'pos:NOUN'"),
        ("noun", "did you mean 'pos:NOUN'"),
        ("person", "did you mean 'ent:PERSON'"),
        ("Gender", "did you mean 'morph:Gender'"),
        ("pos", r"did you mean 'pos:\*'"),
        ("pos:", r"did you mean 'pos:\*'"),
        (":NOUN", "did you mean 'pos:NOUN'"),
        ("", "names are pos:NOUN"),
        ("qqq", "names are pos:NOUN"),
    ],
)
def test_a_malformed_name_is_answered_with_the_forms(given: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        kind_of(given)


def test_wildcards_stand_for_what_occurs_in_a_fixed_order() -> None:
    names, notices = expand(["ent:*", "pos:*"], OBSERVED, KNOWN)
    assert names == ("ent:DATE", "ent:GPE", "pos:ADJ", "pos:VERB")
    assert notices == ()
    assert expand(["morph:Gender=*"], OBSERVED, KNOWN)[0] == ("morph:Gender=Fem",)
    assert expand(["*:*"], OBSERVED, KNOWN)[0] == tuple(ordered(OBSERVED))


def test_a_feature_asked_for_twice_is_there_once() -> None:
    assert expand(["pos:VERB", "pos:*"], OBSERVED, KNOWN)[0] == ("pos:VERB", "pos:ADJ")


def test_a_known_feature_that_never_occurs_stays_and_is_said() -> None:
    names, notices = expand(["pos:SYM"], OBSERVED, KNOWN)
    assert names == ("pos:SYM",)
    assert notes(notices) == ("the texts have no symbols",)


def test_a_wildcard_that_nothing_matches_is_said() -> None:
    names, notices = expand(["ent:L*"], OBSERVED, KNOWN)
    assert names == ()
    assert notes(notices) == ("no feature that matches ent:L* occurs in the texts",)


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("pos:NUON", "did you mean 'pos:NOUN'"),
        ("pos:noun", "case-sensitive: 'pos:NOUN'"),
        ("ent:LAWS", "did you mean 'ent:LAW'"),
        ("morph:Gender=Femi", "did you mean 'morph:Gender=Fem'"),
        ("ent:Q*", "there are: ent:DATE, ent:GPE, ent:LAW"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(given: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=near):
        expand([given], OBSERVED, KNOWN)


def test_brackets_in_names_are_no_wildcards() -> None:
    assert matches("morph:Number[psor]=*", "morph:Number[psor]=Sing")
    assert not matches("morph:Number[psor]=*", "morph:Numberp=Sing")


def test_order_is_that_of_ud_then_the_alphabet() -> None:
    names = ["dep:obj", "ent:B", "pos:X", "ent:A", "pos:ADJ", "zeta:1", "lex:f", "pos:QQ"]
    assert ordered(names) == [
        "pos:ADJ", "pos:X", "pos:QQ", "ent:A", "ent:B", "dep:obj", "lex:f", "zeta:1",
    ]  # fmt: skip


def test_white_space_is_no_part_of_speech() -> None:
    assert features_of("pos", "SPACE") == ()
    assert features_of("pos", "|Gender=Fem") == ("morph:Gender", "morph:Gender=Fem")


@pytest.mark.parametrize("name", ["dep:long", "dep:long>=0", "dep:long>5", "dep:long>=x"])
def test_long_arcs_need_a_bound(name: str) -> None:
    with pytest.raises(UsageError, match="dep:long>=5"):
        reach_of(name)


@given(st.integers(1, 10**6))
def test_the_bound_of_long_arcs_is_read(bound: int) -> None:
    assert reach_of(f"dep:long>={bound}") == bound


@given(st.text(), st.text())
def test_a_name_matches_itself_and_the_star_matches_all(kind: str, name: str) -> None:
    whole = f"{kind}:{name}".replace("*", "").replace("?", "")
    assert matches(whole, whole)
    assert matches("*", whole)
