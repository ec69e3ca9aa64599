"""What a file of torch claims to hold, read without building anything of it.

A pickle is a program for a machine with a stack. The machine here knows the few operations and
names that tensors and hyper-parameters need, and keeps of a tensor its shape. What a short program
could make large or endless is bounded before it is made: memo entries, lists that are copied, keys
that take for ever to hash. Whatever else a pickle names or does is refused by its name.
"""

from __future__ import annotations

import io
import math
import pickletools
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError
from gnomon.models import check_content

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["MODEL_CHECKPOINTS", "Claimed", "read_claims"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A tensor as a pickle describes it."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Storage:
    """Values that a pickle names; they lie elsewhere in the file."""

    values: int


def read_claims(path: Path) -> tuple[object, bool]:
    """What a file of torch holds, tensors as claims, every size checked against the file."""
    check_content(path)
    try:
        with path.open("rb") as file:
            is_zip = file.read(4) == b"PK\x03\x04"  # as torch tells its formats apart
        return (_of_zip(path) if is_zip else _of_stream(path)), is_zip
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except (OSError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except Exception as error:  # a damaged pickle can fail in any way
        raise DataError(f"{path} is no checkpoint of torch: {error}") from error


#: bytes of a pickle: names, shapes and settings, some hundred thousand in the largest checkpoints
_LONGEST_PICKLE = 1 << 22
#: values that calls of a pickle may copy in all
_MOST_COPIED = 1 << 16
_MOST_DIMENSIONS = 64
_MOST_ARGUMENTS = 16
_LARGEST_NUMBER = 1 << 63

#: bytes of a value of each type of storage
_STORAGES = {
    "DoubleStorage": 8,
    "FloatStorage": 4,
    "HalfStorage": 2,
    "BFloat16Storage": 2,
    "LongStorage": 8,
    "IntStorage": 4,
    "ShortStorage": 2,
    "CharStorage": 1,
    "ByteStorage": 1,
    "BoolStorage": 1,
}
#: Lightning's class, which is the key of a training state
MODEL_CHECKPOINTS = tuple(
    f"{package}.callbacks.model_checkpoint.ModelCheckpoint"
    for package in ("pytorch_lightning", "lightning.pytorch")
)


def _tensor(storage: object, offset: object, size: object, stride: object, *_: object) -> Claimed:
    """What a pickle says of a tensor."""
    if not (
        isinstance(storage, _Storage)
        and isinstance(size, tuple)
        and isinstance(stride, tuple)
        and len(size) == len(stride) <= _MOST_DIMENSIONS
        and all(type(n) is int and 0 <= n < _LARGEST_NUMBER for n in (offset, *size, *stride))
        and type(offset) is int
    ):
        raise DataError("a tensor is described by what is no size")
    count = math.prod(size)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if count and (last >= storage.values or count > storage.values):
        raise DataError(
            f"a tensor of shape {tuple(size)} claims more values than the {storage.values} that"
            " it names"
        )
    return Claimed(tuple(size))


def _parameter(data: object, *_: object) -> object:
    return data


def _size(values: object) -> object:
    if not isinstance(values, list | tuple) or len(values) > _MOST_DIMENSIONS:
        raise DataError("a torch.Size is made of what is no size")
    return tuple(values)


def _mapping(*given: object) -> dict[object, object]:
    if given and not (len(given) == 1 and isinstance(given[0], dict)):
        raise DataError("a mapping is made of what is none")
    return dict(given[0]) if given and isinstance(given[0], dict) else {}


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "collections.OrderedDict": _mapping,
    "collections.Counter": _mapping,
    "torch.Size": _size,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function that a pickle may call."""

    name: str


#: operations that push what they carry
_CARRIED = frozenset(
    ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING",
     "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
     "BINBYTES", "SHORT_BINBYTES", "BINBYTES8")
)  # fmt: skip
_CONSTANTS: Mapping[str, Callable[[], object]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
}
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(eq=False)
class _Machine:
    """Reads one pickle after the other; knows no operation that could do anything."""

    stream: io.BytesIO
    storages: dict[str, int] = field(default_factory=dict)

    def load(self) -> object:
        """The next pickle."""
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, object] = {}
        self._copied = 0
        for operation, carried, _ in pickletools.genops(self.stream):
            name = operation.name
            if name == "STOP":
                return self._stack.pop()
            self._step(name, carried)
        raise DataError("the pickle has no end")

    def _step(self, name: str, carried: Any) -> None:  # whatever an operation carries
        stack = self._stack
        if name in _CARRIED:
            stack.append(carried)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _SHORT_TUPLES:
            stack.append(tuple(self._last(_SHORT_TUPLES[name])))
        elif name == "MARK":
            self._marks.append(len(stack))
        elif name in ("PROTO", "FRAME"):
            pass
        elif name in ("PUT", "BINPUT", "LONG_BINPUT"):
            self._memo[carried] = stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(self._memo[carried])
        elif not self._filled(name) and not self._called(name, carried):
            raise DataError(f"the pickle holds the operation {name}, which weights do not need")

    def _last(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise DataError("the pickle takes more than it has")
        values = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return values

    def _marked(self) -> list[Any]:
        return self._last(len(self._stack) - self._marks.pop())

    def _filled(self, name: str) -> bool:
        """Do what fills lists and mappings."""
        stack = self._stack
        if name in ("TUPLE", "LIST", "DICT"):
            items = self._marked()
            stack.append(tuple(items) if name == "TUPLE" else [] if name == "DICT" else items)
            if name == "DICT":
                stack[-1] = {}
                self._set_items(items)
        elif name in ("APPEND", "APPENDS"):
            items = self._last(1) if name == "APPEND" else self._marked()
            if not isinstance(stack[-1], list):
                raise DataError("the pickle appends to what is no list")
            stack[-1].extend(items)
        elif name in ("SETITEM", "SETITEMS"):
            self._set_items(self._last(2) if name == "SETITEM" else self._marked())
        else:
            return False
        return True

    def _set_items(self, items: list[Any]) -> None:
        owner = self._stack[-1]
        if not isinstance(owner, dict) or len(items) % 2:
            raise DataError("the pickle sets items of what is no mapping")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # a tuple of tuples that are shared takes for ever to hash
            if not (key is None or isinstance(key, str | int | float | bytes | _Function)):
                raise DataError(f"a key of a mapping is a {type(key).__name__}; names are read")
            owner[key] = value

    def _called(self, name: str, carried: Any) -> bool:
        """Do what names things, calls them, and gives them a state."""
        stack = self._stack
        if name == "GLOBAL":
            stack.append(_named(*str(carried).split(" ", 1)))
        elif name == "STACK_GLOBAL":
            stack.append(_named(*map(str, self._last(2))))
        elif name in ("REDUCE", "NEWOBJ"):
            function, given = self._last(2)
            stack.append(self._call(function, given))
        elif name == "BUILD":
            (state,) = self._last(1)
            self._count(state)
            if isinstance(stack[-1], Claimed | _Function | _Storage):
                raise DataError("the pickle changes a tensor, or what it names")
        elif name == "BINPERSID":
            stack.append(self._storage(*self._last(1)))
        else:
            return False
        return True

    def _call(self, function: object, given: object) -> object:
        if not isinstance(function, _Function) or function.name not in _FUNCTIONS:
            raise DataError("the pickle calls what is no function")
        if not isinstance(given, tuple) or len(given) > _MOST_ARGUMENTS:
            raise DataError(f"the pickle calls {function.name} with what are no arguments")
        for value in given:
            self._count(value)
        return _FUNCTIONS[function.name](*given)

    def _count(self, given: object) -> None:
        """Count what torch will copy of a list or a mapping."""
        if isinstance(given, list | tuple | dict):
            self._copied += max(0, len(given) - _MOST_ARGUMENTS)
        if self._copied > _MOST_COPIED:
            raise DataError(f"the pickle copies more than {_MOST_COPIED} values of its lists")

    def _storage(self, given: object) -> _Storage:
        """The values that a tensor names."""
        if not isinstance(given, tuple) or len(given) < 5 or given[0] != "storage":
            raise DataError("the pickle refers to what is no storage of a tensor")
        _, kind, key, _, count = given[:5]
        if not isinstance(key, str):
            raise DataError(f"a storage is named by a {type(key).__name__}, not by a string")
        is_storage = isinstance(kind, str) and kind in _STORAGES
        if not is_storage or type(count) is not int or not 0 <= count < _LARGEST_NUMBER:
            raise DataError(f"a storage {key!r} is of no type that is read, or of no size")
        self.storages[key] = max(self.storages.get(key, 0), count * _STORAGES[kind])
        return _Storage(count)


def _named(module: str, name: str = "") -> object:
    """What stands for a name of the pickle."""
    full = f"{module}.{name}"
    if module == "torch" and name in _STORAGES:
        return name
    if full in _FUNCTIONS or full in MODEL_CHECKPOINTS:
        return _Function(full)
    raise DataError(
        f"the pickle names {full}, which weights and hyper-parameters do not need: loading it"
        " could run code, and it is refused; save the checkpoint with weights only"
    )


def _of_zip(path: Path) -> object:
    """The content of torch's format since 1.6: an archive of a pickle and of values."""
    size = path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        packed = [e.filename for e in entries.values() if e.compress_type != zipfile.ZIP_STORED]
        if packed:
            raise DataError(f"its part {packed[0]!r} is compressed, which torch never writes")
        total = sum(entry.file_size for entry in entries.values())
        if total > size or len(entries) != len(archive.infolist()):
            raise DataError(f"its parts claim {total} bytes, and the file has {size}")
        pickles = [name for name in entries if name.count("/") == 1 and name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise DataError("it does not hold one data.pkl, as torch writes it")
        root = pickles[0].removesuffix("data.pkl")
        if f"{root}byteorder" in entries and archive.read(f"{root}byteorder") != b"little":
            raise DataError("its values are not little-endian")
        if entries[pickles[0]].file_size > _LONGEST_PICKLE:
            raise DataError(f"its pickle has more than {_LONGEST_PICKLE} bytes")
        machine = _Machine(io.BytesIO(archive.read(pickles[0])))
        content = machine.load()
    for key, claimed in machine.storages.items():
        entry = entries.get(f"{root}data/{key}")
        if entry is None or claimed > entry.file_size:
            there = 0 if entry is None else entry.file_size
            raise DataError(f"a storage claims {claimed} bytes of part {key!r}, which has {there}")
    return content


#: how torch begins a file of the format before 1.6
_MAGIC = 0x1950A86A20F9469CFC6C


def _of_stream(path: Path) -> object:
    """The content of torch's format before 1.6: pickles, then values, one after the other."""
    with path.open("rb") as file:
        machine = _Machine(io.BytesIO(file.read(_LONGEST_PICKLE)))
    if machine.load() != _MAGIC:
        raise DataError("it is of no format that torch writes")
    for _ in ("protocol", "system", "content"):
        content = machine.load()
    left = path.stat().st_size - machine.stream.tell()
    claimed = sum(machine.storages.values())
    if claimed > left:
        raise DataError(f"its storages claim {claimed} bytes, and the file has {left} left")
    return content
