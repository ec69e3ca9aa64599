"""How far learned metrics of gnomon are from the original packages, model by model.

``python scripts/learned_parity.py ORACLES`` converts every tiny model of that folder (one folder
per family, each with models, ``inputs.jsonl`` and ``expected.json``), scores its texts in batches
of 1 and of 64, and prints a table: texts that are compared (rows that spell special pieces are left
out), the largest difference of a segment and of the system score, how far the original is from
itself in other batches, and how many of its error spans are the same.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.testset import TestSet
from gnomon.learned import convert
from gnomon.learned.architectures import architecture_of
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

#: how the original read texts -> the options that say so
_READINGS = {
    "": "",
    "src+mt+ref": "",
    "src+mt": ", against='source'",
    "mt+ref": ", against='reference'",
    "src+mt+ref, max length 256": ", limit=256",
    "src+mt, decoding threshold 0.35": ", against='source', threshold=.35",
}
_SIZES = (1, 64)
#: models whose vocabulary is not their encoder's
_OWN = {"minilm": {"encoder": "encoder_minilm", "vocabulary": "encoder"}}


def models(family: Path, made: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name of a model and its reading, its spec without the bracket, what the original said."""
    said = json.loads((family / "expected.json").read_text(encoding="utf-8"))
    if family.name == "metricx":
        folder = shutil.copytree(family / "model", made / "metricx")
        folder.chmod(0o755)
        with gzip.open(folder / "model.safetensors.gz") as packed:
            (folder / "model.safetensors").write_bytes(packed.read())
        for mode, one in said["modes"].items():
            yield mode, f"metricx('{folder}'{_READINGS[mode]}", one | {"scores": one["predictions"]}
        return
    for name, one in (said["models"] | said.get("sentinel", {}).get("models", {})).items():
        if family.name == "bleurt":
            yield name, f"bleurt('{family / name}'", one
            continue
        options = {key: str(family / path) for key, path in _OWN.get(name, {}).items()}
        model = convert(str(family / name), into=str(made / family.name / name), **options)
        kind = architecture_of(model.kind).spec(model.settings)
        spec = f"{kind}('{model.folder.path}'"
        if family.name == "pear":
            yield name, spec, one | {"scores": one["reference_anchored"]}
            continue
        for mode, read in one.get("modes", {"": one}).items():
            option = "" if kind == "cometkiwi" else _READINGS[mode]
            yield f"{name} {mode}".strip(), f"{spec}{option}", read


def compared(spec: str, said: dict[str, Any], rows: list[dict[str, str]]) -> list[str]:
    """Cells of a model: texts, differences, the original's own, spans."""
    plain = [number for number, row in enumerate(rows) if not row["id"].startswith("literal-")]
    testset = TestSet.from_lists(
        {"system": [rows[n]["mt"] for n in plain]},
        [rows[n]["ref"] for n in plain],
        sources=[rows[n]["src"] for n in plain],
    )
    expected = np.array(said["scores"])[plain]
    far: list[float] = []
    system, spans = 0.0, ""
    for size in _SIZES:
        bound: Any = parse(f"{spec}, device='cpu', batch={size})").bind(testset)
        if hasattr(bound.model, "forget"):
            bound.model.forget()
        scores = bound.segments(testset.batch())[0]
        far.append(float(np.abs(scores - expected).max()))
        system = max(system, abs(float(bound.system(testset.batch())[0]) - expected.mean()))
        if "error_spans" in said:
            spans = _same_spans(bound, testset, [said["error_spans"][n] for n in plain])
    reported = next((said[key] for key in said if key.endswith("_max_abs_diff")), None)
    noise = "" if reported is None else f"{reported:.1e}"
    return [str(len(plain)), *(f"{one:.1e}" for one in far), f"{system:.1e}", noise, spans]


def _same_spans(bound: Any, testset: TestSet, said: list[list[dict[str, Any]]]) -> str:
    """How many spans of the original are the same (place, severity), of how many on either side."""
    ours = {(e.segment, e.start, e.end, e.severity) for e in bound.error_spans(testset.batch())}
    theirs = {
        (number, e["start"], e["end"], e["severity"])
        for number, errors in enumerate(said)
        for e in errors
    }
    return f"{len(ours & theirs)} of {len(ours | theirs)}"


def main(arguments: list[str]) -> None:
    """Print the table."""
    read = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    read.add_argument("oracles", type=Path)
    given = read.parse_args(arguments)
    print(
        "| family | model | texts | batches of 1 | of 64 | system | original itself | same spans |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for file in sorted(given.oracles.glob("*/expected.json")):
            lines = (file.parent / "inputs.jsonl").read_text(encoding="utf-8").split("\n")
            rows = [json.loads(line) for line in lines if line]
            for name, spec, said in models(file.parent, Path(scratch)):
                cells = [file.parent.name, name, *compared(spec, said, rows)]
                print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
