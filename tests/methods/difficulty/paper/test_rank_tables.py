"""Table 2: ranks and their differences."""

from __future__ import annotations

from tests.methods.difficulty.sets import contest, rows

from gnomon import difficulty

WEIGHTED = "difficulty(rouge(type='rouge1'))"


def test_rank_differences_are_signed_and_summed_without_their_signs() -> None:
    found = difficulty.score(contest(), "rouge1", top="5", other_metrics=[])
    for subset in ("all", "top 5"):
        own = rows(found, "ranks", subset=subset)
        assert [row["human_rank"] for row in own] == list(range(1, len(own) + 1))
        for row in own:
            assert row["difference"] == row["human_rank"] - row["rank"]
            assert row["base_difference"] == row["human_rank"] - row["base_rank"]
        (total,) = rows(
            found, "rank_sums", subset=subset, metric="difficulty(rouge(type='rouge1'))"
        )
        assert total["sum"] == sum(abs(row["difference"]) for row in own)
        assert total["in_place"] == sum(row["difference"] == 0 for row in own)
