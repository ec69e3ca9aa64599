from __future__ import annotations

import gnomon.data.formats
from gnomon.data.formats import Format, JudgementFormat, SetFormat, describe, formats_of


def test_every_format_says_what_it_is() -> None:
    names = [entry.name for entry in describe()]
    assert len(set(names)) == len(names)
    assert {"plain text", "gnomon", "mt-metrics-eval", "tsv", "jsonl", "wmt"} <= set(names)
    for entry in describe():
        assert len(entry) == 4
        assert all(isinstance(field, str) and field for field in entry)
        assert (entry.reads, entry.writes) != ("no", "no")


def test_a_format_comes_after_those_that_it_names() -> None:
    forms = list(formats_of(Format))
    place = {(form.name, form.holds): number for number, form in enumerate(forms)}
    assert len(place) == len(forms), "a name occurs twice for one thing"
    for form in forms:
        for other in form.after:
            assert place[other, form.holds] < place[form.name, form.holds], (form.name, other)


def test_files_are_compared_with_formats_in_a_fixed_order() -> None:
    """What is told by more goes before what is told by less."""
    sets = [form.name for form in formats_of(SetFormat)]
    assert sets.index("wmt-package") < sets.index("wmt-daseg") < sets.index("wmt-sgml")
    assert sets.index("wmt-sgml") < sets.index("mlqe-pe") < sets.index("summeval")
    assert sets[-2:] == ["wmt-mqm", "log"]
    judged = [form.name for form in formats_of(JudgementFormat) if form.is_read]
    assert judged[:2] == ["mt-metrics-eval", "ratings"]
    assert judged[2:5] == ["pearmut", "esa", "wmt-humeval"]
    assert judged[5:9] == ["appraise", "mqm", "darr", "rr"]
    assert judged.index("gnomon") < judged.index("table")


def test_the_public_names_are_those_listed() -> None:
    listed = gnomon.data.formats.__all__
    assert set(listed) <= set(dir(gnomon.formats))
    public = {name for name in listed if not name.startswith("_") and hasattr(gnomon.formats, name)}
    assert public == set(listed)
