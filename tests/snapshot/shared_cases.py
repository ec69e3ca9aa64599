"""What is recorded of the shared test sets, whose texts and scores stay out of the repository."""

from __future__ import annotations

import os
from pathlib import Path

from tests.snapshot.cases import _EN, Case, Group

_SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[3] / "shared"))
_DATA = (_SHARED / "data").resolve()


def _link(folder: Path) -> None:
    """The sets under short names, so that no path of this machine is in a name."""
    for name in ("wmt17", "wmt18", "wmt19", "wmt21", "wmt24", "paraphrases"):
        if (_DATA / name).is_dir():
            (folder / name).symlink_to(_DATA / name)
    texts = _DATA / "paraphrases" / "wmt19-de-en-500"
    for file in texts.glob("ref.human*.txt"):
        lines = file.read_text(encoding="utf-8").split("\n")[:300]
        (folder / file.name).write_text("\n".join(lines) + "\n", encoding="utf-8")


_SET = "-t wmt19/de-en --first 300"
_WIDE = f"{_SET} --paraphrases " + " ".join(f"ref.human{n}.txt" for n in range(1, 6))
_POS = f"--features pos:NOUN pos:VERB 'ent:*' --tagger {_EN}"

_CASES = (
    Case(
        "score",
        f"score {_SET} -m bleu chrf ter rougeL --segment-scores s.tsv",
        files=("s.tsv",),
    ),
    Case("score: humans' paraphrases", f"score {_WIDE} -m bleu chrf"),
    Case("compare", f"compare {_SET} -m bleu chrf --resamples 200"),
    Case("compare: randomisation", f"compare {_SET} -m bleu --test ar --trials 200 --resamples 50"),
    Case("muler", f"muler {_SET} -m bleu {_POS} --resamples 50"),
    Case("muler: counts", f"muler {_SET} -m none {_POS} --resamples 50"),
    Case(
        "difficulty score",
        f"difficulty score {_SET} -m rouge1",
    ),
    Case("difficulty words", f"difficulty words {_SET} -m rouge1"),
    Case("bmx score", "bmx score -t wmt19/de-en --first 20 -m chrf --explainer erasure"),
    Case(
        "metaeval: wmt19",
        "metaeval -t wmt19/de-en -m bleu chrf --baseline bleu --resamples 50 --seed 0",
    ),
    Case(
        "metaeval: wmt17",
        "metaeval -t wmt17/cs-en -m bleu chrf --resamples 50 --first 400 --seed 0",
    ),
    Case("bmx tune: wmt17", "bmx tune -t wmt17/cs-en -m chrf --sample 60"
         " --resamples 50 --seed 0"),
    Case("metaeval: paraphrases", f"metaeval {_WIDE} --n 1 5 --seed 0"
         " -m bleu --resamples 20"),
    Case("paraphrase coverage", f"paraphrase coverage {_WIDE}"),
)  # fmt: skip

GROUPS = (Group("shared", _CASES, _link),)
