"""Miniatures of published sets: the publishers' names and headers, texts of our own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SOURCES = ["Koer magab .", "Kass joob piima .", "Sajab ."]
OUTPUTS = ["The dog sleeps .", "The cat eats milk .", "It rains ."]
POST_EDITS = ["The dog is asleep .", "The cat drinks milk .", "It rains ."]
SOURCE_TAGS = ["0 0 0", "0 1 0 0", "0 0"]
OUTPUT_TAGS = ["0 0 1 0", "0 0 1 0 0", "0 0 0"]
GAP_TAGS = [
    "OK OK OK OK BAD BAD OK OK OK",
    "OK OK OK OK OK BAD OK OK OK OK OK",
    "OK OK OK OK OK OK BAD",
]
# github.com/sheffieldnlp/mlqe-pe, data/direct-assessments
MLQE = ["index", "original", "translation", "scores", "mean", "z_scores", "z_mean", "model_scores"]
# the WMT 2022 quality estimation task, train-dev_data/task1_mqm
RATED = ",system,doc,doc_id,seg_id,src,mt,ref,mqm,score,zscore"


def fill(folder: Path, files: dict[str, list[str]]) -> Path:
    """Write files by their names, which may lead into folders."""
    for name, lines in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def table(*rows: list[str]) -> list[str]:
    """Rows between tabs."""
    return ["\t".join(row) for row in rows]


def mlqe_table(scores: tuple[str, ...] = ("80.5", "40.0", "91.0")) -> list[str]:
    """``dev.eten.df.short.tsv``."""
    rows = [
        [str(i), s, t, "[80, 81]", m, "[0.1, 0.2]", z, "-0.3"]
        for i, (s, t, m, z) in enumerate(
            zip(SOURCES, OUTPUTS, scores, ("0.5", "-1.25", "1.0"), strict=True)
        )
    ]
    return table(MLQE, *rows)


def eval4nlp_files(stem: str = "test") -> dict[str, list[str]]:
    """The files of Eval4NLP 2021."""
    return {
        f"{stem}.src": SOURCES,
        f"{stem}.mt": OUTPUTS,
        f"{stem}.da": ["77.5", "41.0", "95"],
        f"{stem}.src-tags": SOURCE_TAGS,
        f"{stem}.tgt-tags": OUTPUT_TAGS,
    }


def mlqe_files(stem: str = "dev") -> dict[str, list[str]]:
    """The files of MLQE-PE's post-editing part."""
    return {
        f"{stem}.src": SOURCES,
        f"{stem}.mt": OUTPUTS,
        f"{stem}.pe": POST_EDITS,
        f"{stem}.hter": ["0.4", "0.2", "0.0"],
        f"{stem}.source_tags": ["OK OK OK", "OK BAD OK OK", "OK OK"],
        f"{stem}.tags": GAP_TAGS,
        f"{stem}.src-mt.alignments": ["0-0 1-2", "0-1 1-2", "0-1"],
    }


def summeval_line(article: str, system: str, text: str, marks: list[int]) -> str:
    """A line of ``model_annotations.aligned.jsonl``."""
    names = ("coherence", "consistency", "fluency", "relevance")
    return json.dumps(
        {
            "id": article,
            "decoded": text,
            "expert_annotations": [dict.fromkeys(names, mark) for mark in marks],
            "turker_annotations": [dict.fromkeys(names, 3)] * 5,
            "references": [f"reference {i} of {article} ." for i in range(11)],
            "model_id": system,
            "filepath": f"cnndm/stories/{article}.story",
        }
    )


def summeval_lines() -> list[str]:
    """Two systems, two articles."""
    return [
        summeval_line("dm-1", "M0", "a storm came .", [4, 5, 3]),
        summeval_line("dm-2", "M0", "a team won .", [1, 1, 2]),
        summeval_line("dm-1", "M1", "storm .", [2, 2, 2]),
        summeval_line("dm-2", "M1", "won .", [5, 5, 5]),
    ]


def realsumm_object() -> dict[str, dict[str, object]]:
    """RealSumm's scores as JSON: articles, systems, summaries and their scores."""

    def summary(text: str, recall: float) -> dict[str, object]:
        scores = {"rouge_1_f_score": 0.2, "litepyramid_recall": recall}
        return {"system_summary": text, "scores": scores}

    return {
        "0": {
            "doc_id": 0,
            "ref_summ": "<t> a storm came . </t> <t> it left . </t>",
            "system_summaries": {
                "bart_out.txt": summary("<t> a storm . </t>", 0.5),
                "t5_out_base.txt": summary("a  team .", 0.0),
            },
        },
        "19": {
            "doc_id": 19,
            "ref_summ": "a team won .",
            "system_summaries": {
                "bart_out.txt": summary("a team won .", 1.0),
                "t5_out_base.txt": summary("they won .", 0.75),
            },
        },
    }
