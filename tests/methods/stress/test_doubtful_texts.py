"""What is said of texts from which nothing follows: copies of references, shifted files."""

from __future__ import annotations

import pytest

import gnomon as gn
from gnomon import example
from gnomon.core.errors import DataError

NAMES = ["number", "swap", "lower"]


@pytest.fixture
def texts() -> tuple[list[str], list[str]]:
    """References of the example, and the outputs of a system."""
    bundled = gn.TestSet.read(example.path())
    references = [text or "" for text in next(iter(bundled.references.values()))]
    return references, list(next(iter(bundled.systems.values())))


def stressed(references: list[str], on: str | None = None, **systems: list[str]) -> gn.Finding:
    testset = gn.TestSet.from_lists(systems, references, language_pair="es-en")
    return gn.stress(testset, "bleu", perturb=NAMES, perturbed_system=on)


def test_of_texts_that_are_the_reference_it_is_said(texts):
    references, outputs = texts
    for finding in (
        stressed(references, copy=references),
        stressed(references, "REFERENCE", a=outputs),
    ):
        cautions = [str(said) for said in finding.verdict if said.level == "caution"]
        assert any("the same text as the reference" in text for text in cautions)
    plain = stressed(references, a=outputs)
    assert not any("same text" in str(said) for said in plain.verdict)


def test_outputs_that_do_not_fit_the_references_are_refused_and_others_taken(texts):
    references, outputs = texts
    shifted = [*outputs[1:], *outputs[:1]]
    with pytest.raises(DataError, match="shifted by 1 line"):
        stressed(references, bad=shifted)
    with pytest.raises(DataError, match="shifted by 1 line"):
        stressed(references, "bad", bad=shifted, a=outputs)
    both = stressed(references, bad=shifted, a=outputs)
    assert both.facts["texts"] == "outputs of a"
