"""Whatever happens to a file of human judgements: it is read, or refused with a message of ours."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.formats.judged_sets import SOURCES, SYSTEMS, judged_set

from gnomon.core.errors import GnomonError
from gnomon.core.human import Judgements
from gnomon.data.formats import JudgementFormat, formats_of, read_human

if TYPE_CHECKING:
    from pathlib import Path

DOG, TEXT = SOURCES[0], SYSTEMS["alpha"][0]
SPAN = {"start_i": 4, "end_i": 6, "severity": "minor", "category": None}
ERROR = {"start": 4, "end": 7, "category": "A/B", "severity": "minor", "score": None}
PEARMUT = {
    "user_id": "u",
    "item_i": 0,
    "item": [{"src": DOG, "tgt": {"alpha": TEXT}, "item_id": "x-0"}],
    "annotation": [{"alpha": {"score": 1, "error_spans": [SPAN]}}],
}
ESA = {
    "system": "alpha",
    "tgt": TEXT,
    "src": DOG,
    "line_id": 0,
    "esa_score": 1,
    "esa_spans": [SPAN],
}
HUMEVAL = {
    "scores": {"alpha": {"human1": 1, "errors1": [SPAN]}},
    "src_text": DOG,
    "tgt_text": {"alpha": TEXT},
    "doc_id": "de-en_#_0",
}
MARKED = {"text": "dog", "confidence": 0.5, "severity": "minor", "start": 4, "end": 7}
XCOMET = {
    f"{name}.txt": [
        {"src": s, "mt": t, "COMET": 0.5, "errors": [MARKED] if t == TEXT else []}
        for s, t in zip(SOURCES, texts, strict=True)
    ]
    for name, texts in SYSTEMS.items()
}
LISTED = {"system": "alpha", "segment": 1, "by": "judge", "errors": [{"start": 4, "end": 7}]}
RATING = json.dumps({"errors": [ERROR]})
WHOLE = {
    "mqm": (
        "m.tsv",
        (
            "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
            f"alpha\td\t1\t1\tr\t{DOG}\tThe <v>dog</v> sleeps.\tStyle/Awkward\tMinor\n"
        ),
    ),
    "table": ("t.tsv", "system\tseg\trater\traw\nalpha\t1\tr\t5\nbeta\t1\tr\t7\n"),
    "wmt-da": (
        "d.csv",
        (
            "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
            'h w de en ad 1 "alpha" 1 SYSTEM 1 50 1\nh w de en ad 1 beta 1 BAD_REF 1 10 1\n'
        ),
    ),
    "wmt-da-seg": ("s.csv", "SYS SID RAW.SCR Z.SCR N\nalpha 1 50 0.5 2\n"),
    "wmt-da-sys": ("y.csv", "71.9 0.126 944 1266 alpha\n70 0.1 9 9 beta\n"),
    "appraise": ("a.csv", 'u,alpha,1,TGT,deu,eng,50,d,False,"[{""start_i"":0,""end_i"":1}]",1,2\n'),
    "pearmut": ("p.jsonl", json.dumps(PEARMUT) + "\n"),
    "esa": ("e.jsonl", json.dumps(ESA) + "\n"),
    "wmt-humeval": ("h.jsonl", json.dumps(HUMEVAL) + "\n"),
    "xcomet": ("x.json", json.dumps(XCOMET) + "\n"),
    "spans": ("l.jsonl", json.dumps(LISTED) + "\n"),
    "wmt-qe-spans": (
        "q.tsv",
        (
            "doc_id\tsegment_id\tsource_lang\ttarget_lang\tsystem_id\tsource_segment\t"
            "hypothesis_segment\tstart_indices\tend_indices\terror_types\n"
            f"d\t0\tde\ten\talpha\t{DOG}\t{TEXT}\t4\t7\tminor\n"
        ),
    ),
    "darr": ("r.tsv", "seg\tbetter\tworse\n1\talpha\tbeta\n"),
    "rr": (
        "rr.csv",
        (
            "srclang,trglang,srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank\n"
            "deu,eng,1,j,alpha,1,beta,2\n"
        ),
    ),
    "mt-metrics-eval": ("de-en.k.seg.score", "alpha 1\nalpha None\nalpha 3\n"),
    "ratings": ("de-en.k.seg.rating", f"alpha\t{RATING}\tr\nalpha\tNone\nalpha\tNone\n"),
    "gnomon": (
        "k.spans.tsv",
        "system\tseg\tside\tstart\tend\tcategory\tseverity\nalpha\t1\tcandidate\t0\t3\tA\tminor\n",
    ),
}


def test_there_is_a_small_file_of_every_format(tmp_path: Path) -> None:
    assert set(WHOLE) == {form.name for form in formats_of(JudgementFormat) if form.is_read}
    for form, (name, text) in WHOLE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        testset = judged_set(documents=["d", "e", "e"])  # these tell how Appraise counts segments
        found = read_human(tmp_path / name, testset)
        assert found.scores or found.rankings or found.errors, form


@pytest.mark.parametrize("form", sorted(WHOLE))
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_with_a_message(
    tmp_path_factory: pytest.TempPathFactory, form: str, data: st.DataObject
) -> None:
    name, text = WHOLE[form]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    odd = st.sampled_from(["", "\t", "\n", ",", '"', "-1", "1e999", "nan", "{", "[]", "null", "é"])
    damaged = text[:start] + data.draw(odd | st.text(max_size=4)) + text[end:]
    file = tmp_path_factory.mktemp("damaged") / name
    file.write_bytes(damaged.encode("utf-8", "surrogatepass"))
    named = data.draw(st.sampled_from([form, None]))
    # anything but an error of ours fails the test
    with contextlib.suppress(GnomonError):
        assert isinstance(read_human(file, judged_set(), format=named), Judgements)
