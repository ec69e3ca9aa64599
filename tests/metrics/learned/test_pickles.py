"""Pickles that claim much with few bytes: refused, and little memory is taken for them."""

from __future__ import annotations

import tracemalloc
import zipfile
from collections import OrderedDict
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import DataError
from gnomon.learned.checkpoints import read_weights

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")

_STORAGE, _CPU = b"X\x07\x00\x00\x00storage", b"X\x03\x00\x00\x00cpu"
_FLOATS, _NAME = b"ctorch\nFloatStorage\n", b"X\x01\x00\x00\x000"
_VALUE = b"(" + _STORAGE + _FLOATS + _NAME + _CPU + b"K\x01tQ"
_BUILD = b"ctorch._utils\n_rebuild_tensor_v2\n("
_MANY = b"(" + 1000 * b"K\x01" + b"t"
_LARGE = b"\x8a\xff" + 254 * b"\xff" + b"\x7f\x85"


@pytest.mark.parametrize(
    "program",
    [
        b"}r\xff\xff\xff\x7f.",  # a memo entry of a high number
        b"X\xff\xff\xff\x7fabc.",  # BINUNICODE
        b"\x8d\xff\xff\xff\xff\xff\x00\x00\x00abc.",  # BINUNICODE8
        b"\x8b\xff\xff\xff\x7fabc.",  # LONG4
        b"B\xff\xff\xff\x7fabc.",  # BINBYTES
        b"\x95\xff\xff\xff\xff\xff\x00\x00\x00}",  # FRAME
        b"\x96\x03\x00\x00\x00\x00\x00\x00\x00abc.",  # BYTEARRAY8
        b"I" + 500_000 * b"9" + b"\n.",
        b"ccollections\nCounter\n(" + 20 * b"K\x01" + b"tR.",
        _BUILD + _VALUE + b"K\x00" + _MANY + _MANY + b"tR.",
        _BUILD + _VALUE + b"K\x00" + _LARGE + b"K\x01\x85tR.",
        (5 << 20) * b"N" + b".",
        *(b"0.", b"a.", b"t.", b"R.", b"h\x05.", b"\x85.", b"(.", b"K\x01K\x02a.", b"b."),
    ],
)
def test_a_pickle_of_what_is_not_there_is_refused(tmp_path: Path, program: bytes) -> None:
    path = tmp_path / "model.ckpt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/version", b"3\n")
        archive.writestr("model/byteorder", b"little")
        archive.writestr("model/data.pkl", b"\x80\x02" + program)
        archive.writestr("model/data/0", bytes(4))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"model\.ckpt"):
            read_weights(path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_that_torch_wrote_are_read(tmp_path: Path, zipped: bool) -> None:
    state = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2)).state_dict()
    content = OrderedDict(state, parameter=torch.nn.Parameter(torch.zeros(2)), one=torch.zeros(()))
    torch.save(content, tmp_path / "x", _use_new_zipfile_serialization=zipped)
    read = read_weights(tmp_path / "x")
    assert list(read) == list(content)
    assert all(torch.equal(read[name], content[name]) for name in content)
