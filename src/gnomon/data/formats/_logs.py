"""Logs of evaluations, whose outputs are paired by the ids of their samples.

lm-evaluation-harness (``samples_TASK.jsonl``), inspect (``.eval``, ``.json``), lighteval
(``details_TASK.parquet``), MT-Lens (``results.json``) and the output of OpenAI's batches.
References come from the log where it has targets; sources where a sample names one. Of several
answers the first counts, and the filtered one before the raw one; what comes again with the same
references (further filters, epochs) is a further answer. What metrics gave to a sample are its
scores, where they are numbers.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import FormatError, not_installed
from gnomon.data.formats._files import LOGGER, largest_input, natural, read_bytes, unpack_member
from gnomon.data.formats._lines import decode
from gnomon.data.formats._records import parquet_columns, read_records
from gnomon.data.formats._table import role_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


class LoggedSample(NamedTuple):
    """A sample in a log.

    Attributes:
        name: its id.
        source: what was translated, where it is told from the rest of the prompt.
        references: its targets.
        output: the answer; None where there is none.
        scores: what metrics gave to the answer.
        system: the model that answered, where the log says so.
    """

    name: str
    source: str | None
    references: tuple[str, ...]
    output: str | None
    scores: Mapping[str, float]
    system: str = ""


def samples_of(data: bytes, path: str) -> list[LoggedSample] | None:
    """The samples of a log; None where the file is none."""
    objects = _objects(data, path)
    first = next(objects, {})
    reader = _reader(first)
    if reader is None:
        return None
    try:
        samples = (sample for one in (first, *objects) for sample in reader(one))
        found = _first_answers(path, samples)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise FormatError(
            "begins as a log of an evaluation, and a sample is not built as those of its kind"
            f" are ({type(error).__name__}: {error})",
            path=path,
        ) from error
    if reader is _batch:  # which come back in any order
        found.sort(key=lambda sample: natural(sample.name))
    return found


def _first_answers(path: str, samples: Iterator[LoggedSample]) -> list[LoggedSample]:
    """Without samples that come again; a lone surrogate becomes a question mark."""
    kept: dict[tuple[object, ...], LoggedSample] = {}
    again = 0
    for sample in samples:
        before = kept.get(sample[:3])
        again += before is not None
        if before and (before.output or not sample.output):
            continue
        kept[sample[:3]] = sample._replace(
            source=_encodable(sample.source),
            references=tuple(str(_encodable(one)) for one in sample.references),
            output=_encodable(sample.output),
        )
    if again:
        LOGGER.warning(
            "%s: %d further answers to the same samples are left out; the first that is not empty"
            " counts",
            path,
            again,
        )
    return list(kept.values())


#: how lm-evaluation-harness calls the log of a task, and when it ran
_TASK = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d.-]+))?\.jsonl", re.DOTALL)


def samples_in(folder: Path) -> list[LoggedSample]:
    """The samples of a folder of lm-evaluation-harness: of each task those of its last run."""
    last: dict[str, Path] = {}
    files = sorted(folder.glob("samples_*.jsonl"))
    for file in files:
        if found := _TASK.fullmatch(file.name):
            last[found[1]] = file
    if len(last) < len(files):
        LOGGER.warning("%s: tasks that ran several times are read from their last run", folder)
    samples: list[LoggedSample] = []
    for task, file in last.items():
        some = samples_of(read_bytes(file), str(file)) or []
        if len(last) > 1 and not has_texts(some):
            LOGGER.warning("%s: %s is left out, for its answers are no texts", folder, task)
            continue
        prefix = f"{task}/" if len(last) > 1 else ""
        samples += [sample._replace(name=f"{prefix}{sample.name}") for sample in some]
    return samples


def has_texts(samples: Sequence[LoggedSample]) -> bool:
    """True if there is an answer in words."""
    return any(sample.output is not None for sample in samples)


def _encodable(text: str | None) -> str | None:
    return None if text is None else text.encode(errors="replace").decode()


def is_log(data: bytes, path: str) -> bool:
    """True if a file begins as one."""
    if data.startswith(b"PK"):
        return True
    if data.startswith(_PARQUET):
        return _reader(dict.fromkeys(parquet_columns(path))) is not None
    return _reader(next(_objects(data, path), {})) is not None


def _reader(
    first: Mapping[str, Any],
) -> Callable[[Mapping[str, Any]], Iterator[LoggedSample]] | None:
    read = next((read for keys, read in _KINDS if keys <= set(first)), None)
    if read is _mt_lens and '"translations' not in json.dumps(first["results"]):
        return None  # lm-evaluation-harness writes such results beside its samples
    return read


_PARQUET = b"PAR1"


def _objects(data: bytes, path: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a file: one that is all of it, or one a line or row."""
    if data.startswith(_PARQUET):
        yield from (record.values for record in read_records(path, "parquet"))
        return
    if data.startswith(b"PK"):
        yield from _archived(data, path)
        return
    text = decode(data, path)
    lines = text.split("\n") if "\n" in text.strip() else [text]
    try:
        yield _object(lines[0])
    except ValueError:  # one that stands on several lines
        lines = [text]
        try:
            yield _object(text)
        except ValueError:
            return
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            try:
                yield _object(line)
            except ValueError as error:
                raise FormatError(f"is no JSON object ({error})", path=path, line=number) from error


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it stands too deep") from error
    if not isinstance(value, dict):
        raise ValueError("it is something else")  # noqa: TRY004  # what json raises, too
    return value


def _archived(data: bytes, path: str) -> Iterator[dict[str, Any]]:
    """The samples of inspect's archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            inside = [one for one in packed.infolist() if one.filename.startswith("samples/")]
            heads = [one for one in packed.infolist() if one.filename == "header.json"]
            _check_size((*heads, *inside), path)
            read = (_object(_unpacked(packed, one, data).decode()) for one in (*heads, *inside))
            about = next(read) if heads else {}
            yield {"eval": about.get("eval"), "samples": list(read)}
    except FormatError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"is no archive of inspect that can be read ({error})", path=path
        ) from error


def _check_size(inside: Sequence[zipfile.ZipInfo], path: str) -> None:
    if sum(one.file_size for one in inside) > largest_input():
        raise FormatError("is too large, unpacked", path=path)


#: what zipfile raises of a damaged archive, of one with a password, and of unknown compression
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError),
    *(ValueError, RuntimeError),
)
#: how inspect compresses, which zipfile reads from Python 3.14 on
_ZSTANDARD = 93
#: bytes before the name in the header of a file in an archive, which end in two lengths
_HEADER = 30


def _unpacked(packed: zipfile.ZipFile, inside: zipfile.ZipInfo, data: bytes) -> bytes:
    """A file of an archive."""
    if inside.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        return unpack_member(packed, inside)
    try:
        import pyarrow as pa
    except ImportError as error:
        raise not_installed("an archive of inspect", "pyarrow", "frames") from error
    start = inside.header_offset + _HEADER
    lengths = data[start - 4 : start - 2], data[start - 2 : start]
    start += sum(int.from_bytes(length, "little") for length in lengths)
    packed_bytes = data[start : start + inside.compress_size]
    if not packed_bytes:
        return b""
    try:
        text: bytes = pa.decompress(packed_bytes, inside.file_size, codec="zstd", asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(error) from error
    if zlib.crc32(text) != inside.CRC:
        raise ValueError(f"{inside.filename} is damaged")
    return text


def _harness(sample: Mapping[str, Any]) -> Iterator[LoggedSample]:
    answer = sample.get("filtered_resps") or sample["resps"]
    while isinstance(answer, list):
        answer = answer[0] if answer and not _is_choice(answer) else None
    named = sample.get("metrics") or [name for name in sample if name not in _NO_SCORES]
    yield LoggedSample(
        str(sample["doc_id"]),
        _source(sample.get("doc")),
        _targets(sample.get("target")),
        _text(answer),
        _scores({name: sample.get(name) for name in named}),
    )


def _is_choice(answer: Sequence[object]) -> bool:
    """True if this tells how likely a text is, and whether it is the likeliest."""
    likelihood, *others = map(str, answer)
    return others in (["True"], ["False"]) and bool(_NUMBER.fullmatch(likelihood))


def _inspected(log: Mapping[str, Any]) -> Iterator[LoggedSample]:
    model = _text((log.get("eval") or {}).get("model")) or ""
    for sample in log["samples"]:
        choices = (sample.get("output") or {}).get("choices") or [{}]
        content = (choices[0].get("message") or {}).get("content")
        given = {name: one.get("value") for name, one in (sample.get("scores") or {}).items()}
        yield LoggedSample(
            str(sample["id"]),
            _source(sample.get("metadata")),
            _targets(sample.get("target")),
            _text(content),
            _scores(given),
            model,
        )


def _lighteval(sample: Mapping[str, Any]) -> Iterator[LoggedSample]:
    doc, said = sample["doc"], sample["model_response"]
    texts = said.get("text_post_processed") or said.get("text") or [None]
    right, choices = doc.get("gold_index"), doc.get("choices") or []
    golds = right if isinstance(right, list) else [right or 0]
    references = tuple(str(choices[number]).strip() for number in golds if number < len(choices))
    source = _source(doc.get("specific"))
    yield LoggedSample(
        str(doc["id"]), source, references, _text(texts[0]), _scores(sample["metric"])
    )


_TEXTS = ("sources", "targets", "translations")


def _mt_lens(results: Mapping[str, Any]) -> Iterator[LoggedSample]:
    for task, measured in results["results"].items():
        lists = {key.partition(",")[0]: v for key, v in measured.items() if isinstance(v, list)}
        sources, targets, outputs = (lists.get(name) or [] for name in _TEXTS)
        scores = {name: values for name, values in lists.items() if len(values) == len(outputs)}
        for number, output in enumerate(outputs):
            given = {
                name.removesuffix("_segments"): values[number]
                for name, values in scores.items()
                if name not in _TEXTS
            }
            source = sources[number] if sources else None
            target = targets[number] if targets else None
            name = f"{task}/{number + 1}"
            model = _text(results.get("model_name")) or ""
            texts = _text(source), _targets(target), _text(output)
            yield LoggedSample(name, *texts, _scores(given), model)


def _batch(sample: Mapping[str, Any]) -> Iterator[LoggedSample]:
    body = (sample["response"] or {}).get("body") or {}
    choices = body.get("choices") or [{}]
    answer = _text((choices[0].get("message") or {}).get("content"))
    messages = [part for part in body.get("output") or () if part.get("type") == "message"]
    if messages:  # of the newer interface
        answer = _text(messages[0].get("content"))
    yield LoggedSample(str(sample["custom_id"]), None, (), answer, {})


def _targets(value: object) -> tuple[str, ...]:
    """The target, or each of several."""
    targets = value if isinstance(value, list) else [value]
    return tuple(target for target in targets if isinstance(target, str))


_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)", re.IGNORECASE)
#: what inspect writes for right, partly right, wrong and not answered
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
#: what lm-evaluation-harness writes beside scores
_NO_SCORES = frozenset({"doc_id", "doc", "target", "arguments"})


def _scores(values: Mapping[str, object]) -> dict[str, float]:
    """Those that are numbers or grades; of several inside, each by both names."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            inner = _scores(value)
            found |= {f"{name}.{part}": score for part, score in inner.items()}
        elif isinstance(value, (int, float)) and abs(value) <= sys.float_info.max:
            found[name] = float(value)
        elif isinstance(value, str) and value in _GRADES:
            found[name] = _GRADES[value]
    return found


def _text(value: object) -> str | None:
    """A text, or the texts of a message's parts."""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else None


def _source(document: object) -> str | None:
    """The text of a sample that is called as sources are."""
    named = document.items() if isinstance(document, dict) else ()
    texts = [text for key, text in named if isinstance(text, str) and role_of_name(key) == "source"]
    return texts[0] if len(texts) == 1 else None


_KINDS: tuple[tuple[frozenset[str], Callable[[Mapping[str, Any]], Iterator[LoggedSample]]], ...] = (
    (frozenset({"doc_id", "resps"}), _harness),
    (frozenset({"samples"}), _inspected),
    (frozenset({"doc", "model_response", "metric"}), _lighteval),
    (frozenset({"results", "versions"}), _mt_lens),
    (frozenset({"custom_id", "response"}), _batch),
)
