"""What counts words knows the script: without a language, with one, and in every command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from tests.told import notes
from tests.truth.scripts import SCRIPTS, reversed_by_words, sentences

import gnomon as gn
from gnomon.core.scripts import unspaced_language
from gnomon.core.signature import Signature
from gnomon.core.testset import ErrorSpan


def _better(finding: gn.Finding, name: str) -> bool:
    first, other = str(finding.verdict[0]), {"close": "spotty", "spotty": "close"}[name]
    return f"{name} is better than {other}" in first or f"{other} is worse than {name}" in first


@pytest.mark.parametrize("metric", ["bleu", "ter"])
@pytest.mark.parametrize("language", SCRIPTS)
def test_the_better_system_is_named_without_a_language(language: str, metric: str) -> None:
    said, given = (
        gn.compare(reversed_by_words(language, given=known), metric, resamples=300)
        for known in (False, True)
    )
    if (language, metric) == ("ko", "bleu"):  # words by MeCab, of which few are right in both
        assert not _better(said, "spotty"), said.verdict
    else:
        assert _better(said, "close"), said.verdict
    assert [str(one) for one in said.verdict] == [str(one) for one in given.verdict]
    assert said.signatures == given.signatures


@pytest.mark.parametrize("language", [one for one in SCRIPTS if one != "ko"])
def test_by_what_spaces_part_the_worse_system_seems_better(language: str) -> None:
    """The world is one in which counting words between spaces tells the opposite."""
    edits = gn.score(reversed_by_words(language, given=False), "ter(tokenize='tercom')")
    close, spotty = edits.system.tolist()
    assert close > spotty


def test_a_tokeniser_of_spaces_is_said_to_misfit() -> None:
    scores = gn.score(reversed_by_words("th", given=False), "bleu(tokenize='13a')")
    assert "Thai puts no spaces between words: 'char' fits" in notes(scores.notices)[0]


@pytest.mark.parametrize("language", SCRIPTS)
def test_the_choice_is_said_in_a_notice_and_in_the_signature(language: str) -> None:
    bleu, ter = gn.score(reversed_by_words(language, given=False), ["bleu", "ter"])
    tokeniser = dict(bleu.signature.fields)["tok"]
    assert tokeniser in ("zh", "ja-mecab-0.996-IPA", "ko-mecab-0.996/ko-0.9.2-KO", "char")
    assert "no language pair is given" in notes(bleu.notices)[0]
    assert "no language pair is given" in notes(ter.notices)[0]
    for one in (bleu, ter):
        assert Signature.parse(str(one.signature)) == one.signature


def test_the_numbers_are_those_of_sacrebleu_with_the_tokens_named() -> None:
    """sacreBLEU by its own options for Chinese, and on texts split into characters for Thai."""
    zh = reversed_by_words("zh", given=False)
    own = [str(text) for text in next(iter(zh.references.values()))]
    outputs = list(zh.systems["close"])
    ter = sacrebleu.TER(normalized=True, asian_support=True).corpus_score(outputs, [own])
    bleu = sacrebleu.BLEU(tokenize="zh").corpus_score(outputs, [own])
    assert gn.score(zh, "ter").system[0] == ter.score
    assert gn.score(zh, "bleu").system[0] == bleu.score
    explicit = gn.score(zh, "ter(normalized=True, asian_support=True)")
    assert str(gn.score(zh, "ter").signature) == str(explicit.signature)

    th = reversed_by_words("th", given=False)
    split = [
        [" ".join("".join(text.split())) for text in texts]
        for texts in (th.systems["close"], next(iter(th.references.values())))
    ]
    assert gn.score(th, "ter").system[0] == sacrebleu.TER().corpus_score(split[0], [split[1]]).score


@pytest.mark.parametrize("options", [{}, {"case_sensitive": True}, {"no_punct": True}])
def test_an_explicit_tokeniser_is_sacrebleus_whatever_the_script(options: dict[str, bool]) -> None:
    zh = reversed_by_words("zh", given=True)
    own = [str(text) for text in next(iter(zh.references.values()))]
    given = ", ".join(f"{name}={value}" for name, value in options.items())
    scores = gn.score(zh, f"ter(tokenize='tercom'{', ' if given else ''}{given})")
    expected = sacrebleu.TER(**options).corpus_score(list(zh.systems["close"]), [own])
    assert scores.system[0] == expected.score


@pytest.mark.parametrize("metric", ["bleu", "ter", "chrf", "meteor(tokenize='13a')"])
def test_texts_in_other_scripts_are_scored_as_ever(metric: str) -> None:
    """Arabic and German, without a language: tokens of 13a and tercom, and nothing is said."""
    pytest.importorskip("nltk", reason="meteor takes its stems from nltk: pip install nltk")
    for texts in (["ذهب الولد إلى المدرسة .", "كتب الدرس"], ["Die Straße ist groß.", "Tür zu!"]):
        ts = gn.TestSet.from_lists({"a": texts[::-1]}, texts)
        assert ts.written_in is None
        if metric.startswith("meteor"):
            continue  # English synonyms need WordNet
        named = {"bleu": "bleu(tokenize='13a')", "ter": "ter(tokenize='tercom')"}
        one, other = gn.score(ts, [metric, named.get(metric, "chrf(word_order=2)")])
        assert notes(one.notices) == ()
        if metric in named:
            np.testing.assert_array_equal(one.segments, other.segments)


def test_characters_count_alike_with_and_without_a_language() -> None:
    one, other = (gn.score(reversed_by_words("ja", given=g), "chrf") for g in (True, False))
    np.testing.assert_array_equal(one.segments, other.segments)
    assert one.signature == other.signature


def test_the_letters_of_the_whole_file_decide() -> None:
    own = sentences("zh", 40)
    code = ["pip install gnomon", "GPU 100%"] * 5
    assert unspaced_language([*own, *code]) == "zh"
    assert unspaced_language([f"{text} torch.cuda" for text in own]) == "zh"
    assert unspaced_language(["the word for mountain is \u5c71 , as in \u5c71\u6c34"] * 9) is None
    assert unspaced_language(["", None, "12 % ..."]) is None
    assert unspaced_language(sentences("ja", 20)) == "ja"
    ts = gn.TestSet.from_lists({"a": [*own, *code]}, [*own, *code])
    assert ts.select(segments=list(range(40, 50))).written_in == "zh"


def test_asian_support_without_effect_is_said() -> None:
    ts = gn.TestSet.from_lists({"a": ["a b"]}, ["a c"])
    assert (
        "asian_support changes nothing" in notes(gn.score(ts, "ter(asian_support=True)").notices)[0]
    )
    for spec in ("ter(asian_support=True, normalized=True)", "ter"):
        assert notes(gn.score(ts, spec).notices) == ()


def test_rouge_says_that_it_reads_latin_letters_alone() -> None:
    for language in ("zh", "th"):
        scores = gn.score(reversed_by_words(language, given=True), "rouge")
        assert "a-z and 0-9 alone" in notes(scores.notices)[0]
    assert (
        notes(gn.score(gn.TestSet.from_lists({"a": ["Größe"]}, ["Größe"]), "rouge").notices) == ()
    )


def _marked(language: str) -> gn.TestSet:
    """Every output has an error of one letter, of which it has some twenty."""
    own = sentences(language, 60)
    errors = [
        ErrorSpan(name, n, "candidate", 3, 4, "", "major", kind="mqm")
        for name in ("a", "b")
        for n in range(60)
    ]
    ts = gn.TestSet.from_lists({"a": own, "b": own}, own, language_pair=language)
    return replace(ts, errors=tuple(errors))


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
def test_errors_count_characters_where_spaces_part_no_words(language: str) -> None:
    finding = gn.muler.errors(_marked(language), resamples=50)
    row = next(row for row in finding.rows if row["system"] is None)
    assert row["feature"] == "characters"
    texts = sentences(language, 60)
    assert row["occurrences"] == 2 * sum(len("".join(text.split())) for text in texts)
    hit = sum(not text[3].isspace() for text in texts)
    assert row["rate"] == pytest.approx(100 * 2 * hit / row["occurrences"])
    text = next(str(one) for one in finding.verdict if one.level != "caution")
    assert "of a hundred characters" in text
    assert "words" not in text


def test_features_are_counted_by_characters_too() -> None:
    """Errors all over the text are as frequent on numbers of many digits as elsewhere."""
    own = [f"{text}12345678" for text in sentences("zh", 80)]
    errors = tuple(
        ErrorSpan("a", n, "candidate", at, at + 1, "", "major", kind="mqm")
        for n, text in enumerate(own)
        for at in range(n % 10, len(text), 10)
    )
    ts = gn.TestSet.from_lists({"a": own}, own, language_pair="zh")
    finding = gn.muler.errors(replace(ts, errors=errors), resamples=100)
    assert "number" not in str(finding.verdict[0])
    assert any(row["feature"] == "form:number" and row["hits"] > 50 for row in finding.rows)


def test_no_command_calls_the_worse_system_better_on_real_japanese(shared: Path) -> None:
    """Without a language the figures and sentences are those with the language."""
    ts = gn.TestSet.read(shared / "data/wmt24/en-ja", human="readable")
    ts = ts.select(systems=["ONLINE-B", "CycleL"], segments=list(range(0, 998, 4)))
    unknown = replace(ts, language_pair=None)
    for metric in ("bleu", "ter", "chrf"):
        one, other = (gn.compare(each, metric, resamples=100) for each in (ts, unknown))
        assert str(one.verdict[0]) == str(other.verdict[0])
        assert "ONLINE-B is worse" not in str(one.verdict[0])


def test_every_method_says_which_tokens_were_taken() -> None:
    ts = reversed_by_words("zh", given=False, count=40)
    findings = [
        gn.compare(ts, "bleu", resamples=20),
        gn.muler(ts, "bleu", ["re:n"], pattern={"n": r"\d+"}, resamples=0),
        gn.difficulty.score(ts, "bleu"),
    ]
    for finding in findings:
        assert any("no language pair is given" in one for one in notes(finding.notices))
        assert all(one["tok"] == "zh" for one in finding.signatures.values())
    explained = gn.bmx.explain(ts, "bleu")
    assert any("they speak of whole clauses" in one for one in notes(explained.notices))


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
def test_references_that_are_not_in_the_language_stop_the_verdict(language: str) -> None:
    ts = reversed_by_words(language, given=True)
    wrong = gn.TestSet.from_lists(
        ts.systems, next(iter(ts.references.values())), name="wrong", language_pair="en"
    )
    said = gn.compare(wrong, ["bleu", "ter"], resamples=300)
    assert all(one.level == "caution" for one in said.verdict), said.verdict
    assert "which en is not" in str(said.verdict[0])


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("会议于{}日在{}人的城里举行", "大会在{}号由{}名市民召开"),
        ("会議は{}日に{}人の町で開かれた", "集まりが{}日で{}名の村に始まりました"),
        ("การประชุมจัดขึ้นวันที่{}ในเมือง{}คน", "งานเริ่มเมื่อวันที่{}ที่หมู่บ้าน{}ชีวิต"),
    ],
)
def test_masks_of_chrf_cover_what_a_pattern_matches_where_no_spaces_part_words(
    right: str, other: str
) -> None:
    numbers = [(n, 100 + 7 * n) for n in range(10, 50)]
    references = [right.format(*one) for one in numbers]
    systems = {"around": [other.format(*one) for one in numbers]}
    systems["numbers"] = [right.format(n + 31, m + 531) for n, m in numbers]
    ts = gn.TestSet.from_lists(systems, references)
    found = gn.muler(ts, "chrf", ["re:n"], pattern={"n": r"\d+"}, resamples=0)
    around, hurt = (r["muler"] for r in found.rows if r["variant"] == "ratio")
    assert around < 0.35
    assert hurt > 0.5
    assert found.signatures["chrf"]["L"] == "re=n=3"
    assert not any("longer than the words" in one for one in notes(found.notices))


def test_a_pattern_masks_its_match_under_chrf_and_the_token_under_bleu() -> None:
    references = [f"the Airbus A{n} flew over the well-known town" for n in range(300, 340)]
    changed = [f"the Airbus A{n + 123} flew over the well-known town" for n in range(300, 340)]
    ts = gn.TestSet.from_lists({"A": references, "B": changed}, references, language_pair="de-en")
    asked = {"features": ["re:latin"], "pattern": {"latin": "[A-Za-z]+"}, "resamples": 200}
    under = {metric: gn.muler(ts, metric, **asked) for metric in ("chrf", "bleu")}  # type: ignore[arg-type]  # as they are
    for metric, found in under.items():
        assert not any(one.code == "muler.better" for one in found.verdict)
        (row,) = (r for r in found.rows if (r["system"], r["variant"]) == ("B", "ratio"))
        assert (row["muler"] < 0.02) == (metric == "chrf")
        told = any("matches of 'latin'" in one for one in notes(found.notices))
        assert told == (metric == "bleu")
