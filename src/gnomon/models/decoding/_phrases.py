"""How far a sequence of pieces has met some phrases: a state machine that grows as it is used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gnomon.models.decoding._shortest import fewest, states

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Machine", "PhraseStates", "held"]

_OTHER, _INNER = 0, 1
#: most states of a machine where phrases overlap: more take longer than the search itself
_EXPLORED = 4096


@dataclass(frozen=True)
class _State:
    """Where a hypothesis stands.

    Attributes:
        tail: the longest end of its pieces that begins a phrase (or is one).
        counts: of each phrase how often it stood before, and a word ended there; never more than
            is asked for. A phrase at the very end is not yet among them: a piece that goes on with
            its last word would undo it.
    """

    tail: tuple[int, ...]
    counts: tuple[int, ...]


class Machine:
    """The phrases of one text.

    A phrase is met where its pieces stand side by side and the word that ends there ends. Phrases
    may begin alike, overlap or hold one another; one that is asked for twice must begin at two
    places.

    Args:
        phrases: their pieces, none of them empty.
        continuing: pieces that go on with a word [V].
    """

    def __init__(self, phrases: Sequence[tuple[int, ...]], continuing: NDArray[np.bool_]) -> None:
        asked = Counter(phrases)
        self.phrases = tuple(asked)
        self._asked = tuple(asked.values())
        self.alphabet = tuple(dict.fromkeys(piece for phrase in self.phrases for piece in phrase))
        firsts = {phrase[0] for phrase in self.phrases}
        self._inner = {p for p in self.alphabet if continuing[p] and p not in firsts}
        begun = (p[:size] for p in self.phrases for size in range(1, len(p) + 1))
        self._tails = {tail: number for number, tail in enumerate(dict.fromkeys([(), *begun]))}
        self._shortest = self._fewest() if self._overlap() else None

    def first(self) -> _State:
        """Before the first piece."""
        return _State((), (0,) * len(self.phrases))

    def is_inner(self, piece: int) -> bool:
        """Whether a piece of the phrases goes on with the word before it."""
        return piece in self._inner

    def after(self, state: _State, piece: int | None, *, inner: bool) -> _State:
        """The state after a piece; None for those that no phrase holds."""
        counts = state.counts if inner else self._with_tail(state)
        if piece is None:
            return _State((), counts)
        return _State(self._tail((*state.tail, piece)), counts)

    def needed(self, state: _State) -> int:
        """How many pieces meet all that is left; 0 where all is met.

        The fewest, but where very many phrases overlap: then those without overlap.
        """
        if self._shortest is None:
            return min((cost for cost, _ in self._ways(state)), default=0)
        return int(self._shortest[self._tails[state.tail], *state.counts])

    def wanted(self, state: _State) -> list[int]:
        """Pieces that bring it on: the next ones of phrases begun, the first ones of others."""
        return list(dict.fromkeys(piece for _, piece in self._ways(state)))

    def _overlap(self) -> bool:
        """Whether the end of a phrase begins one, or a phrase lies in another."""
        if any(asked > 1 and len(phrase) > 1 for phrase, asked in self._rows()):
            return True
        begun = self._tails.keys() - {()}
        ends = {p[start:] for p in self.phrases for start in range(1, len(p))}
        inside = {
            p[start:end]
            for p in self.phrases
            for start in range(len(p))
            for end in range(start + 1, len(p) + (start > 0))
        }
        return not ends.isdisjoint(begun) or not inside.isdisjoint(self.phrases)

    def _rows(self) -> Iterator[tuple[tuple[int, ...], int]]:
        return zip(self.phrases, self._asked, strict=True)

    def _fewest(self) -> NDArray[np.int64] | None:
        """The fewest pieces that each state needs; None where there are too many states."""
        if states(len(self._tails), self._asked) > _EXPLORED:
            return None
        inner = [False, True, *(piece in self._inner for piece in self.alphabet)]
        ends = [[tail[-len(p) :] == p for p in self.phrases] for tail in self._tails]
        return fewest(self._tails_after(), np.array(inner), np.array(ends), self._asked)

    def _tails_after(self) -> NDArray[np.int64]:
        """The number of the tail after each tail and symbol [T, 2 + A]."""
        columns = {piece: number for number, piece in enumerate(self.alphabet, 2)}
        found = np.zeros((len(self._tails), len(columns) + 2), dtype=np.int64)
        longer: dict[tuple[int, ...], list[tuple[int, ...]]] = {tail: [] for tail in self._tails}
        for tail in self._tails.keys() - {()}:
            longer[tail[:-1]].append(tail)
        for tail in sorted(self._tails, key=len):
            row = found[self._tails[tail]]
            row[:] = found[self._tails[self._tail(tail[1:])]]
            row[[columns[one[-1]] for one in longer[tail]]] = [
                self._tails[one] for one in longer[tail]
            ]
        return found

    def _ways(self, state: _State) -> list[tuple[int, int]]:
        """Ways to go on: pieces that they need at most, and the first of these."""
        kept = self._with_tail(state)
        if kept == self._asked:
            return []
        left = [(counts, self._missing(counts)) for counts in (kept, state.counts)]
        found = []
        for number, phrase in enumerate(self.phrases):
            for done in range(len(phrase)):
                if done and state.tail[-done:] != phrase[:done]:
                    continue
                counts, missing = left[phrase[done] in self._inner]
                if counts[number] < self._asked[number]:
                    found.append((missing - done, phrase[done]))
        return found

    def _missing(self, counts: tuple[int, ...]) -> int:
        rows = zip(self.phrases, self._asked, counts, strict=True)
        return sum((asked - count) * len(phrase) for phrase, asked, count in rows)

    def _with_tail(self, state: _State) -> tuple[int, ...]:
        """Counts together with the phrases that end here."""
        tail = state.tail
        rows = zip(self.phrases, self._asked, state.counts, strict=True)
        return tuple(
            min(count + (tail[-len(phrase) :] == phrase), asked) for phrase, asked, count in rows
        )

    def _tail(self, pieces: tuple[int, ...]) -> tuple[int, ...]:
        return next(
            pieces[start:] for start in range(len(pieces) + 1) if pieces[start:] in self._tails
        )


class Machines:
    """The machines of many texts; texts with the same phrases share one.

    Args:
        continuing: pieces that go on with a word [V].
    """

    def __init__(self, continuing: NDArray[np.bool_]) -> None:
        self._continuing = continuing
        self._made: dict[tuple[tuple[int, ...], ...], Machine] = {}

    def of(self, phrases: tuple[tuple[int, ...], ...]) -> Machine:
        """The machine of some phrases."""
        if phrases not in self._made:
            self._made[phrases] = Machine(phrases, self._continuing)
        return self._made[phrases]

    def is_continuing(self, piece: int) -> bool:
        """Whether a piece goes on with a word."""
        return bool(self._continuing[piece])


def held(
    phrases: Sequence[tuple[int, ...]], pieces: tuple[int, ...], continuing: NDArray[np.bool_]
) -> tuple[bool, ...]:
    """Which phrases some pieces hold, in the sense of :class:`Machine`; empty ones never."""
    firsts = {phrase[0] for phrase in phrases if phrase}
    ends = [p in firsts or not continuing[p] for p in pieces[1:]] + [True]
    left = {
        phrase: sum(
            pieces[at : at + len(phrase)] == phrase and ends[at + len(phrase) - 1]
            for at in range(len(pieces) - len(phrase) + 1)
        )
        for phrase in set(phrases)
        if phrase
    }
    found = []
    for phrase in phrases:
        found.append(left.get(phrase, 0) > 0)
        left[phrase] = left.get(phrase, 0) - 1
    return tuple(found)


@dataclass
class PhraseStates:
    """The machines of a batch as tables; states are numbered as they are met.

    Attributes:
        continuing: pieces that go on with a word [V].
        machines: of each text; texts may share one [B].
        first: the state of each text before its first piece [B].
        size: pieces that all phrases of each text need [B].
        needed: pieces that each state needs at most [N].
        wanted: pieces that bring each state on, -1 for none [N, A].
    """

    continuing: NDArray[np.bool_]
    machines: Sequence[Machine]
    first: NDArray[np.int64] = field(init=False)
    size: NDArray[np.int64] = field(init=False)
    needed: NDArray[np.int64] = field(init=False)
    wanted: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        distinct = {machine: number for number, machine in enumerate(dict.fromkeys(self.machines))}
        self._whose = np.array([distinct[machine] for machine in self.machines], dtype=np.int64)
        alphabets = [machine.alphabet for machine in distinct]
        self._symbols = np.tile(self.continuing.astype(np.int32), (len(alphabets), 1))
        for number, alphabet in enumerate(alphabets):
            self._symbols[number, list(alphabet)] = np.arange(len(alphabet)) + 2
        width = max(map(len, alphabets), default=0)
        self.needed = np.zeros(0, dtype=np.int64)
        self.wanted = np.zeros((0, max(width, 1)), dtype=np.int64)
        self._next = np.zeros((0, width + 2), dtype=np.int64)
        self._known: dict[tuple[Machine, _State], int] = {}
        self._owners: list[tuple[Machine, _State]] = []
        self.first = np.array([self._number(one, one.first()) for one in self.machines])
        self.size = self.needed[self.first]

    def after(
        self, texts: NDArray[np.int64], states: NDArray[np.int64], pieces: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The states after some pieces; all arrays of one shape [M]."""
        symbols = self._symbols[self._whose[texts], pieces]
        found = self._next[states, symbols]
        new = found < 0
        if new.any():
            for state, symbol in set(zip(states[new].tolist(), symbols[new].tolist(), strict=True)):
                self._learn(state, symbol)
            found = self._next[states, symbols]
        return found

    def _learn(self, state: int, symbol: int) -> None:
        machine, before = self._owners[state]
        if symbol in {_OTHER, _INNER}:
            after = machine.after(before, None, inner=symbol == _INNER)
        else:
            piece = machine.alphabet[symbol - 2]
            after = machine.after(before, piece, inner=machine.is_inner(piece))
        number = self._number(machine, after)  # which may make the tables longer
        self._next[state, symbol] = number

    def _number(self, machine: Machine, state: _State) -> int:
        number = self._known.setdefault((machine, state), len(self._owners))
        if number == len(self._owners):
            self._owners.append((machine, state))
            self._grow(number)
            self.needed[number] = machine.needed(state)
            wanted = machine.wanted(state)
            self.wanted[number, : len(wanted)] = wanted
        return number

    def _grow(self, number: int) -> None:
        if number < len(self.needed):
            return
        more = max(64, len(self.needed))
        self.needed = np.pad(self.needed, (0, more))
        self.wanted = np.pad(self.wanted, ((0, more), (0, 0)), constant_values=-1)
        self._next = np.pad(self._next, ((0, more), (0, 0)), constant_values=-1)
