"""Whatever befalls a published file: it is read, or refused with a message of ours."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.formats.published_sets import (
    eval4nlp_files,
    fill,
    mlqe_files,
    mlqe_table,
    realsumm_object,
    summeval_lines,
)
from tests.data.formats.test_quality_estimation import RATED, rated, shared_mlqe
from tests.data.formats.test_wmt_package import PACKAGE, SAMPLE

from gnomon import TestSet
from gnomon.core.errors import GnomonError

SETS: dict[str, dict[str, list[str]]] = {
    "mlqe table": {"dev.eten.df.short.tsv": mlqe_table()},
    "mlqe files": mlqe_files(),
    "mlqe shared": shared_mlqe(),
    "eval4nlp": eval4nlp_files(),
    "rated rows": {"en-de.csv": [RATED, rated(0, "a", 0, "x", -1), rated(1, "a", 1, "y", 0)]},
    "package": {name: lines for name, lines in PACKAGE.items() if "deen" not in name},
    "sample": SAMPLE,
    "summeval": {"model_annotations.aligned.jsonl": summeval_lines()},
    "realsumm": {"abs.json": json.dumps(realsumm_object(), indent=1).split("\n")},
}
BYTES = st.sampled_from(
    [
        b"",
        b"\t",
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b" ",
        b'"',
        b"}",
        b"[",
        b"null",
        b"NaN",
        b"-",
        b"9",
    ]
)


@pytest.mark.parametrize("name", SETS)
@given(data=st.data())
def test_a_damaged_byte_is_survived_or_answered(name: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = fill(Path(folder), SETS[name])
        file = root / data.draw(st.sampled_from(sorted(SETS[name])))
        content = file.read_bytes()
        start = data.draw(st.integers(0, len(content)))
        length = data.draw(st.sampled_from([0, 1, 5, len(content)]))
        file.write_bytes(content[:start] + data.draw(BYTES) + content[start + length :])
        with contextlib.suppress(GnomonError):
            TestSet.read(root)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text("ab\n", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner),
    max_leaves=4,
)


@pytest.mark.parametrize("key", sorted(json.loads(summeval_lines()[0])))
@given(value=JSON)
def test_any_value_in_a_summary_is_survived_or_answered(key: str, value: object) -> None:
    first = json.dumps(json.loads(summeval_lines()[0]) | {key: value})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.jsonl"
        fill(Path(folder), {"a.jsonl": [first, *summeval_lines()[1:]]})
        with contextlib.suppress(GnomonError):
            TestSet.read(file)


@pytest.mark.parametrize("key", ["ref_summ", "system_summaries", "src", "bart_out.txt", "scores"])
@given(value=JSON)
def test_any_value_in_realsumm_is_survived_or_answered(key: str, value: object) -> None:
    data = json.loads(json.dumps(realsumm_object()))
    place = data["0"]
    if key in ("bart_out.txt", "scores"):
        place = place["system_summaries"]
    if key == "scores":
        place = place["bart_out.txt"]
    place[key] = value
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "abs.json"
        file.write_text(json.dumps(data), encoding="utf-8")
        with contextlib.suppress(GnomonError):
            TestSet.read(file)
