import numpy as np
import pytest

from gnomon.core.errors import UnknownNameError
from gnomon.methods.bmx._choices import choose, held_out
from gnomon.methods.bmx._experiments import Experiment, Grids

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
    found = held_out(grids, controls)
    assert [one.place for one in found] == list(range(len(grids.experiments)))
    for one in found:
        others = [i for i, name in enumerate(grids.experiments) if name.language_pair != one.group]
        assert one.setting == choose(grids.take(others), "largest-mean")
    spoilt = grids.correlations.copy()
    own = [i for i, name in enumerate(grids.experiments) if name.language_pair == "cs-en"]
    spoilt[own, 3, 0] = 1.0
    again = held_out(Grids(grids.experiments, P4, W3, spoilt), controls)
    assert [one.setting for one in again if one.group == "cs-en"] == [
        one.setting for one in found if one.group == "cs-en"
    ]


def test_the_control_has_the_same_weight_and_its_own_exponent_from_the_other_groups():
    grids, controls = made(), made("random", 1)
    for one in held_out(grids, controls):
        assert one.setting is not None
        others = [i for i, e in enumerate(controls.experiments) if e.language_pair != one.group]
        gains = controls.gains[others][:, :, one.setting.column]
        row = int(gains.mean(axis=0).argmax())
        assert one.control_p == P4[row]
        assert one.control == controls.correlations[one.place, row, one.setting.column]
        assert one.over_control == one.boosted - one.control


def test_data_sets_may_be_held_out_instead():
    assert {one.group for one in held_out(made(), made("random"), by="dataset")} == {"a", "b"}


def test_without_controls_or_groups_there_is_nothing_to_say():
    grids = made()
    assert all(np.isnan(one.over_control) for one in held_out(grids, grids.take([])))
    assert held_out(made(pairs=("cs-en",)), made("random")) == []
    with pytest.raises(UnknownNameError, match="language_pair"):
        held_out(grids, grids, by="metric")


def test_a_rule_that_finds_nothing_leaves_its_group_undefined():
    grids = made()
    flat = np.full(grids.correlations.shape, 0.1)
    flat[:, :, -1] = 0.5
    found = held_out(Grids(grids.experiments, P4, W3, flat), grids, rule="median-improving")
    assert {one.setting for one in found} == {None}
    assert all(np.isnan(one.gain) for one in found)
