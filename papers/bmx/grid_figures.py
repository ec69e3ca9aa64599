"""Figures of BMX from the grids of correlations that its authors published.

Leiter, Nguyen and Eger: BMX: Boosting Machine Translation Metrics with Explainability, 2022. Prints
the numbers of a figure as a table, and draws it where a file is named:

    python papers/bmx/grid_figures.py FIGURE GRIDS [-o FILE]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.mlab import GaussianKDE

from gnomon import bmx, stats

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the choice of what draws

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

EXPLAINERS = ("erasure", "lime", "shap", "marginalisation")
_FREE = ("BERTSCORE_REF_FREE_XNLI", "XLMRSBERT", "XMoverScore_No_Mapping")
_BASED = ("BERTSCORE_REF_BASED_ROBERTA_DEFAULT", "SentenceBLEU_REF_BASED")
#: language pairs and metrics of the data that p and w were chosen on, and of what was held back
CHOSEN_ON: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "wmt17": ("cs-en de-en fi-en lv-en ru-en tr-en zh-en", (*_FREE, *_BASED)),
    "eval4_nlp_21_test": ("ro-en et-en ru-de de-zh", _FREE),
    "wmt_22_expl_train": ("ro-en et-en ru-en si-en ne-en en-zh en-de", _FREE),
}
HELD_BACK: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "wmt_22_test_sets": ("en-cs en-ja en-mr en-yo km-en ps-en", _FREE),
    "mqm21": ("en-de zh-en", _FREE[:2]),
}
#: experiments whose curves figures 3 and 11 show
CURVES = {
    "3": ("wmt_22_expl_train", "erasure", "XMoverScore_No_Mapping", "en-zh"),
    "11": ("eval4_nlp_21_test", "lime", "BERTSCORE_REF_FREE_XNLI", "et-en"),
}
#: what second iterations by erasure are called, by the metric of the first
SECOND = {
    "BERTSCORE_REF_FREE_XNLI": "Second_Iteration_Erasure",
    "XLMRSBERT": "Second_Iteration_Erasure_Lime",
}
SECOND_P, SECOND_W = -0.3, 0.6


class Figure(NamedTuple):
    """The rows that a figure shows, and how it is drawn."""

    rows: list[dict[str, Any]]
    draw: Callable[[Axes], object] | None = None


def experiments(
    grids: bmx.Grids,
    explainer: str,
    sets: Mapping[str, tuple[str, tuple[str, ...]]],
    sides: str = "both",
) -> bmx.Grids:
    """The experiments of one explainer on some data, in the order of the paper."""
    wanted = [
        bmx.Experiment(dataset, explainer, metric, pair, sides)
        for dataset, (pairs, metrics) in sets.items()
        for pair in pairs.split()
        for metric in metrics
    ]
    places = {experiment: i for i, experiment in enumerate(grids.experiments)}
    return grids.take([places[experiment] for experiment in wanted if experiment in places])


def at_medians(grids: bmx.Grids, explainer: str) -> tuple[bmx.Grids, NDArray[np.float64]]:
    """The experiments that p and w were chosen on, and their gains at the medians."""
    chosen_on = experiments(grids, explainer, CHOSEN_ON)
    return chosen_on, bmx.gains_at(chosen_on, bmx.choose(chosen_on, "median"))


def curve(figure: str, grids: bmx.Grids) -> Figure:
    """Figures 3 and 11: correlation over p, a line for each w, and the best setting below 1."""
    one = grids.take([grids.experiments.index(bmx.Experiment(*CURVES[figure]))])
    setting = bmx.choose(one, "largest-mean")
    row = {
        "experiment": str(one.experiments[0]),
        "alone": one.base[0],
        "p": setting.p,
        "w": setting.w,
        "gain": bmx.gains_at(one, setting)[0],
    }

    def draw(axes: Axes) -> None:
        for number, w in enumerate(one.w.tolist()):
            color = "black" if w == 1 else None
            axes.plot(one.p, one.correlations[0, :, number], label=f"w = {w:g}", color=color)
        _label(axes, "p", "Pearson's r")

    return Figure([row], draw)


def whole_grid(grids: bmx.Grids) -> Figure:
    """Figure 4: gains at every p and every w but 1, by explainer, random importances beside."""
    gains = {
        name: experiments(grids, name, CHOSEN_ON).gains[..., :-1].ravel()
        for name in (*EXPLAINERS, "random")
    }
    return _densities({name: some for name, some in gains.items() if len(some)}, "explainer")


def best(grids: bmx.Grids) -> Figure:
    """Figure 5: the best p and w of every experiment; medians of all, and of those that improve."""
    rows, values = [], {}
    for explainer in EXPLAINERS:
        some = experiments(grids, explainer, CHOSEN_ON)
        improving = bmx.improving(some)
        every = bmx.choose(some, "median")
        improved = bmx.choose(some.take(np.flatnonzero(improving)), "median")
        places = bmx.best_settings(some)
        values[explainer] = [some.p[places[:, 0]], some.w[places[:, 1]]]
        rows.append(
            {
                "explainer": explainer,
                "median w": every.median_w,
                "median p": every.median_p,
                "p": every.p,
                "w where improving": improved.median_w,
                "p where improving": improved.median_p,
                "not improving": int((~improving).sum()),
                "n": len(some.experiments),
            }
        )

    def draw(axes: Axes) -> None:
        labels = [f"{name}: {parameter}" for name in values for parameter in "pw"]
        axes.boxplot([one for both in values.values() for one in both], orientation="horizontal")
        axes.set_yticks(range(1, len(labels) + 1), labels)

    return Figure(rows, draw)


def counts(grids: bmx.Grids) -> Figure:
    """Figure 6: experiments that the medians improve, and those that they do not."""
    rows = []
    for explainer in EXPLAINERS:
        some, gains = at_medians(grids, explainer)
        counted = bmx.count_gains(gains)
        setting = bmx.choose(some, "median")
        rows.append({"explainer": explainer, "p": setting.p, "w": setting.w, **counted._asdict()})
    return Figure(rows, lambda axes: _bars(axes, rows, ("better", "between", "worse")))


def gains_of_explainers(grids: bmx.Grids) -> Figure:
    """Figure 7: gains at the medians, by explainer."""
    return _densities({name: at_medians(grids, name)[1] for name in EXPLAINERS}, "explainer")


def factors(grids: bmx.Grids) -> Figure:
    """Figure 8: what explainers, metrics, data and language pairs add to a gain."""
    every = [at_medians(grids, explainer) for explainer in EXPLAINERS]
    coefficients = bmx.ridge_coefficients(
        [experiment for some, _ in every for experiment in some.experiments],
        np.concatenate([gains for _, gains in every]),
        ("explainer", "metric", "dataset", "language_pair"),
    )
    rows = [one._asdict() for one in coefficients]

    def draw(axes: Axes) -> None:
        axes.barh([one.level for one in coefficients], [one.value for one in coefficients])

    return Figure(rows, draw)


def relation(grids: bmx.Grids) -> Figure:
    """Section 5: whether weak metrics gain more."""
    every = [at_medians(grids, explainer) for explainer in EXPLAINERS]
    gains = np.concatenate([gains for _, gains in every])
    base = np.concatenate([some.base for some, _ in every])
    value = stats.pearson(gains, base)
    return Figure(
        [{"Pearson(C1 - C0, C0)": value, "n": len(gains)}], lambda axes: axes.scatter(base, gains)
    )


def held_back(grids: bmx.Grids) -> Figure:
    """Figures 9 and 10: gains at the medians on data that they were not chosen on."""
    rows, gains_by_name = [], {}
    for explainer in EXPLAINERS:
        setting = bmx.choose(experiments(grids, explainer, CHOSEN_ON), "median")
        for dataset, data in HELD_BACK.items():
            some = experiments(grids, explainer, {dataset: data})
            if not some.experiments:
                continue
            gains = bmx.gains_at(some, setting)
            most = int(gains.argmax())
            rows.append(
                {
                    "dataset": dataset,
                    "explainer": explainer,
                    "p": setting.p,
                    "w": setting.w,
                    "improved": int((gains > 0).sum()),
                    "n": len(gains),
                    "mean gain": gains.mean(),
                    "largest gain": gains[most],
                    "language pair": some.experiments[most].language_pair,
                    "metric": some.experiments[most].metric,
                    "base": some.base[most],
                    "boosted": some.base[most] + gains[most],
                    **bmx.count_gains(gains)._asdict(),
                }
            )
            gains_by_name[f"{dataset} {explainer}"] = gains
    return Figure(rows, lambda axes: _draw_densities(axes, gains_by_name))


def held_back_counts(grids: bmx.Grids) -> Figure:
    """Figure 10: the same as bars."""
    rows = held_back(grids).rows
    named = [{**row, "explainer": f"{row['dataset']} {row['explainer']}"} for row in rows]
    return Figure(rows, lambda axes: _bars(axes, named, ("better", "between", "worse")))


def by_pair(grids: bmx.Grids) -> Figure:
    """Figure 12: gains at the medians of all explainers, by language pair."""
    gains: dict[str, list[float]] = {}
    for explainer in EXPLAINERS:
        some, values = at_medians(grids, explainer)
        for experiment, gain in zip(some.experiments, values.tolist(), strict=True):
            gains.setdefault(experiment.language_pair, []).append(gain)
    return _densities({pair: np.array(values) for pair, values in gains.items()}, "language pair")


def by_sides(grids: bmx.Grids) -> Figure:
    """Figure 13: gains at the medians where both sides were explained, and outputs alone."""
    gains = {}
    for sides in ("both", "candidate"):
        each = [experiments(grids, name, CHOSEN_ON, sides) for name in EXPLAINERS]
        gains[sides] = np.concatenate(
            [bmx.gains_at(some, bmx.choose(some, "median")) for some in each if some.experiments]
        )
    return _densities(gains, "sides")


def second_iteration(grids: bmx.Grids) -> Figure:
    """Appendix E: where second iterations by erasure start, and what they add."""
    rows = []
    for pair in CHOSEN_ON["eval4_nlp_21_test"][0].split():
        for metric, boosted in SECOND.items():
            first, second = (
                grids.take(
                    [
                        grids.experiments.index(
                            bmx.Experiment("eval4_nlp_21_test", "erasure", name, pair)
                        )
                    ]
                )
                for name in (metric, boosted)
            )
            setting = bmx.grid_setting(first, SECOND_P, SECOND_W)
            highest = bmx.choose(second, "largest-mean")
            rows.append(
                {
                    "language pair": pair,
                    "metric": metric,
                    "base": first.base[0],
                    "first": first.base[0] + bmx.gains_at(first, setting)[0],
                    "second at w = 1": second.base[0],
                    "second at the same p and w": second.base[0] + bmx.gains_at(second, setting)[0],
                    "second at its best": second.base[0] + bmx.gains_at(second, highest)[0],
                    "best p": highest.p,
                    "best w": highest.w,
                }
            )
    return Figure(rows)


FIGURES: Mapping[str, Callable[[bmx.Grids], Figure]] = {
    **{name: partial(curve, name) for name in CURVES},
    "4": whole_grid,
    "5": best,
    "6": counts,
    "7": gains_of_explainers,
    "8": factors,
    "relation": relation,
    "9": held_back,
    "10": held_back_counts,
    "12": by_pair,
    "13": by_sides,
    "E": second_iteration,
}


def _densities(gains: Mapping[str, NDArray[np.float64]], named: str) -> Figure:
    rows = [
        {named: name, "median gain": np.median(some), "mean gain": some.mean(), "n": len(some)}
        for name, some in gains.items()
    ]
    return Figure(rows, lambda axes: _draw_densities(axes, gains))


def _draw_densities(axes: Axes, gains: Mapping[str, NDArray[np.float64]]) -> None:
    low, high = np.percentile(np.concatenate(list(gains.values())), [1, 99])
    at = np.linspace(low, high, 121)
    for name, some in gains.items():
        if np.ptp(some):
            axes.plot(at, GaussianKDE(some, "silverman")(at), label=name)
    _label(axes, "gain in Pearson's r", "density")


def _bars(axes: Axes, rows: Sequence[Mapping[str, Any]], kinds: Iterable[str]) -> None:
    names, left = [row["explainer"] for row in rows], np.zeros(len(rows))
    for kind in kinds:
        values = np.array([row[kind] for row in rows])
        axes.barh(names, values, left=left, label=kind)
        left += values
    _label(axes, "experiments", "")


def _label(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(fontsize="small")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers of a figure, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("figure", choices=FIGURES, help="number of the figure; E for appendix E")
    parser.add_argument("grids", help="file of the published grids (.npz)")
    parser.add_argument("-o", "--output", metavar="FILE", help="file of the drawing")
    given = parser.parse_args(arguments)
    figure = FIGURES[given.figure](bmx.read_grids(given.grids))
    print(*figure.rows[0], sep="\t")
    for row in figure.rows:
        values = (f"{v:.6g}" if isinstance(v, float) else str(v) for v in row.values())
        print(*values, sep="\t")
    if given.output and figure.draw:
        drawn, axes = plt.subplots(layout="constrained")
        figure.draw(axes)
        drawn.savefig(given.output)
        plt.close(drawn)


if __name__ == "__main__":
    main()
