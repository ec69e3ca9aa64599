"""axe-core finds nothing serious on a page of any kind, wide or narrow, light or dark.

The pages of studies are looked at in ``site/test_accessible.py``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.methods.metaeval.marked import marked_set
from tests.report.conftest import barriers, make_finding
from tests.truth import worlds_judges

import gnomon as gn
from gnomon import example
from gnomon.core.findings import Exhibit, ExhibitText
from gnomon.core.human import HumanScores
from gnomon.report import write_html
from gnomon.report.rendering import scores_finding
from gnomon.report.sheet import render_form

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gnomon.core.findings import Finding

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORDS: dict[str, Any] = {"features": ["re:*"], "pattern": {"of": "of", "the": "the"}}


@cache
def _whole() -> gn.TestSet:
    return gn.TestSet.read(str(example.path()))


@cache
def _set(systems: int = 5) -> gn.TestSet:
    return _whole().select(systems=list(_whole().systems)[:systems])


def _few(testset: gn.TestSet, segments: int = 12) -> gn.TestSet:
    return testset.select(segments=range(segments))


def _muler(systems: int) -> Finding:
    return gn.muler.score(_set(systems), "bleu", resamples=50, **WORDS)


def _judged() -> gn.TestSet:
    """The example, with human scores drawn around chrF."""
    values = gn.score(_set(), "chrf").segments
    drawn = values + np.random.default_rng(1).normal(0, 10, values.shape)
    human = HumanScores("quality", "segment", tuple(_set().systems), drawn)
    return replace(_set(), human=(human,))


def _paraphrased() -> list[Any]:
    return [str(path) for path in example.paraphrases()]


KINDS: dict[str, Callable[[], Finding]] = {
    "score": lambda: scores_finding([gn.score(_set(), "bleu"), gn.score(_set(), "ter")], "example"),
    "compare": lambda: gn.compare(_set(), ["bleu", "chrf"], resamples=50),
    "compare of two": lambda: gn.compare(_set(2), "bleu", resamples=50),
    "muler of one": lambda: _muler(1),
    "muler of two": lambda: _muler(2),
    "muler of many": lambda: make_finding(6),
    "errors": lambda: gn.muler.errors(marked_set(20), resamples=50),
    "metaeval": lambda: gn.metaeval(_judged(), ["bleu", "chrf"], resamples=50),
    "bmx explain": lambda: gn.bmx.explain(_few(_set(2)), "chrf"),
    "bmx score": lambda: gn.bmx.score(_few(_set(3)), "chrf"),
    "bmx tune": lambda: gn.bmx.tune(_few(_judged()), "bleu"),
    "difficulty score": lambda: gn.difficulty.score(_set(), "bleu"),
    "difficulty words": lambda: gn.difficulty.words(_few(_set(), 40), "bleu"),
    "judges reliability": worlds_judges.noisy,
    "judges calibrate": worlds_judges.another_scale,
    "metaeval of paraphrases": lambda: gn.metaeval(_judged(), "bleu", _paraphrased(), n=[1, 4]),
    "paraphrase diversity": lambda: gn.paraphrase.diversity(_set(3)),
}


#: half the kinds of pages once, every other one narrow and dark; `make verify` tries all
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
CASES = [
    pytest.param(kind, *look, marks=() if look == usual else pytest.mark.verify)
    for kind, usual in zip(KINDS, cycle([(1280, "light"), None, (390, "dark"), None]), strict=False)
    for look in LOOKS
]


@pytest.mark.parametrize(("kind", "width", "scheme"), CASES)
def test_a_page_of_a_finding_has_no_barrier(
    browser: Any, axe: str, tmp_path: Path, kind: str, width: int, scheme: str
) -> None:
    write_html(tmp_path / "page.html", KINDS[kind]())
    assert _barriers(browser, axe, tmp_path / "page.html", width, scheme) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_form_has_no_barrier(browser: Any, axe: str, tmp_path: Path, width: int) -> None:
    texts = (ExhibitText("candidate", "A", "output A"), ExhibitText("candidate", "B", "output B"))
    items = {f"s-{n}": Exhibit("pos:NOUN", "A or B", 0, texts) for n in range(3)}
    page = render_form(items, study="s", question="Which?")
    (tmp_path / "form.html").write_text(page, encoding="utf-8")
    assert _barriers(browser, axe, tmp_path / "form.html", width, "light") == []


def _barriers(browser: Any, axe: str, path: Path, width: int, scheme: str) -> Any:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    found = barriers(page, axe)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
    return found
