"""How machine code that numba made becomes an object file that needs neither numba nor its library.

What is assumed of the inside of numba is how arrays are handed over, how their memory is counted,
and how it says what its code would raise. Code is kept only if all of that is what is assumed here,
if it needs nothing of numba's own library, and if by itself it gives the same results as numba did.
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.loops._machine_code import (
    ARRAY,
    ARRAY_FIELDS,
    CALL,
    NUMBERS,
    RELEASE,
    RESULTS,
    MachineCode,
    cells_of,
    form_of,
    llvm,
    target,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


class Kept(NamedTuple):
    """What :class:`MachineCode` is made from."""

    about: dict[str, Any]
    object_file: bytes


class Trial(NamedTuple):
    """A call of a loop: its arguments before and after, what it returned, the arguments' forms."""

    before: Sequence[Any]
    after: Sequence[Any]
    result: Any
    forms: Sequence[str]


def object_file(dispatcher: Any, anew: Callable[[], Any], trial: Trial) -> Kept:
    """The code that numba made of a loop, after a trial.

    Args:
        dispatcher: what numba's ``njit`` gave.
        anew: makes another one, without a cache.
        trial: a call of it.

    Raises:
        MemoryError: there is not enough for a trial.
        ValueError: something that is assumed of it does not hold.
    """
    try:
        kept = _converted(dispatcher, anew, trial)
        _try(MachineCode(*kept), trial)
    except (MemoryError, OSError, RecursionError, ValueError):
        raise
    except Exception as error:  # of a library's inside
        raise ValueError(f"numba is another than is known here: {error!r}") from error
    return kept


def _try(code: MachineCode, trial: Trial) -> None:
    """Check that code gives what numba did.

    Raises:
        ValueError: it does not.
    """
    outcomes = []
    for fill in (0, 255):  # memory that is not set shows in that it has either value
        code.fill.value = fill
        tried = copied(trial.before)
        outcomes.append(_bytes([code(tried), *tried]))
    for zeros, ones, wanted in zip(*outcomes, _bytes([trial.result, *trial.after]), strict=True):
        if (
            not len(zeros) == len(ones) == len(wanted)
            or ((zeros == ones) & (zeros != wanted)).any()
        ):
            raise ValueError("by itself it gives something else")


def copied(args: Sequence[Any]) -> list[Any]:
    """Arguments with arrays of their own; one that is handed over twice stays one."""
    arrays = {id(arg): arg.copy() for arg in args if isinstance(arg, np.ndarray)}
    return [arrays.get(id(arg), arg) for arg in args]


def _bytes(values: Sequence[Any]) -> list[NDArray[np.uint8]]:
    """The bytes of results and arguments, and what these are."""
    flat = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    arrays = list(map(np.asarray, flat))
    about = [f"{array.dtype.str}{array.shape}".encode() for array in arrays]
    return [
        np.frombuffer(one + array.tobytes(), np.uint8)
        for one, array in zip(about, arrays, strict=True)
    ]


# What numba made.

#: how numba counts who uses memory, which the functions below lay out; and what it says of faults
_COUNTED, _FAULT = "{i64, i8*, i8*, i8*, i64}", "{i8*, i32, i8*, i8*, i32}"


def _converted(dispatcher: Any, anew: Callable[[], Any], trial: Trial) -> Kept:
    layouts = (
        vars(import_module("numba.core.runtime.nrtdynmod"))["_meminfo_struct_type"],
        import_module("numba.core.callconv").excinfo_t,
    )
    if tuple(map(str, layouts)) != (_COUNTED, _FAULT):
        raise ValueError("how it counts memory, or tells faults, is not known here")
    signature = tuple(map(import_module("numba").typeof, trial.after))
    returned, result = dispatcher.overloads[signature].signature.return_type, trial.result
    several = isinstance(result, tuple)
    values = result if several else () if result is None else (result,)
    kinds = returned if several else [returned] * len(values)
    results = [_result_form(*one) for one in zip(values, kinds, strict=True)]
    if dispatcher.stats.cache_hits[signature]:  # of code from its own cache numba tells nothing
        dispatcher = anew()
        dispatcher.compile(signature)
    about = {"arguments": list(trial.forms), "results": results, "tuple": several}
    return _linked(str(dispatcher.inspect_llvm(signature)), about)


def _result_form(value: Any, kind: Any) -> str:
    """The form of a result that numba takes for this type.

    Raises:
        ValueError: the type has none; of 64 bits without a sign, for one, only small numbers do.
    """
    form = form_of(value)
    if not form or (form in NUMBERS and str(kind) != NUMBERS[form].numba):
        raise ValueError(f"results of the type {kind} are not known here")
    return form


def _linked(ir: str, about: dict[str, Any]) -> Kept:
    """An object file of what numba made of a loop, with memory from the C library.

    Raises:
        ValueError: a function of it is of another type than is assumed.
    """
    module = llvm().parse_assembly(ir)
    entries = (one.name for one in module.functions)
    name = next(one for one in entries if one.startswith("cfunc.")).removeprefix("cfunc.")
    whole = [_whole_type(form) for form in about["results"]]
    given = {f"{{ {', '.join(whole)} }}"} if about["tuple"] else {*(whole or ["ptr"])}
    if about["tuple"] and len(set(whole)) == 1:  # numbered, which lies in the same way
        given.add(f"[{len(whole)} x {whole[0]}]")
    entry, flat = _entry(name, about["arguments"])
    taken = ", ".join(map(_whole_type, about["arguments"]))
    types = {name: {flat}, f"cfunc.{name}": {f"{one} ({taken})" for one in given}}
    for function, wanted in types.items():
        if str(module.get_function(function).global_value_type) not in wanted:
            raise ValueError("it is not called as is assumed here")
    module.link_in(llvm().parse_assembly(_MEMORY))
    module.link_in(llvm().parse_assembly(entry))
    for function in module.functions:
        if not function.is_declaration and function.name not in {CALL, RELEASE}:
            function.linkage = "internal"
    machine = target()
    passes = llvm().create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm().create_pass_builder(machine, llvm().create_pipeline_tuning_options()))
    made = machine.emit_object(module)
    return Kept({**about, "needs": _undefined(made)}, made)


def _whole_type(form: str) -> str:
    if form in NUMBERS:
        return NUMBERS[form].llvm
    sizes = f"[{cells_of(form)[1]} x i64]"
    return f"{{ ptr, ptr, i64, i64, ptr, {sizes}, {sizes} }}"


def _entry(name: str, forms: Sequence[str]) -> tuple[str, str]:
    """A function that takes room for results and numpy's arrays; and the type of that of numba's.

    That one takes of each array whom it belongs to (nobody, as far as it need know), how many
    cells it has and of what size, where it lies, its shape and its strides.
    """
    taken, given, lines = ["ptr %room"], [], []
    for at, form in enumerate(forms):
        if form in NUMBERS:
            given.append(f"{NUMBERS[form].handed_over} %a{at}")
            taken.append(given[-1])
            continue
        array, (cells, dimensions) = f"%a{at}", cells_of(form)
        taken.append(f"ptr {array}")
        for field, number in ARRAY_FIELDS.items():
            lines += _load(f"{array}.{field}", "ptr", f"{ARRAY}, ptr {array}, i32 0, i32 {number}")
        size = "1"
        for n in range(dimensions):
            for field in ("shape", "strides"):
                lines += _load(f"{array}.{field}.{n}", "i64", f"i64, ptr {array}.{field}, i64 {n}")
            lines.append(f"{array}.size.{n} = mul i64 {size}, {array}.shape.{n}")
            size = f"{array}.size.{n}"
        given += ["ptr null", "ptr null", f"i64 {size}", f"i64 {np.dtype(cells).itemsize}"]
        given.append(f"ptr {array}.data")
        for field in ("shape", "strides"):
            given += [f"i64 {array}.{field}.{n}" for n in range(dimensions)]
    flat = ["ptr", "ptr", *(one.partition(" ")[0] for one in given)]
    body = "\n  ".join(lines)
    text = f"""
declare i32 @"{name}"({", ".join(flat)})

define i32 @{CALL}({", ".join(taken)}) {{
  %results = getelementptr i8, ptr %room, i64 {RESULTS}
  {body}
  %status = call i32 @"{name}"({", ".join(["ptr %results", "ptr %room", *given])})
  ret i32 %status
}}
"""
    return text, f"i32 ({', '.join(flat)})"


def _load(name: str, kind: str, place: str) -> list[str]:
    return [f"{name}.at = getelementptr {place}", f"{name} = load {kind}, ptr {name}.at"]


def _undefined(machine_code: bytes) -> list[str]:
    """The names that an object file (ELF, 64 bits) needs of others.

    Raises:
        KeyError: it is no such file.
    """
    parts = llvm().object_file.ObjectFileRef.from_data(machine_code).sections()
    sections = {one.name(): one.data() for one in parts}
    names = sections[b".strtab" if b".strtab" in sections else ".strtab"]
    table = sections[b".symtab" if b".symtab" in sections else ".symtab"]
    found = []
    for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", table):
        if name and not section:
            found.append(names[name : names.index(b"\0", name)].decode())
    return found


#: what compiled code asks of numba's library, on top of the C library
_MEMORY = """
@gnomon_fill = global i32 -1

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define noalias ptr @NRT_Allocate(i64 %size) {
  %p = call ptr @malloc(i64 %size)
  ret ptr %p
}

define void @NRT_Free(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %extra = add i64 %wide, 64
  %total = add i64 %size, %extra
  %over = icmp ult i64 %total, %size
  br i1 %over, label %none, label %try
try:
  %p = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %p, null
  br i1 %failed, label %none, label %made
made:
  %at = ptrtoint ptr %p to i64
  %past = add i64 %at, %extra
  %less = sub i64 0, %wide
  %begin = and i64 %past, %less
  %data = inttoptr i64 %begin to ptr
  store i64 1, ptr %p
  %dtor = getelementptr i64, ptr %p, i64 1
  store ptr null, ptr %dtor
  %info = getelementptr i64, ptr %p, i64 2
  store ptr null, ptr %info
  %held = getelementptr i64, ptr %p, i64 3
  store ptr %data, ptr %held
  %room = getelementptr i64, ptr %p, i64 4
  store i64 %size, ptr %room
  %byte = load i32, ptr @gnomon_fill
  %unset = icmp slt i32 %byte, 0
  br i1 %unset, label %end, label %fill
fill:
  %low = trunc i32 %byte to i8
  call void @llvm.memset.p0.i64(ptr %data, i8 %low, i64 %size, i1 false)
  br label %end
end:
  ret ptr %p
none:
  ret ptr null
}

define noalias ptr @NRT_MemInfo_alloc(i64 %size) {
  %p = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %p
}

define void @NRT_MemInfo_call_dtor(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define void @gnomon_release(ptr %p) {
  %before = atomicrmw sub ptr %p, i64 1 seq_cst
  %last = icmp eq i64 %before, 1
  br i1 %last, label %free, label %end
free:
  call void @free(ptr %p)
  br label %end
end:
  ret void
}
"""
