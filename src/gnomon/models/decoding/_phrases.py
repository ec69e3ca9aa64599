"""How far a sequence of pieces has met some phrases: a state machine that grows as it is used."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Machine", "PhraseStates", "held"]

_OTHER, _INNER = 0, 1
#: states of a machine that are looked at to find what it needs where phrases overlap
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
        self._tails = {p[:size] for p in self.phrases for size in range(len(p) + 1)} | {()}
        self._shortest = self._explored() if self._overlap() else {}

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
        known = self._shortest.get(state)
        return min((cost for cost, _ in self._ways(state)), default=0) if known is None else known

    def wanted(self, state: _State) -> list[int]:
        """Pieces that bring it on: the next ones of phrases begun, the first ones of others."""
        return list(dict.fromkeys(piece for _, piece in self._ways(state)))

    def _overlap(self) -> bool:
        """Whether the end of a phrase begins one, or a phrase lies in another."""
        if any(asked > 1 and len(phrase) > 1 for phrase, asked in self._rows()):
            return True
        begun = self._tails - {()}
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

    def _explored(self) -> dict[_State, int]:
        """The fewest pieces that each state needs; {} where there are too many states."""
        before: dict[_State, list[_State]] = {self.first(): []}
        waiting = deque(before)
        while waiting:
            state = waiting.popleft()
            for after in self._all_after(state):
                if after not in before:
                    before[after] = []
                    waiting.append(after)
                before[after].append(state)
            if len(before) > _EXPLORED:
                return {}
        found = {state: 0 for state in before if self._with_tail(state) == self._asked}
        waiting.extend(found)
        while waiting:
            state = waiting.popleft()
            for one in before[state]:
                if one not in found:
                    found[one] = found[state] + 1
                    waiting.append(one)
        return found

    def _all_after(self, state: _State) -> Iterator[_State]:
        yield self.after(state, None, inner=False)
        yield self.after(state, None, inner=True)
        for piece in self.alphabet:
            yield self.after(state, piece, inner=self.is_inner(piece))

    def _ways(self, state: _State) -> list[tuple[int, int]]:
        """Ways to go on: pieces that they need at most, and the first of these."""
        kept = self._with_tail(state)
        if kept == self._asked:
            return []
        found = []
        for number, phrase in enumerate(self.phrases):
            for done in range(len(phrase)):
                if done and state.tail[-done:] != phrase[:done]:
                    continue
                counts = state.counts if phrase[done] in self._inner else kept
                if counts[number] < self._asked[number]:
                    found.append((self._missing(counts) - done, phrase[done]))
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
        first: the state of each text before its first piece [B].
        size: pieces that all phrases of each text need [B].
        needed: pieces that each state needs at most [N].
        wanted: pieces that bring each state on, -1 for none [N, A].
    """

    continuing: NDArray[np.bool_]
    phrases: Sequence[Sequence[tuple[int, ...]]]
    first: NDArray[np.int64] = field(init=False)
    size: NDArray[np.int64] = field(init=False)
    needed: NDArray[np.int64] = field(init=False)
    wanted: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self._machines = [Machine(phrases, self.continuing) for phrases in self.phrases]
        alphabets = [machine.alphabet for machine in self._machines]
        self._symbols = np.tile(self.continuing.astype(np.int32), (len(alphabets), 1))
        for text, alphabet in enumerate(alphabets):
            self._symbols[text, list(alphabet)] = np.arange(len(alphabet)) + 2
        width = max(map(len, alphabets), default=0)
        self.needed = np.zeros(0, dtype=np.int64)
        self.wanted = np.zeros((0, max(width, 1)), dtype=np.int64)
        self._next = np.zeros((0, width + 2), dtype=np.int64)
        self._known: dict[tuple[int, _State], int] = {}
        self._owners: list[tuple[int, _State]] = []
        self.first = np.array(
            [self._number(text, one.first()) for text, one in enumerate(self._machines)]
        )
        self.size = self.needed[self.first]

    def after(
        self, texts: NDArray[np.int64], states: NDArray[np.int64], pieces: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The states after some pieces; all arrays of one shape [M]."""
        symbols = self._symbols[texts, pieces]
        found = self._next[states, symbols]
        new = found < 0
        if new.any():
            for state, symbol in set(zip(states[new].tolist(), symbols[new].tolist(), strict=True)):
                self._learn(state, symbol)
            found = self._next[states, symbols]
        return found

    def _learn(self, state: int, symbol: int) -> None:
        text, before = self._owners[state]
        machine = self._machines[text]
        if symbol in {_OTHER, _INNER}:
            after = machine.after(before, None, inner=symbol == _INNER)
        else:
            piece = machine.alphabet[symbol - 2]
            after = machine.after(before, piece, inner=machine.is_inner(piece))
        number = self._number(text, after)  # which may make the tables longer
        self._next[state, symbol] = number

    def _number(self, text: int, state: _State) -> int:
        number = self._known.setdefault((text, state), len(self._owners))
        if number == len(self._owners):
            self._owners.append((text, state))
            self._grow(number)
            machine = self._machines[text]
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
