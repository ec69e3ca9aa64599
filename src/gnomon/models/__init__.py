"""Transformer encoders: texts to pieces with offsets, and to one vector per piece.

Models are named by a folder, by a package that carries one (``package:NAME/FOLDER``, or a short
name such as ``minilm``) or by their name on the model hub, where they must have been fetched
before: nothing is downloaded unless ``GNOMON_ALLOW_DOWNLOADS=1`` says so. Weights are read from
safetensors files alone, and no code of a model folder is ever run. torch and transformers (``pip
install 'gnomon[models]'``) are loaded when a model is.
"""

from gnomon.models._folder import SHORT_NAMES as SHORT_NAMES
from gnomon.models._folder import (
    ModelFolder,
    check_content,
    find_folder,
    find_model,
    missing_package,
    quiet_transformers,
    reading_model,
    reading_tokenizer,
    usable_device,
)
from gnomon.models._installed import InstalledModel, installed_models, licence_of
from gnomon.models._precision import Long, Precision, mixed_precision
from gnomon.models.causal import CausalModel, load_causal
from gnomon.models.encoder import Embedded, Encoder, load_encoder
from gnomon.models.gradients import input_gradients, input_leaves
from gnomon.models.masked import Filling, Fluency, MaskedLM, load_masked_lm
from gnomon.models.seq2seq import Seq2Seq, load_seq2seq
from gnomon.models.word_pieces import Pieces, length_batches, text_places

__all__ = [
    "CausalModel",
    "Embedded",
    "Encoder",
    "Filling",
    "Fluency",
    "InstalledModel",
    "Long",
    "MaskedLM",
    "ModelFolder",
    "Pieces",
    "Precision",
    "Seq2Seq",
    "check_content",
    "find_folder",
    "find_model",
    "input_gradients",
    "input_leaves",
    "installed_models",
    "length_batches",
    "licence_of",
    "load_causal",
    "load_encoder",
    "load_masked_lm",
    "load_seq2seq",
    "missing_package",
    "mixed_precision",
    "quiet_transformers",
    "reading_model",
    "reading_tokenizer",
    "text_places",
    "usable_device",
]
