from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.batch import Batch, Ragged

text = st.sampled_from(["", "a", "b", "a b", "ä"])


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 5))
    texts = st.lists(text, min_size=n, max_size=n)
    gaps = st.lists(text | st.none(), min_size=n, max_size=n)
    systems = {f"s{i}": draw(texts) for i in range(draw(st.integers(0, 3)))}
    references = [draw(gaps) for _ in range(draw(st.integers(0, 3)))]
    sources = draw(texts) if not (systems or references) else draw(st.none() | texts)
    own = {name: [draw(gaps)] for name in systems if draw(st.booleans())}
    return {
        "systems": systems,
        "references": references,
        "sources": sources,
        "system_references": own,
    }


def spelt(batch: Batch, numbers: Any) -> list[str]:
    return [batch.texts[int(number)] for number in numbers]


@given(parts())
def test_indices_lead_back_to_the_texts(given_: dict[str, Any]) -> None:
    batch = Batch.build(**given_)
    assert len(set(batch.texts)) == len(batch.texts)
    for row, texts in zip(batch.candidates, given_["systems"].values(), strict=True):
        assert spelt(batch, row) == texts
    for i in range(batch.shape[1]):
        shared = [column[i] for column in given_["references"] if column[i] is not None]
        assert spelt(batch, batch.references[i]) == shared
        for number, name in enumerate(given_["systems"]):
            own = [c[i] for c in given_["system_references"].get(name, []) if c[i] is not None]
            assert spelt(batch, batch.references_of(number)[i]) == shared + own
    if given_["sources"] is not None:
        assert batch.sources is not None
        assert spelt(batch, batch.sources) == given_["sources"]


@given(parts(), st.data())
def test_selecting_equals_building_from_the_selection(
    given_: dict[str, Any], data: st.DataObject
) -> None:
    batch = Batch.build(**given_)
    systems, segments = batch.shape
    rows = data.draw(st.permutations(range(systems)))[: data.draw(st.integers(0, systems))]
    # a resample may repeat a segment
    columns = data.draw(st.lists(st.integers(0, segments - 1), min_size=1, max_size=6))
    chosen = batch.select(systems=rows, segments=columns)
    assert chosen.shape == (len(rows), len(columns))
    assert chosen.systems == tuple(batch.systems[row] for row in rows)
    assert chosen.segments.tolist() == columns
    np.testing.assert_array_equal(chosen.candidates, batch.candidates[np.ix_(rows, columns)])
    for new, old in enumerate(rows):
        for position, column in enumerate(columns):
            np.testing.assert_array_equal(
                chosen.references_of(new)[position], batch.references_of(old)[column]
            )
    assert (chosen.sources is None) == (batch.sources is None)
    assert chosen.texts is batch.texts


def test_selecting_nothing_keeps_everything() -> None:
    batch = Batch.build(systems={"s": ["a", "b"]}, references=[["a", "c"]])
    chosen = batch.select()
    np.testing.assert_array_equal(chosen.candidates, batch.candidates)
    assert chosen.segments.tolist() == [0, 1]


def test_segments_keep_their_numbers_through_two_selections() -> None:
    batch = Batch.build(systems={"s": list("abcd")}, references=[list("abcd")])
    assert batch.select(segments=[3, 1, 2]).select(segments=[2, 0]).segments.tolist() == [2, 3]


def test_equal_texts_of_systems_and_references_are_stored_once() -> None:
    batch = Batch.build(systems={"s": ["x", "y"], "t": ["x", "y"]}, references=[["x", "x"]])
    assert batch.texts == ("x", "y")


@pytest.mark.parametrize(
    ("pair", "language"), [("de-en", "en"), ("en", "en"), (None, None), ("en-zh_TW", "zh_TW")]
)
def test_the_target_language_is_the_second_of_a_pair(
    pair: str | None, language: str | None
) -> None:
    batch = Batch.build(systems={}, references=[["a"]], language_pair=pair)
    assert batch.target_language == language


@given(st.lists(st.lists(st.integers(0, 99))))
def test_ragged_lists_are_kept(lists: list[list[int]]) -> None:
    ragged = Ragged.pack(lists)
    assert len(ragged) == len(lists)
    assert [row.tolist() for row in ragged] == lists
    assert ragged.indices.dtype == np.int32


@given(parts(), st.integers(1, 9))
def test_runs_of_segments_have_their_own_texts_alone(given_: dict[str, Any], most: int) -> None:
    batch = Batch.build(**given_)
    runs = list(batch.blocks(most))
    assert np.concatenate([run.segments for run in runs]).tolist() == batch.segments.tolist()
    for run in runs:
        some = run.segments.tolist()
        used = {*run.candidates.flat, *run.references.indices}
        for row, texts in zip(run.candidates, given_["systems"].values(), strict=True):
            assert spelt(run, row) == [texts[i] for i in some]
        assert sum(len(run.texts[n]) for n in run.candidates[:, 1:].flat) <= most
        for system in range(len(run.systems)):
            for new, old in enumerate(some):
                theirs = batch.references_of(system)[old]
                assert spelt(run, run.references_of(system)[new]) == spelt(batch, theirs)
            used |= {*run.references_of(system).indices}
        if run.sources is not None:
            assert spelt(run, run.sources) == [given_["sources"][i] for i in some]
            used |= {*run.sources}
        assert len(runs) == 1 or used == set(range(len(run.texts)))
