"""What the package unbabel-comet does, in an environment of its own; ``learned.py`` starts it.

``python _comet_peer.py make ENCODER FOLDER``: an encoder's weights under random heads, as
checkpoints of a RegressionMetric and of a UnifiedMetric on source and candidate.
``python _comet_peer.py score CHECKPOINT SAMPLES [cache]``: scores of the samples of a JSON file, a
list for each system; with ``cache`` as its command line does it, which keeps the vectors of
batches. Prints JSON: scores, texts that the encoder read, CPU seconds without loading, and the
largest memory of the process (MB).
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
warnings.filterwarnings("ignore")

import pytorch_lightning  # noqa: E402  # what is set above holds for it
import torch  # noqa: E402  # what is set above holds for it
import yaml  # noqa: E402  # what is set above holds for it
from comet.models import RegressionMetric, UnifiedMetric, load_from_checkpoint  # noqa: E402  # likewise

torch.set_num_threads(1)
CHECKPOINT = Path("checkpoints") / "model.ckpt"


def make(encoder: str, folder: Path) -> None:
    """Write both checkpoints; the encoder's folder must stay where it is."""
    common = {"encoder_model": "BERT", "pretrained_model": encoder, "hidden_sizes": [384, 128]}
    kinds = {
        "regression": (
            RegressionMetric,
            {"layer_transformation": "sparsemax", "layer_norm": False},
        ),
        "unified": (UnifiedMetric, {"input_segments": ["mt", "src"], "layer_norm": False}),
    }
    for name, (kind, options) in kinds.items():
        torch.manual_seed(5)
        model = kind(**common, **options).eval()
        checkpoint = folder / name / CHECKPOINT
        checkpoint.parent.mkdir(parents=True)
        trainer = pytorch_lightning.Trainer(
            logger=False, accelerator="cpu", enable_checkpointing=False, enable_progress_bar=False
        )
        trainer.strategy.connect(model)
        trainer.save_checkpoint(checkpoint, weights_only=True)
        (folder / name / "hparams.yaml").write_text(
            yaml.safe_dump(
                {**common, **options, "class_identifier": model.hparams.class_identifier}
            )
        )


def score(checkpoint: str, samples: Path, *, cache: bool) -> dict[str, object]:
    """Scores of every system, one after the other, in batches of 16 of like length."""
    model = load_from_checkpoint(checkpoint, local_files_only=True).eval()
    read = 0
    inner = model.encoder.forward

    def counted(input_ids: torch.Tensor, *rest: object, **named: object) -> object:
        nonlocal read
        read += len(input_ids)
        return inner(input_ids, *rest, **named)

    model.encoder.forward = counted
    if cache:
        model.set_embedding_cache()
    scores = []
    systems = json.loads(samples.read_text(encoding="utf-8"))
    begun = time.process_time()
    for system in systems:
        prediction = model.predict(system, batch_size=16, gpus=0, num_workers=0, progress_bar=False)
        scores.append(prediction.scores)
    seconds = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"scores": scores, "read": read, "seconds": seconds, "memory": memory}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], Path(sys.argv[3]))
    else:
        answer = score(sys.argv[2], Path(sys.argv[3]), cache="cache" in sys.argv[4:])
        print(json.dumps(answer))
