"""How machine code that numba made is loaded, and how values are handed to it and taken from it.

A value has a *form*, a word that says how numba hands it over: "i8", "f8" and "b1" are numbers;
"<f8:2" is an array of doubles with two dimensions, in the order of C, and "<f8:2r" one that must
not be written to. The form of whatever numba alone takes is empty.
"""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

#: what an object file offers: the loop, what gives memory back, and the byte that memory is filled
#: with (with nothing where it is negative, as it is but for trials)
CALL, RELEASE, FILL = "gnomon_call", "gnomon_release", "gnomon_fill"
#: where in the room for what a loop returns its results begin; a pointer to its fault comes first
RESULTS = 16
#: statuses that numba's functions end with: a result, no result
_ENDED = {0, -2}


# The forms of values.


class Number(NamedTuple):
    """A kind of number: in ctypes, struct, LLVM, LLVM as an argument, and numba."""

    ctype: Any
    packed: str
    llvm: str
    handed_over: str
    numba: str


NUMBERS = {
    "i8": Number(ctypes.c_int64, "q", "i64", "i64", "int64"),
    "f8": Number(ctypes.c_double, "d", "double", "double", "float64"),
    "b1": Number(ctypes.c_bool, "?", "i1", "i8", "bool"),
}
_FORMS: Mapping[type, str] = {
    int: "i8",
    np.int64: "i8",
    float: "f8",
    np.float64: "f8",
    bool: "b1",
}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
#: of its subclasses, masked arrays and matrices are more than their cells
_ARRAYS = {np.ndarray, np.memmap}
_CELLS = frozenset(
    np.dtype(one).str for one in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1")
)
#: numpy's flags of arrays: in the order of C, aligned, writeable
_FIT, _WRITEABLE = 0x0001 | 0x0100, 0x0400
_ASKED = _FIT | _WRITEABLE


def form_of(value: Any) -> str:
    """The form of a value; empty for those that numba alone takes."""
    if type(value) in _ARRAYS:
        return _array_form(value.dtype, value.ndim, value.flags.num & _ASKED)
    form = _FORMS.get(type(value), "")
    return "" if form == "i8" and not _LEAST <= value <= _MOST else form


@cache
def _array_form(cells: np.dtype[Any], dimensions: int, flags: int) -> str:
    if cells.str not in _CELLS or not dimensions or flags & _FIT != _FIT:
        return ""
    return f"{cells.str}:{dimensions}{'' if flags & _WRITEABLE else 'r'}"


def cells_of(form: str) -> tuple[str, int]:
    """The type of an array's cells as numpy writes it, and its dimensions; a number has none."""
    cells, _, dimensions = form.rstrip("r").partition(":")
    return cells, int(dimensions or 0)


# Calling.


class MachineCode:
    """Machine code of a loop for arguments of some forms.

    Args:
        about: "arguments" and "results" as forms, whether results are one "tuple", and the names
            that the code "needs" of others.
        object_file: the code.

    Raises:
        ValueError: this process lacks something that the code needs.
    """

    def __init__(self, about: Mapping[str, Any], object_file: bytes) -> None:
        process = ctypes.CDLL(None)
        for name in about["needs"]:  # of what it does not find LLVM says so, and ends the process
            if not hasattr(process, name):
                raise ValueError(f"{name} is not to be found")
        _check_arrays()
        self._engine = engine = _engine()
        engine.add_object_file(llvm().object_file.ObjectFileRef.from_data(object_file))
        engine.finalize_object()
        self._call = _function(engine, CALL, ctypes.c_int32, *map(_ctype, about["arguments"]))
        self.release = _function(engine, RELEASE, None)
        self.fill = ctypes.c_int32.from_address(engine.get_global_value_address(FILL))
        self._results = [cells_of(form) for form in about["results"]]
        self._tuple: bool = about["tuple"]
        self._packed = struct.Struct("".join(map(_packed, about["results"])))
        self._room = ctypes.c_char * (RESULTS + max(self._packed.size, 8))

    def __call__(self, args: Sequence[Any]) -> Any:
        """What the loop returns.

        Raises:
            MemoryError: there is not enough.
            Exception: whatever else numba's code says that it would raise.
        """
        room = self._room()
        if self._call(room, *args) not in _ENDED:
            raise _fault(room)
        found, at, values = self._packed.unpack_from(room, RESULTS), 0, []
        for cells, dimensions in self._results:
            if dimensions:
                end = at + 5 + 2 * dimensions
                values.append(self._array(cells, found[at:end], args))
                at = end
            else:
                values.append(found[at])
                at += 1
        return tuple(values) if self._tuple else values[0] if values else None

    def _array(self, cells: str, said: Sequence[int], args: Sequence[Any]) -> NDArray[Any]:
        """An array that numba's code gives: of memory that it took, or an argument's."""
        owner, place, half = said[0], said[4], 5 + (len(said) - 5) // 2
        shape, strides = said[5:half], said[half:]
        memory = _LoopMemory(owner, self, cells, place, shape, strides)
        if owner:
            return np.asarray(memory)
        places = [(_place(arg), arg) for arg in args if isinstance(arg, np.ndarray)]
        for start, arg in places:
            if (start, arg.dtype.str, arg.shape, arg.strides) == (place, cells, shape, strides):
                return arg
        for start, arg in places:
            if start <= place < start + arg.nbytes:
                return np.ndarray(shape, cells, arg, place - start, strides)
        return np.array(memory)


class _LoopMemory:
    """Memory that a loop took, given back when no array lies in it; not if nobody owns it."""

    def __init__(
        self,
        owner: int,
        code: MachineCode,
        cells: str,
        place: int,
        shape: Sequence[int],
        strides: Sequence[int],
    ) -> None:
        self._owner = owner
        self._code = code  # which is needed to give it back
        self.__array_interface__ = {
            "version": 3,
            "typestr": cells,
            "shape": shape,
            "strides": strides,
            "data": (place or 1, False),
        }

    def __del__(self) -> None:
        if self._owner:
            self._code.release(self._owner)


def _ctype(form: str) -> Any:
    return NUMBERS[form].ctype if form in NUMBERS else ctypes.py_object


def _packed(form: str) -> str:
    return NUMBERS[form].packed if form in NUMBERS else f"PPqqP{2 * cells_of(form)[1]}q"


def _function(engine: Any, name: str, given: Any, *taken: Any) -> Callable[..., Any]:
    """A function of an object file that takes a pointer first."""
    return ctypes.CFUNCTYPE(given, ctypes.c_void_p, *taken)(engine.get_function_address(name))


def _place(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class _Fault(ctypes.Structure):
    """How numba says what its code would raise, to begin with: a pickle, and its length."""

    _fields_ = (("pickled", ctypes.c_void_p), ("length", ctypes.c_int32))


def _fault(room: Any) -> Exception:
    """What a loop would raise, by the words of numba's pickle, which is not unpickled."""
    place = ctypes.c_void_p.from_buffer(room).value
    words: list[str] = []
    if place:
        import pickletools

        found = _Fault.from_address(place)
        pickled = ctypes.string_at(found.pickled, found.length)
        words = [word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)]
    kinds = (MemoryError, ValueError, ZeroDivisionError)
    kind = next((one for one in kinds if one.__name__ in words), RuntimeError)
    said = " ".join(word for word in words if word not in {"builtins", kind.__name__})
    return kind(f"a compiled loop did not come to its end: {said or 'no reason given'}")


# How numpy's arrays lie in memory.


class _ArrayFields(ctypes.Structure):
    """The beginning of an array, which numpy keeps as it is for all extensions in C."""

    _fields_ = (
        ("object", ctypes.c_char * object.__basicsize__),
        ("data", ctypes.c_void_p),
        ("dimensions", ctypes.c_int),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
    )


#: the same to LLVM, and the numbers of its fields
ARRAY = f"{{ [{object.__basicsize__} x i8], ptr, i32, ptr, ptr }}"
ARRAY_FIELDS = {"data": 1, "shape": 3, "strides": 4}


@cache
def _check_arrays() -> None:
    """Check that numpy's arrays lie as is assumed here.

    Raises:
        ValueError: they do not.
    """
    array = np.empty((2, 3), np.int16)
    fields = _ArrayFields.from_address(id(array))
    sizes = ctypes.c_int64 * (2 * array.ndim)
    known = (fields.data, fields.dimensions) == (_place(array), array.ndim)
    if not known or fields.strides != (fields.shape or 0) + ctypes.sizeof(sizes) // 2:
        raise ValueError("arrays lie in memory in another way than is known here")
    if tuple(sizes.from_address(fields.shape)) != array.shape + array.strides:
        raise ValueError("the shapes of arrays lie in memory in another way than is known here")


# LLVM.


@cache
def llvm() -> Any:
    """The binding of llvmlite, ready for this machine."""
    binding = import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def processor() -> tuple[str, str, str]:
    """The platform, the processor, and what that can do."""
    binding = llvm()
    features = binding.get_host_cpu_features().flatten()
    return binding.get_process_triple(), binding.get_host_cpu_name(), features


def target() -> Any:
    """This machine, as numba compiles for it."""
    triple, name, features = processor()
    platform = llvm().Target.from_triple(triple)
    return platform.create_target_machine(
        cpu=name,
        features=features,
        opt=3,
        reloc="static" if triple.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )


def _engine() -> Any:
    empty = llvm().parse_assembly(f'target triple = "{processor()[0]}"')
    return llvm().create_mcjit_compiler(empty, target())
