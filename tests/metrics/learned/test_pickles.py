"""Pickles that claim much with few bytes: refused before anything of it is built."""

from __future__ import annotations

import io
import pickle
import tracemalloc
import zipfile
from collections import OrderedDict
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import DataError
from gnomon.metrics.learned.pickles import Claimed, read_claims

if TYPE_CHECKING:
    from pathlib import Path


def _file(folder: Path, program: bytes) -> Path:
    """An archive as torch writes it, with a program of one's own for a pickle."""
    path = folder / "model.ckpt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02" + program)
    return path


def _read(folder: Path, program: bytes) -> object:
    """The content of such a file; reading it takes little memory."""
    path = _file(folder, program)
    tracemalloc.start()
    try:
        return read_claims(path)[0]
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 64 << 20


def test_a_memo_entry_of_a_high_number_takes_no_memory(tmp_path: Path) -> None:
    # the unpickler of the standard library makes room for all entries below
    assert _read(tmp_path, b"}r\xff\xff\xff\x7f.") == {}
    assert _read(tmp_path, b"}p4000000000\ng4000000000\n.") == {}


def test_texts_and_numbers_that_are_not_there_are_refused(tmp_path: Path) -> None:
    for program in (
        b"X\xff\xff\xff\x7fabc.",  # BINUNICODE
        b"\x8d\xff\xff\xff\xff\xff\x00\x00\x00abc.",  # BINUNICODE8
        b"\x8b\xff\xff\xff\x7fabc.",  # LONG4
        b"B\xff\xff\xff\x7fabc.",  # BINBYTES
        b"\x95\xff\xff\xff\xff\xff\x00\x00\x00}",  # FRAME
        b"I" + 500_000 * b"9" + b"\n.",
    ):
        with pytest.raises(DataError, match=r"model\.ckpt"):
            _read(tmp_path, program)
    with pytest.raises(DataError, match="holds the operation BYTEARRAY8"):
        _read(tmp_path, b"\x96\x03\x00\x00\x00\x00\x00\x00\x00abc.")


#: memo entry 60 is a tuple of twice a tuple of twice a tuple ...: 2^60 parts
_DOUBLED = b")q\x00" + b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60))
_STORAGE, _CPU = b"X\x07\x00\x00\x00storage", b"X\x03\x00\x00\x00cpu"
_FLOATS, _NAME = b"ctorch\nFloatStorage\n", b"X\x01\x00\x00\x000"


def test_keys_that_take_for_ever_to_hash_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a key of a mapping is a tuple"):
        _read(tmp_path, _DOUBLED + b"}h\x3cK\x01s.")
    for kind, name in ((_FLOATS, b"h\x3c"), (b"h\x3c", _NAME)):
        with pytest.raises(DataError, match="a storage"):
            _read(tmp_path, _DOUBLED + b"(" + _STORAGE + kind + name + _CPU + b"K\x01tQ.")


def test_lists_that_are_copied_many_times_are_refused(tmp_path: Path) -> None:
    entries = b"}q\x01(" + b"".join(b"M%bK\x01" % n.to_bytes(2, "little") for n in range(60_000))
    made = entries + b"u"
    copied = b"ccollections\nCounter\nq\x02" + b"h\x02h\x01\x85R" * 5_000
    with pytest.raises(DataError, match="copies more than 65536 values"):
        _read(tmp_path, made + copied + b"}.")
    changed = b"ccollections\nOrderedDict\nq\x02" + b"h\x02)Rh\x01b" * 5_000
    with pytest.raises(DataError, match="copies more than 65536 values"):
        _read(tmp_path, made + changed + b"}.")
    with pytest.raises(DataError, match="with what are no arguments"):
        _read(tmp_path, b"ccollections\nCounter\n(" + 20 * b"K\x01" + b"tR.")
    with pytest.raises(DataError, match=r"torch\.Size is made of what is no size"):
        _read(tmp_path, b"ctorch\nSize\n](" + 100 * b"K\x01" + b"e\x85R.")


def test_a_tensor_of_more_dimensions_or_larger_ones_than_any_is_refused(tmp_path: Path) -> None:
    storage = b"(" + _STORAGE + _FLOATS + _NAME + _CPU + b"K\x01tQ"
    build = b"ctorch._utils\n_rebuild_tensor_v2\n("
    many = b"(" + 1000 * b"K\x01" + b"t"
    large = b"\x8a\xff" + 254 * b"\xff" + b"\x7f\x85"
    for sizes in (many + many, large + b"K\x01\x85"):
        with pytest.raises(DataError, match="described by what is no size"):
            _read(tmp_path, build + storage + b"K\x00" + sizes + b"tR.")


def test_a_pickle_that_is_longer_than_any_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="its pickle has more than"):
        _read(tmp_path, (5 << 20) * b"N" + b".")
    for program in (b"0.", b"a.", b"t.", b"R.", b"h\x05.", b"\x85.", b"(.", b"K\x01K\x02a.", b"b."):
        with pytest.raises(DataError, match=r"model\.ckpt"):
            _read(tmp_path, program)


def test_what_lightning_and_torch_write_is_read(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
    state = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2)).state_dict()
    content = {
        "state_dict": state,
        "plain": OrderedDict(a=1),
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "epoch": 3,
        "hyper_parameters": {"a": [1, 2.5, None, True], "b": ("x", torch.Size([2, 3]))},
        "one": torch.zeros(()),
    }
    for zipped in (True, False):
        torch.save(content, tmp_path / "x", _use_new_zipfile_serialization=zipped)
        found, is_zip = read_claims(tmp_path / "x")
        assert is_zip == zipped
        assert isinstance(found, dict)
        assert {name: one.shape for name, one in found["state_dict"].items()} == {
            name: tuple(one.shape) for name, one in state.items()
        }
        assert found["hyper_parameters"] == {"a": [1, 2.5, None, True], "b": ("x", (2, 3))}
        assert found["parameter"] == Claimed((2,))
        assert found["one"] == Claimed(())
        assert found["plain"] == {"a": 1}
        assert found["epoch"] == 3


@pytest.mark.parametrize("protocol", range(6))
def test_plain_things_are_read_as_the_standard_library_does(tmp_path: Path, protocol: int) -> None:
    value = {"a": [1, -2, 2**40, 10**30, 1.5, "ä", b"b", None, True, (), (1,), (1, 2, 3, 4)], 5: {}}
    shared = [value, value, [[]]]
    data = pickle.dumps(shared, protocol=protocol)
    if protocol < 3:  # bytes are made by a function there
        value["a"].remove(b"b")  # type: ignore[attr-defined]  # it is the list
        data = pickle.dumps(shared, protocol=protocol)
    path = _file(tmp_path, b"")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("model/data.pkl", data)
    path.write_bytes(stream.getvalue())
    found = read_claims(path)[0]
    assert found == shared
    assert isinstance(found, list)
    assert found[0] is found[1]
