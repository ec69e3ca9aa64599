from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

from gnomon.core.errors import (
    AnnotationError,
    FormatError,
    LengthMismatchError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.signature import content_hash
from gnomon.linguistics import Labels, annotate
from gnomon.linguistics import label_names as _labels

if TYPE_CHECKING:
    from pathlib import Path

# written for this test: a multiword token, an empty node, SpaceAfter=No, an entity, crossing arcs
CONLLU = """\
# sent_id = 1
# text = Voy al mar, Ana.
1\tVoy\tir\tVERB\t_\tNumber=Sing|Person=1\t0\troot\t_\t_
2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_
2\ta\ta\tADP\t_\t_\t4\tcase\t_\t_
3\tel\tel\tDET\t_\tGender=Masc|Number=Sing\t4\tdet\t_\t_
3.1\tnada\t_\t_\t_\t_\t_\t_\t_\t_
4\tmar\tmar\tNOUN\t_\tGender=Masc|Number=Sing\t1\tobl\t_\tSpaceAfter=No
5\t,\t,\tPUNCT\t_\t_\t6\tpunct\t_\t_
6\tAna\tAna\tPROPN\t_\t_\t1\tvocative\t_\tSpaceAfter=No|NER=B-PER
7\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""
SENTENCE = "Voy al mar, Ana."


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _word(number: int, form: str, **columns: str) -> str:
    names = ("lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
    return "\t".join([str(number), form, *(columns.get(name, "_") for name in names)])


def _jsonl(path: Path, *records: object) -> Path:
    return _write(path, "".join(json.dumps(record) + "\n" for record in records))


def test_conllu_gives_parts_of_speech_morphology_relations_and_entities(tmp_path: Path) -> None:
    labels = Labels.read([_write(tmp_path / "a.conllu", CONLLU)])
    found = annotate([SENTENCE], ["*:*", "dep:long>=5"], labels=labels)
    spans = found.spans
    assert spans.spans(0, "pos:ADP") == spans.spans(0, "pos:DET") == ((4, 6),)
    assert spans.spans(0, "morph:Gender=Masc") == ((4, 6), (7, 10))
    assert spans.spans(0, "ent:PER") == ((12, 15),)
    assert spans.spans(0, "dep:punct") == ((10, 11), (15, 16))
    assert spans.spans(0, "dep:long>=5") == ((0, 3), (12, 15), (15, 16))
    assert "dep:nonprojective" not in spans.features
    assert found.taggers == (labels.signature,)
    assert labels.kinds == {"pos", "morph", "dep", "ent"}


def test_without_a_text_line_the_text_is_put_together(tmp_path: Path) -> None:
    bare = "\n".join(line for line in CONLLU.split("\n") if not line.startswith("# text"))
    assert list(Labels.read([_write(tmp_path / "a.conllu", bare)]).texts) == [SENTENCE]


def test_entities_of_several_words_are_one_span(tmp_path: Path) -> None:
    tags = ["B-PER", "I-PER", "O", "I-ORG", "I-ORG", "B-ORG", "S-LOC", "E-LOC"]
    words = [_word(i, f"w{i}", misc=f"NER={tag}") for i, tag in enumerate(tags, start=1)]
    labels = Labels.read([_write(tmp_path / "a.conllu", "\n".join(words) + "\n")])
    (text,) = labels.texts
    spans = annotate([text], ["ent:*"], labels=labels).spans
    assert spans.spans(0, "ent:PER") == ((0, 5),)
    assert spans.spans(0, "ent:ORG") == ((9, 14), (15, 17))


@pytest.mark.parametrize(
    ("line", "instead", "error", "said"),
    [
        (2, "# text = Voy al rio, Ana.", AnnotationError, r":8: the word is 'mar'.*character 7"),
        (2, "# text = Voy al mar, Ana. Si", AnnotationError, "text goes on with 'Si'"),
        (3, "1\tVoy", FormatError, ":3: 2 columns"),
        (3, _word(2, "Voy"), FormatError, ":3: ID 2 where 1 was due"),
        (3, _word(1, "Voy", head="x"), FormatError, "HEAD 'x' is not a number"),
        (3, _word(1, "Voy", head="9"), FormatError, "HEAD 9 in a sentence of 7 words"),
        (3, _word(1, "Voy", feats="Sing"), FormatError, "FEATS 'Sing'"),
        (4, "2-9\tal" + "\t_" * 8, FormatError, "lacks some"),
    ],
)
def test_conllu_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, line: int, instead: str, error: type[Exception], said: str
) -> None:
    lines = CONLLU.split("\n")
    lines[line - 1] = instead
    path = _write(tmp_path / "a.conllu", "\n".join(lines))
    with pytest.raises(error, match=said) as caught:
        Labels.read([path])
    assert str(path) in str(caught.value)


def test_sentences_fill_the_segments_of_a_text_file(tmp_path: Path) -> None:
    two = "\n".join([_word(1, "Hi", upos="INTJ"), "", _word(1, "Bob", upos="PROPN"), "", CONLLU])
    path = _write(tmp_path / "a.conllu", two)
    text = _write(tmp_path / "a.txt", f"Hi  Bob\n\n{SENTENCE}\n")
    labels = Labels.read([f"{path}={text}"])
    spans = annotate(["Hi  Bob", "", SENTENCE], ["pos:*"], labels=labels).spans
    assert spans.spans(0, "pos:PROPN") == ((4, 7),)
    assert spans.spans(2, "pos:PROPN") == ((12, 15),)
    _write(tmp_path / "a.txt", "Hi  Bob\n")
    with pytest.raises(AnnotationError, match="ends before the labels do"):
        Labels.read([f"{path}={text}"])
    _write(tmp_path / "a.txt", f"Hi  Bob\n{SENTENCE}\nMore\n")
    with pytest.raises(AnnotationError, match="no words for 'More'"):
        Labels.read([f"{path}={text}"])


def test_jsonl_spans_keep_the_names_they_give(tmp_path: Path) -> None:
    spans = [
        {"start": 0, "end": 3, "label": "ent:PERSON"},
        {"start": 4, "end": 8, "label": "idiom"},
        {"start": 4, "end": 6, "label": "topic:money"},
    ]
    path = _jsonl(tmp_path / "a.jsonl", {"text": "Ann paid.", "spans": spans})
    labels = Labels.read([path])
    found = annotate(["Ann paid."], ["*:*"], labels=labels).spans
    assert found.features == ("ent:PERSON", "label:idiom", "topic:money")
    assert found.spans(0, "label:idiom") == ((4, 8),)


def test_jsonl_without_texts_is_aligned_with_a_text_file(tmp_path: Path) -> None:
    path = _jsonl(
        tmp_path / "a.jsonl", {"spans": []}, {"spans": [{"start": 0, "end": 1, "label": "x"}]}
    )
    text = _write(tmp_path / "a.txt", "one\ntwo\n")
    labels = Labels.read([f"{path}={text}"])
    assert annotate(["two"], ["label:x"], labels=labels).spans.spans(0, "label:x") == ((0, 1),)
    with pytest.raises(FormatError, match="'text' is missing"):
        Labels.read([path])
    _write(tmp_path / "a.txt", "one\n")
    with pytest.raises(LengthMismatchError, match=r"labels 2 segments.*has 1"):
        Labels.read([f"{path}={text}"])


@pytest.mark.parametrize(
    ("line", "error", "said"),
    [
        ("{", FormatError, "not JSON"),
        ('{"spans": ' + "9" * 5000, FormatError, "not JSON"),
        (" ", FormatError, "the line is empty"),
        ("[]", FormatError, "not an object"),
        ('{"text": "a"}', FormatError, "list 'spans'"),
        ('{"text": "a", "spans": [1]}', FormatError, "span 1 is not an object"),
        ('{"text": "a", "spans": [{"start": true, "end": 1, "label": "x"}]}', FormatError, "whole"),
        ('{"text": "a", "spans": [{"start": 0, "end": 1}]}', FormatError, "'label' of span"),
        (
            '{"text": "a", "spans": [{"start": 0, "end": 2, "label": "x"}]}',
            AnnotationError,
            r"0:2 \(x\) does not fit its text of 1 characters",
        ),
        (
            (
                '{"text": "abc", "spans": [{"start": 0, "end": 2, "label": "x"},'
                ' {"start": 1, "end": 3, "label": "x"}]}'
            ),
            AnnotationError,
            "0:2 and 1:3 of label:x overlap",
        ),
    ],
)
def test_jsonl_that_does_not_fit_is_refused_with_its_line(
    tmp_path: Path, line: str, error: type[Exception], said: str
) -> None:
    path = _write(tmp_path / "a.jsonl", '{"text": "", "spans": []}\n' + line + "\n")
    with pytest.raises(error, match=said) as caught:
        Labels.read([path])
    assert f"{path}:2:" in str(caught.value)


def test_a_span_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    span = {"start": 0, "end": 3, "label": "x"}
    once = _jsonl(tmp_path / "a.jsonl", {"text": "one", "spans": [span]})
    twice = _jsonl(tmp_path / "b.jsonl", {"text": "one", "spans": [span, span]})
    assert Labels.read([once]).signature == Labels.read([twice]).signature


@pytest.mark.parametrize("lines", ["", '{"text": "one", "spans": []}\n'])
def test_files_without_any_label_are_told_of(tmp_path: Path, lines: str) -> None:
    labels = Labels.read([_write(tmp_path / "a.jsonl", lines)])
    with pytest.raises(UsageError, match="hold no features of kind ent nor of any other; name a"):
        annotate(["one"], ["ent:*", "ent:X"], labels=labels)


def test_a_text_without_labels_is_named(tmp_path: Path) -> None:
    path = _jsonl(
        tmp_path / "a.jsonl",
        {"text": "one", "spans": [{"start": 0, "end": 3, "label": "x"}]},
        {"text": "two", "spans": []},
    )
    labels = Labels.read([path])
    assert annotate(["two", "", "one"], ["label:x"], labels=labels).spans.text.tolist() == [2]
    with pytest.raises(AnnotationError, match=r"text 2 of 2 has no labels: 'two!'"):
        annotate(["one", "two!"], ["label:x"], labels=labels)
    with pytest.raises(UnknownNameError, match="did you mean 'label:x'"):
        annotate(["one"], ["label:y"], labels=labels)


def test_the_first_labels_of_a_text_count_and_this_is_said(tmp_path: Path) -> None:
    records = [
        {"text": "Ann", "spans": [{"start": 0, "end": 3, "label": name}]} for name in ("x", "y")
    ]
    labels = Labels.read([_jsonl(tmp_path / "a.jsonl", *records)])
    found = annotate(["Ann"], ["*:*"], labels=labels)
    assert found.spans.features == ("label:x",)
    assert "1 texts were labelled otherwise before (the first in line 2)" in notes(found.notices)[0]


def test_a_file_is_read_again_when_it_changed_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.jsonl"
    read: list[str] = []
    plain = _labels._READERS[".jsonl"]
    monkeypatch.setitem(
        _labels._READERS, ".jsonl", lambda *given: (read.append(given[0]), plain(*given))[1]
    )
    monkeypatch.setattr(_labels, "_YOUNG", -1e9)
    for label in ("one", "one", "two"):
        before = file.stat().st_ctime_ns if file.exists() else 0
        while label not in "".join(Labels.read([file]).features if file.exists() else ()):
            spans = [{"start": 0, "end": 1, "label": label}]
            file.write_text(json.dumps({"text": "a", "spans": spans}) + "\n")
            while file.stat().st_ctime_ns == before:  # a clock that ticks slowly
                file.touch()
        assert Labels.read([file]).features == {f"label:{label}"}
    assert len(read) == 2
    monkeypatch.setattr(_labels, "_YOUNG", 1e9)
    Labels.read([file])
    Labels.read([file])
    assert len(read) == 4


def test_kinds_of_the_labels_come_from_the_labels_and_others_from_the_tagger(
    tmp_path: Path, toy: object
) -> None:
    record = {"text": "Ann ran", "spans": [{"start": 4, "end": 7, "label": "ent:NAME"}]}
    labels = Labels.read([_jsonl(tmp_path / "a.jsonl", record)])
    found = annotate(["Ann ran"], ["ent:*", "pos:PROPN"], labels=labels, tagger=toy)
    assert found.spans.spans(0, "ent:NAME") == ((4, 7),)
    assert found.spans.spans(0, "pos:PROPN") == ((0, 3),)


def test_other_files_and_missing_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"\.conllu or \.jsonl"):
        Labels.read([_write(tmp_path / "a.txt", "x")])
    with pytest.raises(MissingFileError):
        Labels.read([tmp_path / "none.conllu"])
    with pytest.raises(UsageError, match="no label file"):
        Labels.read([])


@given(
    text=st.text(alphabet="aB c\u2028\U0001f600e\u0301", min_size=1, max_size=20), data=st.data()
)
def test_spans_of_jsonl_come_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    bounds = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = [
        {"start": a, "end": b, "label": "k:n"}
        for a, b in zip(bounds[::2], bounds[1::2], strict=False)
    ]
    path = _jsonl(tmp_path_factory.mktemp("j") / "a.jsonl", {"text": text, "spans": spans})
    marks = Labels.read([path]).texts[text]["named"]
    assert [(m.start, m.end) for m in marks] == [(s["start"], s["end"]) for s in spans]


def _spans(*spans: tuple[int, int, str], more: str = "") -> str:
    written = (f'{{"start": {a}, "end": {b}, "label": "{label}"{more}}}' for a, b, label in spans)
    return f'"spans": [{", ".join(written)}]'


MORE, ESCAPED = ', "more": [1]', "\\u00e9"
ODD = [
    f'{{"text": "ab cd", {_spans()}}}',
    f'{{"text": "ab cd", {_spans((3, 5, "x"), (0, 2, "ent:Y"))}}}',
    f'{{"text": "ab cd", {_spans((0, 4, "x"), (1, 2, "y"))}}}',
    f'{{"text": "ab cd", {_spans((0, 2, "x"), (0, 2, "x"))}}}',
    f'{{"text": "ab cd", {_spans((0, 2, "x"), more=MORE)}, "by": null}}',
    f'{{"text": "a\\ud83d\\ude00", {_spans((1, 2, ESCAPED))}}}',
    f'{{"text": "a\\ud83d", {_spans((1, 2, "x"))}}}',
    f'{{"text": "ab cd", {_spans((0, 2, "x"))}, "score": NaN}}',
    f'{{{_spans()}, "text": "ab", "text": "cd"}}',
]


@pytest.mark.parametrize("line", ODD)
def test_lines_of_any_kind_say_what_their_json_says(tmp_path: Path, line: str) -> None:
    record = json.loads(line)
    labels = Labels.read([_write(tmp_path / "a.jsonl", line + "\n")])
    named = {
        (s["start"], s["end"], s["label"] if ":" in s["label"] else f"label:{s['label']}")
        for s in record["spans"]
    }
    assert labels.texts == {record["text"]: {"named": tuple(sorted(named))}}


@pytest.mark.parametrize(
    "span",
    [
        '{"start": 0.0, "end": 1, "label": "x"}',
        '{"start": -1, "end": 1, "label": "x"}',
        '{"start": 1, "end": 1, "label": "x"}',
        '{"start": 0, "end": 1, "label": " "}',
        '{"start": 0, "end": 1, "label": "a\\nb"}',
        '{"start": 0, "end": 99999999999999999999, "label": "x"}',
    ],
)
def test_spans_that_are_none_are_refused_among_good_ones(tmp_path: Path, span: str) -> None:
    good = '{"start": 2, "end": 3, "label": "x"}'
    path = _write(tmp_path / "a.jsonl", f'{{"text": "abc", "spans": [{good}, {span}]}}\n')
    with pytest.raises((FormatError, AnnotationError), match=r"a\.jsonl:1: "):
        Labels.read([path])


def test_the_signature_is_the_same_whatever_the_number_of_files(tmp_path: Path) -> None:
    def record(text: str) -> dict[str, object]:
        return {"text": text, "spans": [{"start": 0, "end": 1, "label": "it's"}]}

    texts = "abcde"
    several = [_jsonl(tmp_path / f"{text}.jsonl", record(text)) for text in texts]
    twice = _jsonl(tmp_path / "twice.jsonl", {"text": "a", "spans": []})
    whole = _jsonl(tmp_path / "whole.jsonl", *map(record, texts))
    marks = [("named", 0, 1, "label:it's")]
    parts = (f"{text}\0{marks}" for text in texts)
    expected = f"labels#{content_hash(*parts)}"
    assert Labels.read(several).signature == expected
    assert Labels.read([whole, twice]).signature == expected
    assert Labels.read([twice, whole]).signature != expected
