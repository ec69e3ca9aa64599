"""Costs of judges, before they are asked and after: requests, tokens, money."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gnomon.messages import message, phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.judges.client import ChatAnswer, ChatQuestion
    from gnomon.messages import Message

#: prices of a million tokens of questions, and of answers, in the user's currency
Prices: TypeAlias = tuple[float, float]
#: bytes of UTF-8 that are counted for a token, where no server has counted any
BYTES_PER_TOKEN = 4
_MILLION = 1_000_000
#: answers that servers counted the tokens of, from which figures are taken, at least
_ENOUGH = 5


class CostEstimate(NamedTuple):
    """Estimate of what requests will cost, as far as that is known before.

    Attributes:
        requests: how many.
        read: tokens of the questions.
        written: tokens of the answers; None where nothing tells.
        limited: ``written`` is the most that is allowed (``max_tokens``), not what is expected.
        measured: earlier answers whose tokens the server counted and the figures rest on; 0:
            questions count a token for each four bytes.
        money: by the prices that were given; None without these. Of questions alone where
            ``written`` is unknown.
    """

    requests: int
    read: int
    written: int | None
    limited: bool
    measured: int
    money: float | None

    def __str__(self) -> str:
        return phrase(self.message)

    @property
    def message(self) -> Message:
        """The estimate as a message."""
        return message(
            "note.judges.cost",
            **(self._asdict() | {"money": _money_shown(self.money)}),
            how="measured" if self.measured else "bytes",
            bytes_per_token=BYTES_PER_TOKEN,
            most="most" if self.limited else "about",
            alone=self.written is None,
        )


class TokensUsed(NamedTuple):
    """Tokens of answers, as the server counted.

    Attributes:
        answers: how many there are.
        counted: of how many the server counted the tokens.
        read: tokens of their questions.
        written: tokens of the answers.
        money: by the prices that were given; None without these.
    """

    answers: int
    counted: int
    read: int
    written: int
    money: float | None

    def __str__(self) -> str:
        """In words; empty where the server counted none."""
        return phrase(self.message) if self.counted else ""

    @property
    def message(self) -> Message:
        """The figures as a message."""
        return message(
            "note.judges.tokens",
            **(self._asdict() | {"money": _money_shown(self.money)}),
            others=self.counted < self.answers,
        )


def estimated_cost(
    questions: Sequence[ChatQuestion],
    *,
    later: int = 0,
    earlier: Mapping[ChatQuestion, ChatAnswer] | None = None,
    prices: Prices | None = None,
) -> CostEstimate:
    """Estimate the cost of questions.

    Args:
        questions: those that are not answered yet, each once.
        later: further ones that will follow from the answers; they count as the others do on
            average.
        earlier: questions of the same judge that were answered. Where the server counted the tokens
            of five or more, tokens are as many as these had for each byte, and for each answer.
        prices: of a million tokens of questions, and of answers.
    """
    counted = [
        (question, answer)
        for question, answer in (earlier or {}).items()
        if answer.read is not None and answer.written is not None
    ]
    requests, number = len(questions) + later, len(questions)
    each, written, limited = 1 / BYTES_PER_TOKEN, None, False
    if len(counted) >= _ENOUGH:
        each = sum(answer.read or 0 for _, answer in counted) / max(
            1, _bytes(q for q, _ in counted)
        )
        written = round(sum(answer.written or 0 for _, answer in counted) / len(counted) * requests)
    elif number and all(question.max_tokens is not None for question in questions):
        most = sum(question.max_tokens or 0 for question in questions)
        written, limited = round(most * requests / number), True
    read = round(_bytes(questions) * each * (requests / number if number else 0))
    return CostEstimate(
        requests=requests,
        read=read,
        written=written,
        limited=limited,
        measured=len(counted) if len(counted) >= _ENOUGH else 0,
        money=_money(read, written or 0, prices),
    )


def tokens_used(answers: Iterable[ChatAnswer], prices: Prices | None = None) -> TokensUsed:
    """Count the tokens of answers, by the server; earlier ones that are read from disk, too."""
    every = [answer for answer in answers if not answer.rejected]
    counted = [answer for answer in every if answer.read is not None or answer.written is not None]
    read = sum(answer.read or 0 for answer in counted)
    written = sum(answer.written or 0 for answer in counted)
    return TokensUsed(len(every), len(counted), read, written, _money(read, written, prices))


def _money_shown(money: float | None) -> str | None:
    return None if money is None else shown_money(money)


def shown_money(amount: float) -> str:
    """An amount without its currency, with two digits, or as many as a small one takes.

    >>> shown_money(12.345), shown_money(0.0012), shown_money(0.00001), shown_money(0)
    ('12.35', '0.0012', '0.00001', '0.00')
    """
    small = 0 < amount < 0.1
    return f"{Decimal(f'{amount:.2g}'):f}" if small else f"{amount:,.2f}"


def _bytes(questions: Iterable[ChatQuestion]) -> int:
    return sum(
        len(text.encode("utf-8", "replace")) for question in questions for text in question.texts
    )


def _money(read: int, written: int, prices: Prices | None) -> float | None:
    if prices is None:
        return None
    return (read * prices[0] + written * prices[1]) / _MILLION
