import numpy as np

from gnomon.bmx import Experiment, Grids, choose
from gnomon.bmx.choices import judge_held_out

P4, W3 = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.0, 0.5, 1.0])
PAIRS = ("cs-en", "de-en", "fi-en")


def made(explainer: str = "lime", seed: int = 0, pairs: tuple[str, ...] = PAIRS) -> Grids:
    names = tuple(
        Experiment(dataset, explainer, metric, pair)
        for dataset in ("a", "b")
        for pair in pairs
        for metric in ("bleu", "chrf")
    )
    table = np.random.default_rng(seed).uniform(0.3, 0.7, (len(names), len(P4), len(W3)))
    table[:, :, -1] = np.linspace(0.4, 0.6, len(names))[:, None]
    return Grids(names, P4, W3, table)


def test_the_held_out_group_has_no_part_in_its_setting():
    grids, controls = made(), made("random", 1)
    found = judge_held_out(grids, controls)
    assert [one.place for one in found] == list(range(len(grids.experiments)))
    for one in found:
        pair = one.experiment.language_pair
        others = [i for i, name in enumerate(grids.experiments) if name.language_pair != pair]
        assert one.setting == choose(grids.take(others), "largest-mean")
    spoilt = grids.correlations.copy()
    own = [i for i, name in enumerate(grids.experiments) if name.language_pair == "cs-en"]
    spoilt[own, 3, 0] = 1.0
    again = judge_held_out(Grids(grids.experiments, P4, W3, spoilt), controls)
    of_pair, before = (
        [one.setting for one in some if one.experiment.language_pair == "cs-en"]
        for some in (again, found)
    )
    assert of_pair == before


def test_the_control_has_the_same_weight_and_its_own_exponent_from_the_other_groups():
    grids, controls = made(), made("random", 1)
    for one in judge_held_out(grids, controls):
        assert one.setting is not None
        pair = one.experiment.language_pair
        others = [i for i, e in enumerate(controls.experiments) if e.language_pair != pair]
        gains = controls.gains[others][:, :, one.setting.column]
        row = int(gains.mean(axis=0).argmax())
        assert one.control == controls.correlations[one.place, row, one.setting.column]
        assert one.gain_over_control == one.boosted - one.control


def test_test_sets_of_one_pair_are_held_out_by_name():
    grids = made(pairs=("cs-en",))
    assert set(grids.groups) == {"a/cs-en", "b/cs-en"}
    for one in judge_held_out(grids, made("random", pairs=("cs-en",))):
        others = [i for i, e in enumerate(grids.experiments) if e.dataset != one.experiment.dataset]
        assert one.setting == choose(grids.take(others), "largest-mean")


def test_without_controls_or_groups_there_is_nothing_to_say():
    grids = made()
    assert all(np.isnan(one.gain_over_control) for one in judge_held_out(grids, grids.take([])))
    assert judge_held_out(grids.take([0, 1]), made("random")) == []


def test_one_group_that_is_defined_cannot_be_held_out():
    grids = made(pairs=("cs-en", "de-en"))
    table = grids.correlations.copy()
    pairs = [experiment.language_pair for experiment in grids.experiments]
    table[[i for i, pair in enumerate(pairs) if pair == "cs-en"]] = np.nan
    assert judge_held_out(Grids(grids.experiments, P4, W3, table), grids) == []
