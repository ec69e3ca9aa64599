"""Figures of a study under different kinds of mask: rows say which they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gnomon import example, study
from gnomon.messages import message
from gnomon.studies.mask_kinds import masked_alike

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STUDY = """
name = "masks"
[[testsets]]
path = "{path}"
first = 12
systems = ["apertium-*"]
[[methods.muler]]
metrics = ["bleu"]
{first}
[[methods.muler]]
metrics = ["{other}"]
{second}
"""
_WORDS = "features = ['re:the']\npattern = {the = 'the'}\nresamples = 0\ntogether = true"


@pytest.fixture
def stored(tmp_path: Path, finished: Callable[[Path], study.Store]) -> Callable[..., study.Store]:
    """A study of two metrics in two steps, each with a kind of mask of its own."""

    def made(first: str, second: str, other: str = "chrf") -> study.Store:
        file = tmp_path / "study.toml"
        steps = {"first": first, "second": second}
        options = {name: f"{_WORDS}\nmasking = '{masking}'" for name, masking in steps.items()}
        file.write_text(
            _STUDY.format(path=example.path(), other=other, **options), encoding="utf-8"
        )
        return finished(file)

    return made


def test_rows_say_which_masks_the_steps_of_a_study_asked_for(
    stored: Callable[..., study.Store],
) -> None:
    store = stored("tokens", "substitute")
    asked = "select distinct metric, masks from muler order by all"
    assert store.query(asked).rows == (("bleu", "tokens"), ("chrf", "substitute"))


@pytest.mark.parametrize(("other", "masks"), [("chrf", "tokens"), ("random", "substitute")])
def test_steps_that_leave_it_to_gnomon_mask_all_metrics_of_a_method_alike(
    stored: Callable[..., study.Store], other: str, masks: str
) -> None:
    store = stored("auto", "auto", other)
    asked = "select distinct metric, masks from muler order by all"
    assert store.query(asked).rows == (("bleu", masks), (other, masks))
    # tokens of BLEU are not those of chrF, which stands beside the figures
    said = message("note.muler.own_tokens", method="MuLER")
    shown = study.pages(store, texts=False).notices
    assert (said in shown) == (masks == "tokens")


def test_words_are_exchanged_under_all_metrics_where_one_pools_vectors(tmp_path: Path) -> None:
    def masked(*steps: study.Step) -> list[object]:
        alike = masked_alike(steps, tmp_path, allow_code=False)
        return [step.options.get("masking") for step in alike]

    comet, chrf = (study.Step("muler", (m,)) for m in ("comet('m')", "chrf"))
    both, of_bleu = (
        study.Step("muler", ("ter", "comet('m')")),
        replace(chrf, metrics=("bleu",)),
    )
    assert masked(comet) == masked(chrf) == [None]
    assert masked(chrf, of_bleu) == [None, None]
    assert masked(both, chrf) == ["substitute", "substitute"]
    other_method, fixed = replace(chrf, method="muler.validate"), {"masking": "tokens"}
    assert masked(comet, of_bleu, other_method) == ["substitute", "substitute", None]
    assert masked(comet, replace(chrf, options=fixed)) == [None, "tokens"]
    assert masked(comet, study.Step("score", ("chrf",))) == [None, None]
