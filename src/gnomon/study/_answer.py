"""What a query gave: rows as tuples, or a data frame that is filled part by part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.findings import Kind

__all__ = ["Answer", "parts_of"]

#: what fits into memory as tuples without a thought
_ROWS = 8192

_KINDS: Mapping[str, Kind] = {"DOUBLE": "number", "FLOAT": "number", "BOOLEAN": "truth"}

_Row: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """What a query gave.

    Attributes:
        columns: names of the columns; a name may stand twice.
        types: their types in SQL.
        parts: the rows, some at a time; read once, by whichever is asked for first.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    parts: Iterable[Sequence[_Row]]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each with a name of its own: the second ``a`` is called ``a_2``."""
        found: list[str] = []
        for name in self.columns:
            number, own = 1, name
            while own in found or (number > 1 and own in self.columns):
                number += 1
                own = f"{name}_{number}"
            found.append(own)
        return tuple(found)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What the columns hold: numbers, counts, truth values, or texts."""
        return tuple(
            _KINDS.get(one, "count" if one.endswith("INT") else "text") for one in self.types
        )

    @cached_property
    def rows(self) -> tuple[_Row, ...]:
        """The cells, row by row.

        Raises:
            DataError: a file of the store is gone or damaged by now.
        """
        if "_frame" in self.__dict__:
            return tuple(self._frame.rows())
        return tuple(chain.from_iterable(self.parts))

    def to_frame(self) -> Any:  # polars is optional
        """The rows as a polars data frame; large ones need no memory for tuples.

        Raises:
            MissingDependencyError: polars is not installed.
            DataError: a file of the store is gone or damaged by now.
        """
        return self._frame.clone()

    @cached_property
    def _frame(self) -> Any:  # polars is optional
        try:
            import polars as pl
        except ImportError as error:
            raise MissingDependencyError(
                "data frames need polars, which is not installed; run: pip install 'gnomon[study]'"
            ) from error
        known = {
            "VARCHAR": pl.String,
            "BOOLEAN": pl.Boolean,
            **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), pl.Int64),
            **dict.fromkeys(("FLOAT", "DOUBLE"), pl.Float64),
        }
        kinds = zip(self.names, self.types, strict=True)
        schema = [(name, known.get(kind)) for name, kind in kinds]
        parts = [self.rows] if "rows" in self.__dict__ else self.parts
        frames = [
            pl.DataFrame(part, schema=schema, orient="row", infer_schema_length=None)
            for part in parts
        ]
        return pl.concat(frames or [pl.DataFrame(schema=schema)], how="vertical_relaxed")


def parts_of(found: Any) -> Iterator[list[_Row]]:  # DuckDB is optional and without types
    """The rows of a result of DuckDB, some at a time."""
    while part := found.fetchmany(_ROWS):
        yield part
