from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import SpecError
from gnomon.core.signature import Signature, content_hash, version

key = st.from_regex(r"[a-z]{1,8}", fullmatch=True).filter(lambda k: k != "gnomon")
value = st.text(max_size=12)


def test_a_signature_ends_in_the_version() -> None:
    assert str(Signature("bleu").adding(refs=1)) == f"bleu|refs:1|gnomon:{version()}"


def test_a_signature_is_read_again() -> None:
    signature = Signature("bleu(tokenize='13a')").adding(refs=2, tagger="spacy:en|x")
    again = Signature.parse(str(signature))
    assert again == signature
    assert again.fields == (("refs", "2"), ("tagger", "spacy=en/x"))


def test_a_bar_inside_a_quoted_argument_belongs_to_the_spec() -> None:
    for spec in ("m(a='x|y')", 'm(a="x|y")', r"m(a='it\'s|y')", """m(a="'|")"""):
        assert Signature.parse(f"{spec}|refs:1|gnomon:0").spec == spec


def test_an_apostrophe_in_a_field_is_a_letter() -> None:
    signature = Signature("m(a='x|y')").adding(baseline="O'Brien", pattern="it's", seed=7)
    assert Signature.parse(str(signature)) == signature


def test_a_spec_alone_is_a_signature() -> None:
    assert str(Signature.parse("bleu")) == "bleu"
    assert Signature.parse("bleu").spec == Signature("bleu").spec


def test_a_signature_of_another_version_is_printed_as_it_was() -> None:
    old = "bleu|refs:1|gnomon:0.0.9"
    assert str(Signature.parse(old)) == old
    assert Signature.parse(old).gnomon == "0.0.9"


def test_a_signature_is_a_mapping_of_its_fields() -> None:
    signature = Signature("bleu").adding(refs=2, seed=7)
    assert dict(signature) == {"refs": "2", "seed": "7"}
    assert "seed" in signature
    assert "7" not in signature
    assert signature.get("tagger", "none") == "none"
    assert bool(Signature("bleu"))


def test_a_field_without_a_colon_is_refused() -> None:
    with pytest.raises(SpecError, match=r"field 'refs' of signature 'bleu\|refs' is not key:value"):
        Signature.parse("bleu|refs")


def test_adding_keeps_what_was_there() -> None:
    first = Signature("bleu").adding({"case": "lc"})
    assert first.adding(refs=1).fields == (("case", "lc"), ("refs", "1"))
    assert first.fields == (("case", "lc"),)


@given(st.lists(st.tuples(key, value), max_size=4))
def test_any_fields_survive_printing_and_reading(fields: list[tuple[str, str]]) -> None:
    signature = Signature("bleu")
    for name, text in fields:
        signature = signature.adding({name: text})
    assert Signature.parse(str(signature)) == signature
    assert "\n" not in str(signature)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.data())
def test_a_hash_depends_on_the_parts_and_their_boundaries(
    parts: list[str], data: st.DataObject
) -> None:
    assert content_hash(*parts) == content_hash(*(part.encode() for part in parts))
    if parts:
        cut = data.draw(st.integers(0, len(parts[0])))
        assert content_hash(parts[0][:cut], parts[0][cut:], *parts[1:]) != content_hash(*parts)


def test_a_hash_is_the_same_in_every_process() -> None:
    # blake2b over each part behind its length in 8 bytes, little-endian, computed apart
    assert content_hash() == "e4a6a0577479b2b4"
    assert content_hash("ab", b"c") == "bdacf99855a60c09"
    assert content_hash("a\ud800") not in (content_hash("a"), content_hash("a?"))


def test_the_installed_package_has_the_version_that_signatures_show() -> None:
    import importlib.metadata

    assert importlib.metadata.version("gnomon") == version()
