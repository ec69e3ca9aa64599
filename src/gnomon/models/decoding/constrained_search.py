"""Targets that hold words which were asked for (Post and Vilar, 2018)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import LengthMismatchError
from gnomon.messages import message
from gnomon.models.decoding.beam_search import make_plan
from gnomon.models.decoding.requests import Hypothesis, answers, decode_unique, make_requests
from gnomon.models.decoding.search import search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.models.decoding.requests import Continuations, FinishedTarget, Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = [
    "Allocation",
    "Machine",
    "PhraseStates",
    "constrained",
    "fewest",
    "phrases_met",
    "states",
]


# The fewest pieces that some phrases still need, of all states of their machine at once.


def states(tails: int, asked: tuple[int, ...]) -> int:
    """Number of states: tails times counts of the phrases.

    >>> states(3, (1, 2))
    18
    """
    total = tails
    for count in asked:
        total *= count + 1
    return total


def fewest(
    after: NDArray[np.int64],
    inner: NDArray[np.bool_],
    ends: NDArray[np.bool_],
    asked: tuple[int, ...],
) -> NDArray[np.int64]:
    """The fewest pieces by which each state comes to hold all phrases, int64 [T, *(asked + 1)].

    Of the tail after a tail and a piece [T, A], pieces that continue a word [A], phrases that
    are at the end of a tail [T, P], and how often each phrase is asked for [P].
    """
    shape = tuple(count + 1 for count in asked)
    counts = np.indices(shape).reshape(len(shape), -1).T  # [C, P]
    added = np.minimum(counts + ends[:, None], asked)  # [T, C, P]
    ended = np.ravel_multi_index(tuple(np.moveaxis(added, 2, 0)), shape)  # [T, C]
    size = len(counts)
    kept = np.where(inner, np.arange(size)[:, None], ended[:, :, None])  # [T, C, A]
    follows = (after[:, None] * size + kept).reshape(-1, after.shape[1])
    distance = np.where(ended == size - 1, 0, len(follows)).reshape(-1)
    while True:
        nearer = np.minimum(distance, distance[follows].min(axis=1) + 1)
        if np.array_equal(nearer, distance):
            return distance.reshape(-1, *shape)
        distance = nearer


# How far a sequence of pieces has met some phrases: a state machine that grows as it is used.


_OTHER, _INNER = 0, 1
#: most states of a machine where phrases overlap: more take longer than the search itself
_EXPLORED = 4096


@dataclass(frozen=True)
class _State:
    """The state of a hypothesis: the phrase that it is in, and how often it has each."""

    tail: tuple[int, ...]
    counts: tuple[int, ...]


class Machine:
    """The phrases of one text.

    A phrase is met where its pieces stand side by side and the word that ends there ends. Phrases
    may begin alike, overlap or hold one another; one that is asked for twice must begin at two
    places. Pieces that continue a word are marked in ``continuing`` [V].
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
        """True if a piece of the phrases continues the word before it."""
        return piece in self._inner

    def after(self, state: _State, piece: int | None, *, inner: bool) -> _State:
        """The state after a piece; None for those that no phrase holds."""
        counts = state.counts if inner else self._add_tail(state)
        if piece is None:
            return _State((), counts)
        return _State(self._tail((*state.tail, piece)), counts)

    def needed(self, state: _State) -> int:
        """Number of pieces that meet all that is left; 0 where all is met.

        The fewest, but where very many phrases overlap: then those without overlap.
        """
        if self._shortest is None:
            return min((cost for cost, _ in self._ways(state)), default=0)
        return int(self._shortest[self._tails[state.tail], *state.counts])

    def wanted(self, state: _State) -> list[int]:
        """Pieces that bring it on: the next ones of phrases begun, the first ones of others."""
        return list(dict.fromkeys(piece for _, piece in self._ways(state)))

    def _overlap(self) -> bool:
        """True if the end of a phrase begins one, or a phrase lies in another."""
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
        table = np.zeros((len(self._tails), len(columns) + 2), dtype=np.int64)
        longer: dict[tuple[int, ...], list[tuple[int, ...]]] = {tail: [] for tail in self._tails}
        for tail in self._tails.keys() - {()}:
            longer[tail[:-1]].append(tail)
        for tail in sorted(self._tails, key=len):
            row = table[self._tails[tail]]
            row[:] = table[self._tails[self._tail(tail[1:])]]
            row[[columns[next_tail[-1]] for next_tail in longer[tail]]] = [
                self._tails[next_tail] for next_tail in longer[tail]
            ]
        return table

    def _ways(self, state: _State) -> list[tuple[int, int]]:
        """Ways to continue: pieces that they need at most, and the first of these."""
        kept = self._add_tail(state)
        if kept == self._asked:
            return []
        left = [(counts, self._missing(counts)) for counts in (kept, state.counts)]
        ways = []
        for number, phrase in enumerate(self.phrases):
            for done in range(len(phrase)):
                if done and state.tail[-done:] != phrase[:done]:
                    continue
                counts, missing = left[phrase[done] in self._inner]
                if counts[number] < self._asked[number]:
                    ways.append((missing - done, phrase[done]))
        return ways

    def _missing(self, counts: tuple[int, ...]) -> int:
        rows = zip(self.phrases, self._asked, counts, strict=True)
        return sum((asked - count) * len(phrase) for phrase, asked, count in rows)

    def _add_tail(self, state: _State) -> tuple[int, ...]:
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
    """The machines of many texts; texts with the same phrases share one."""

    def __init__(self, continuing: NDArray[np.bool_]) -> None:
        self._continuing = continuing
        self._made: dict[tuple[tuple[int, ...], ...], Machine] = {}

    def build(self, phrases: tuple[tuple[int, ...], ...]) -> Machine:
        """The machine of some phrases."""
        if phrases not in self._made:
            self._made[phrases] = Machine(phrases, self._continuing)
        return self._made[phrases]


def phrases_met(
    phrases: Sequence[tuple[int, ...]], pieces: tuple[int, ...], continuing: NDArray[np.bool_]
) -> tuple[bool, ...]:
    """Which phrases some pieces contain, as :class:`Machine` counts them; empty ones never."""
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
    met = []
    for phrase in phrases:
        met.append(left.get(phrase, 0) > 0)
        left[phrase] = left.get(phrase, 0) - 1
    return tuple(met)


@dataclass
class PhraseStates:
    """The machines of a batch as tables; states are numbered as they are met."""

    continuing: NDArray[np.bool_]  # pieces that continue a word [V]
    machines: Sequence[Machine]  # of each text; texts may share one [B]
    first: NDArray[np.int64] = field(init=False)  # states before the first piece [B]
    size: NDArray[np.int64] = field(init=False)  # pieces that all phrases of a text need [B]
    needed: NDArray[np.int64] = field(init=False)  # pieces that each state needs at most [N]
    wanted: NDArray[np.int64] = field(init=False)  # what brings a state on, else -1 [N, A]

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
        self.first = np.array([self._number(machine, machine.first()) for machine in self.machines])
        self.size = self.needed[self.first]

    def after(
        self, texts: NDArray[np.int64], states: NDArray[np.int64], pieces: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The states after some pieces; all arrays of one shape [M]."""
        symbols = self._symbols[self._whose[texts], pieces]
        following = self._next[states, symbols]
        new = following < 0
        if new.any():
            for state, symbol in set(zip(states[new].tolist(), symbols[new].tolist(), strict=True)):
                self._learn(state, symbol)
            following = self._next[states, symbols]
        return following

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


# Which constrained hypotheses are continued: dynamic beam allocation (Post and Vilar, 2018).


class Allocation:
    """The constraints of the texts of a batch.

    A hypothesis is in bank b where b pieces of its constraints are met. The beam is shared out
    evenly among the banks from 0 to the number C of all pieces, what is left over going to the
    highest ones; each bank takes its best hypotheses, and places that are not taken go to the best
    of those that are left, whatever their bank. What could no longer meet its constraints within
    the limit, and what ends before they are met, is left out.
    """

    def __init__(self, model: Seq2Seq, machines: Machines, requests: Sequence[Request]) -> None:
        text_machines = [machines.build(request.phrases) for request in requests]
        self._states = PhraseStates(model.continuing, text_machines)
        self._end = model.end

    @property
    def first(self) -> NDArray[np.int64]:
        """The state of each text before its first piece [B]."""
        return self._states.first

    def wanted(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pieces that would bring hypotheses on [..., A]; ``</s>`` where all is met; else -1."""
        pieces = self._states.wanted[states]
        met = self._states.needed[states] == 0
        pieces[..., 0] = np.where(met, self._end, pieces[..., 0])
        return pieces

    def ordered(
        self,
        texts: NDArray[np.int64],
        options: Continuations,
        left: NDArray[np.int64],
        beam: int,
    ) -> Continuations:
        """Options in the order in which the beam takes them; they may repeat.

        Of the text of each slot [S], and how many pieces may follow, this one included [S].
        """
        ends = options.piece == self._end
        text = np.broadcast_to(texts[:, None], options.piece.shape)
        possible = np.isfinite(options.total) & ~_repeated(options)
        state = options.state.copy()
        on = possible & ~ends
        state[on] = self._states.after(text[on], state[on], options.piece[on])
        needed = self._states.needed[state]
        possible &= needed <= np.where(ends, 0, left[:, None] - 1)
        total = np.where(possible, options.total, -np.inf)
        size = self._states.size[text]
        bank = np.where(possible, size - needed, -1)
        order = _shared_out(bank, total, size, beam)
        return options._replace(total=total, state=state).take(order)


def _repeated(options: Continuations) -> NDArray[np.bool_]:
    """Options that occur before in their row."""
    key = options.parent * (int(options.piece.max(initial=0)) + 2) + options.piece
    order = np.argsort(key, axis=1, kind="stable")
    ordered = np.take_along_axis(key, order, axis=1)
    again = np.zeros(key.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return again


def _shared_out(
    bank: NDArray[np.int64], total: NDArray[np.float64], size: NDArray[np.int64], beam: int
) -> NDArray[np.int64]:
    """Those within the share of their bank first, each part by log-probability."""
    by_bank = np.lexsort((-total, bank), axis=1)
    ordered = np.take_along_axis(bank, by_bank, axis=1)
    places = np.broadcast_to(np.arange(bank.shape[1]), bank.shape)
    starts = np.ones_like(ordered, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    rank = np.empty_like(places)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    np.put_along_axis(rank, by_bank, places - first, axis=1)
    banks = size + 1
    share = beam // banks + (bank >= banks - beam % banks)
    beyond = (rank >= share) | (bank < 0)
    return np.lexsort((-total, beyond), axis=1)


# Targets that hold words which were asked for.


def constrained(
    model: Seq2Seq,
    texts: Sequence[str],
    constraints: Sequence[Sequence[str]],
    *,
    beam: int = 20,
    n: int | None = None,
    length_penalty: float = 1.0,
    limit: int | None = None,
) -> list[list[Hypothesis]]:
    """The most probable targets that hold some phrases, by dynamic beam allocation.

    A phrase is held where its pieces, as the tokeniser cuts the phrase standing alone, follow one
    another and the word that ends there ends: "cat" is not held by "cats". Phrases may overlap,
    begin alike or hold one another; one that is given twice must begin at two places.

    In every step each hypothesis is also continued with the pieces that its constraints want next
    and with the most probable one, and the beam is shared out among banks of hypotheses that have
    met equally many pieces of their constraints. A phrase that breaks off falls back to the longest
    end of it that begins a phrase. A hypothesis may end only when all is met, and none is followed
    that could no longer meet all within the limit, so that every phrase that can be met is met
    whatever the beam. Ranking and stopping are those of :func:`beam`, and without constraints the
    result is the same.

    Args:
        model: what decodes.
        texts: the sources; each distinct request is decoded once.
        constraints: of each text its phrases. What cannot be met is left out before the search,
            reported as not met, and noted in ``model.notices``: a phrase without pieces or with a
            piece that the model never produces (unknown words) or that is a sentence code, and a
            phrase for which, with those before it, the limit leaves no room.
        beam: hypotheses that are followed.
        n: targets wanted of each text, at most ``beam``; by default all of them.
        length_penalty: as for :func:`beam`.
        limit: as for :func:`beam`.

    Returns:
        Of each text at most ``n`` hypotheses, the best first, with ``met``, parallel to the
        constraints of the text.

    Raises:
        LengthMismatchError: there are not as many lists of constraints as texts.
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Post and Vilar (2018), Fast Lexically Constrained Decoding with Dynamic Beam Allocation
    for Neural Machine Translation, NAACL, with an automaton over the phrases (Aho and Corasick,
    1975) in the place of their array of constraints.
    """
    if len(constraints) != len(texts):
        raise LengthMismatchError(
            f"constraints are given for {len(constraints)} texts, and there are {len(texts)}; give"
            " one list of phrases per text, [] where there is none"
        )
    plan = make_plan(beam, n, length_penalty)
    plain = make_requests(model, texts, limit=limit)
    phrases = [[tuple(model.phrase_pieces(phrase)) for phrase in row] for row in constraints]
    machines = Machines(model.continuing)
    requests = [
        request and replace(request, phrases=_reachable(model, machines, row, request))
        for request, row in zip(plain, phrases, strict=True)
    ]
    _say_unreachable(model, constraints, phrases, requests)

    def decode(batch: list[Request]) -> list[Sequence[FinishedTarget]]:
        return [*search(model, batch, plan, Allocation(model, machines, batch))]

    targets = decode_unique(
        requests, lambda distinct: answers(model, distinct, decode, rows=plan.beam)
    )
    return [
        [
            Hypothesis(
                model.text(target.pieces),
                *target,
                met=phrases_met(row, target.pieces, model.continuing),
            )
            for target in text_targets
        ]
        for text_targets, row in zip(targets, phrases, strict=True)
    ]


def _reachable(
    model: Seq2Seq, machines: Machines, phrases: Sequence[tuple[int, ...]], request: Request
) -> tuple[tuple[int, ...], ...]:
    """The phrases that can be met together, those before others first."""
    barred = {model.end, *model.codes.values()}
    producible = tuple(
        phrase
        for phrase in phrases
        if phrase and barred.isdisjoint(phrase) and not model.silent[list(phrase)].any()
    )
    if _fit(machines, producible, request):
        return producible
    kept: tuple[tuple[int, ...], ...] = ()
    for phrase in producible:
        kept = (*kept, phrase) if _fit(machines, (*kept, phrase), request) else kept
    return kept


def _fit(machines: Machines, phrases: tuple[tuple[int, ...], ...], request: Request) -> bool:
    """True if there is space for all phrases within the limit."""
    if sum(map(len, phrases)) <= request.limit:
        return True
    machine = machines.build(phrases)
    return machine.needed(machine.first()) <= request.limit


def _say_unreachable(
    model: Seq2Seq,
    constraints: Sequence[Sequence[str]],
    phrases: Sequence[Sequence[tuple[int, ...]]],
    requests: Sequence[Request | None],
) -> None:
    lost, total = [], 0
    for words, pieces, request in zip(constraints, phrases, requests, strict=True):
        if request is None:
            continue
        total += len(words)
        kept = list(request.phrases)
        for phrase, phrase_pieces in zip(words, pieces, strict=True):
            if phrase_pieces in kept:
                kept.remove(phrase_pieces)
            else:
                lost.append(phrase)
    if lost:
        model.say(
            message(
                "note.models.unmet",
                unmet=len(lost),
                constraints=total,
                phrases=[{"phrase": phrase} for phrase in dict.fromkeys(lost)],
            )
        )
