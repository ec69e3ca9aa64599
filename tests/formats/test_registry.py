from __future__ import annotations

import gnomon.formats
from gnomon.formats import describe


def test_every_format_says_what_it_is() -> None:
    names = [entry.name for entry in describe()]
    assert len(set(names)) == len(names)
    assert {"plain text", "gnomon", "mt-metrics-eval", "tsv", "jsonl", "wmt"} <= set(names)
    for entry in describe():
        assert len(entry) == 4
        assert all(isinstance(field, str) and field for field in entry)


def test_the_public_names_are_those_listed() -> None:
    listed = gnomon.formats.__all__
    public = [name for name in vars(gnomon.formats) if not name.startswith("_")]
    assert sorted(public) == sorted(listed)
