"""MetricX: an mT5 that reads source, candidate and reference and predicts an error score.

Juraska et al. (2023), "MetricX-23", and Juraska et al. (2024), "MetricX-24", submissions of Google
to the metrics tasks of WMT.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import SpecError
from gnomon.core.options import MODEL
from gnomon.core.signature import content_hash
from gnomon.learned.encoder import first_names
from gnomon.learned.joint import (
    JointModel,
    JointOptions,
    PieceSequence,
    torch_type,
)
from gnomon.learned.vocabularies import unigram_vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.learned.metric import Triple
    from gnomon.metrics.base import Input
    from gnomon.models import ModelFolder

__all__ = ["MetricX", "MetricXModel"]

#: ``<extra_id_10>`` of mT5: its logit at the first step is the prediction
_REGRESSION = 250089
_WORST = 25.0
#: pieces that the models were trained with
_LIMITS = {24: 1536, 23: 1024}
#: source of the vocabulary of the published models, whose folders hold none
_VOCABULARY = "google/mt5-xl"
_NAMED = re.compile(r"metricx-?(23|24)", re.IGNORECASE)


@dataclass(frozen=True)
class MetricX(JointOptions):
    """MetricX-24 or -23: errors predicted by an mT5, 0 (none) to 25 (worst); lower is better.

    Source, candidate and reference are one prompt; the logit of one piece at the decoder's first
    step, cut off at 0 and 25, is the score. It imitates an MQM score: a minor error costs about 1,
    a major one 5. With several references the
    score is the mean over them. The system score is the mean over
    segments. Empty texts are read like all others.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub.
        against: "reference": of source and reference; "source": without a reference (quality
            estimation).
        version: 24; or 23, which reads the candidate with the reference alone, or with the source
            alone (for its models whose names say "qe").
        limit: most pieces of a prompt; by default 1536, and 1024 for version 23.
        vocabulary: a folder or a name on the hub; by default the model's own, or google/mt5-xl
            where its folder holds none.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: of the weights: "fp32", or "bf16" for approximate scores in half the memory.
        batch: most prompts that are read at once; specs do not show it.

    Raises:
        SpecError: an option has a value that it cannot have, or the model's name says another
            version.
    """

    name: ClassVar[str] = "metricx"
    title: ClassVar[str] = "MetricX"
    higher_is_better: ClassVar[bool] = False
    lost: ClassVar[str] = "prompt"
    bounds = MappingProxyType({"limit": (8, 1 << 16), "batch": (1, 1 << 16)})

    against: Literal["reference", "source"] = "reference"
    version: Literal[24, 23] = 24
    vocabulary: Annotated[str | None, MODEL] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        match = _NAMED.search(self.model)
        if match and int(match[1]) != self.version:
            raise SpecError(
                f"metricx: the model {self.model!r} is one of version {match[1]}, which reads other"
                f" prompts than version {self.version}; say version={match[1]}"
            )

    @property
    def needs(self) -> frozenset[Input]:
        """References, sources or both, as ``against`` and ``version`` say."""
        if self.against == "source":
            return frozenset(("sources",))
        return frozenset(("references", "sources") if self.version == 24 else ("references",))

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """The model, and the vocabulary where it is another folder's."""
        dependencies = super().requires(language)
        return (
            dependencies
            if self.vocabulary is None
            else (*dependencies, Dependency("model", self.vocabulary))
        )

    def load(self, folder: ModelFolder, device: str) -> MetricXModel:
        """The model in a folder."""
        limit = self.limit or _LIMITS[self.version]
        about = (self.version, self.vocabulary, device, self.precision, limit)
        return _load(folder, folder.identity, *about)


def prompt(version: int, triple: Triple) -> str:
    """Prompt of the model, to the blank."""
    candidate, source, reference = triple
    if version == 24:
        text = f"source: {source} candidate: {candidate}"
        return text if reference is None else f"{text} reference: {reference}"
    other = f"source: {source}" if reference is None else f"reference: {reference}"
    return f"candidate: {candidate} {other}"


class MetricXModel(JointModel):
    """MetricX in torch."""

    def __init__(
        self,
        folder: ModelFolder,
        version: int,
        vocabulary: str | None,
        device: str,
        precision: str,
        limit: int,
    ) -> None:
        super().__init__(folder, device, precision, limit)
        self.version = version
        self._tokenizer = unigram_vocabulary(folder, vocabulary, _VOCABULARY)

    @cached_property
    def network(self) -> tuple[Any, Any, Any]:
        """Encoder, decoder, and the row of the output layer that belongs to the one piece."""
        kind = torch_type(self.precision)
        model, output = _read_model(self.folder)
        parts = (model.encoder, model.decoder, output)  # the whole output layer is let go
        encoder, decoder, row = (part.to(device=self.device, dtype=kind) for part in parts)
        return encoder, decoder, row

    @cached_property
    def about(self) -> tuple[str, ...]:
        """Facts that scores depend on beside the texts: the vocabulary may be another folder's."""
        return (*super().about, str(self.version), content_hash(self._tokenizer.to_str()))

    def sequences(self, triples: Sequence[Triple]) -> list[PieceSequence]:
        """Prompts as pieces, without ``</s>``: the original removes the last piece."""
        prompts = [prompt(self.version, triple) for triple in triples]
        every = self._tokenizer.encode_batch(prompts, add_special_tokens=False)
        most = self.limit - 1
        return [
            PieceSequence(prompt_pieces.ids[:most], cut=len(prompt_pieces.ids) > most)
            for prompt_pieces in every
        ]

    def forward(
        self,
        ids: NDArray[np.int64],
        kept: NDArray[np.bool_],
        first: NDArray[np.int64],  # noqa: ARG002  # a prompt is one part
    ) -> NDArray[np.float64]:
        """The logits of the one piece at the decoder's first step, within 0 and 25."""
        import torch

        encoder, decoder, output = self.network
        with torch.inference_mode():
            mask = torch.as_tensor(kept, device=self.device).long()
            seen = encoder(
                input_ids=torch.as_tensor(ids, device=self.device), attention_mask=mask
            ).last_hidden_state
            start = torch.zeros((len(ids), 1), dtype=torch.long, device=self.device)
            answer = decoder(
                input_ids=start,
                encoder_hidden_states=seen,
                encoder_attention_mask=mask,
                use_cache=False,
            ).last_hidden_state[:, 0]
            logits = (answer @ output).float().cpu().numpy()
        return np.asarray(np.clip(logits, 0.0, _WORST), dtype=np.float64)


@lru_cache(maxsize=2)
def _load(folder: ModelFolder, _identity: str, *about: Any) -> MetricXModel:
    return MetricXModel(folder, *about)


def _read_model(folder: ModelFolder) -> tuple[Any, Any]:
    """An mT5, and the row of its output layer that belongs to the one piece."""
    from gnomon.models import reading_model

    with reading_model(folder):
        import torch
        from transformers import AutoConfig, MT5ForConditionalGeneration

        safe = {"local_files_only": True, "trust_remote_code": False}
        config = AutoConfig.from_pretrained(folder.path, **safe)
        if config.model_type != "mt5" or config.vocab_size <= _REGRESSION:
            raise ValueError(
                f"MetricX is an mT5 with {_REGRESSION + 1:,} pieces or more, and this is a"
                f" {config.model_type} model with {getattr(config, 'vocab_size', 0):,}"
            )
        model, report = MT5ForConditionalGeneration.from_pretrained(
            folder.path,
            config=config,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            **safe,
        )
        copies = ("embed_tokens.weight", "lm_head.weight")
        missing = [key for key in report["missing_keys"] if not key.endswith(copies)]
        if missing:
            raise ValueError(f"it lacks weights: {first_names(sorted(missing))}")
        strange = sorted(report["unexpected_keys"])
        if strange:
            raise ValueError(f"its configuration knows nothing of weights: {first_names(strange)}")
        row = _output_row(folder)
        if row.shape != (config.d_model,):
            raise ValueError(f"its output layer has rows of shape {list(row.shape)}")
    model.set_input_embeddings(model.shared)  # files leave the copies of both stacks out
    return model.eval().requires_grad_(False), row  # noqa: FBT003  # torch's signature


def _output_row(folder: ModelFolder) -> Any:
    """The row of the output layer, from the file: transformers 5 ties it to the embeddings."""
    import torch
    from safetensors import safe_open

    config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
    tied = config.get("tie_word_embeddings") is True
    name = "shared.weight" if tied else "lm_head.weight"
    for file in sorted(folder.path.glob("*.safetensors")):
        with safe_open(file, framework="pt") as weights:
            if name in weights.keys():  # noqa: SIM118  # it is no mapping
                row = weights.get_slice(name)[_REGRESSION].to(torch.float32)
                return row * config["d_model"] ** -0.5 if tied else row
    raise ValueError(f"it lacks the weights {name!r}")
