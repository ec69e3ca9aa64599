"""Cautions of several metrics on a page say what MuLER says of these metrics together."""

from __future__ import annotations

from tests.methods.muler.test_verdict import scored, shifted

from gnomon.serve._cautions import VerdictSentence, said_once


def test_cautions_of_two_metrics_are_those_of_both_at_once() -> None:
    systems, reference = shifted()
    systems["B"][:5] = [""] * 5

    def cautions(*metrics: str) -> list[VerdictSentence]:
        found = scored(systems, reference, metrics=[*metrics], features=["re:after"])
        said = (one for one in found.verdict if one.level == "caution")
        return [VerdictSentence(one.text, one.level, one.claim or "") for one in said]

    apart, together = cautions("bleu") + cautions("chrf"), cautions("bleu", "chrf")
    assert len(apart) > len(together)
    assert {one.claim for one in together} >= {"muler.left-out", "muler.outside"}
    assert sorted(one.text for one in said_once(apart)) == sorted(one.text for one in together)


def test_other_sentences_stay_as_they_are() -> None:
    said = [VerdictSentence(f"{name} is better.", "better", "x") for name in "AAB"]
    assert said_once(said) == tuple(said)
