from __future__ import annotations

from collections import Counter

import numpy as np

from lnp.experiments.search_space import Space
from lnp.experiments.tuning_draw import CHANGES, near

SPACE: Space = {
    "rate": (0.1, 0.3, 1.0, 3.0, 10.0),
    "width": (32, 64),
    "kind": ("row", "symmetric", "column"),
    "fixed": (7,),
    **{f"other{number}": (1, 2, 3) for number in range(8)},
}
BEST = {option: values[len(values) // 2] for option, values in SPACE.items()}


def draws(count: int = 4000) -> list[dict[str, object]]:
    generator = np.random.default_rng(0)
    return [near(BEST, SPACE, generator) for _ in range(count)]


def test_a_draw_differs_in_a_few_options_and_stays_in_the_space() -> None:
    changed = [{option for option, value in draw.items() if value != BEST[option]} for draw in draws()]
    assert all(changes for changes in changed)
    # Binomial(11, 2 / 11) and, where it is 0, 1 instead.
    free, share = 11, CHANGES / 11
    assert abs(np.mean([len(changes) for changes in changed]) - (CHANGES + (1 - share) ** free)) < 0.06
    for draw in draws(200):
        assert list(draw) == list(SPACE)
        assert all(value in SPACE[option] for option, value in draw.items())


def test_numbers_mostly_move_to_their_neighbours_and_may_go_anywhere() -> None:
    moves = Counter(draw["rate"] for draw in draws() if draw["rate"] != BEST["rate"])
    total = sum(moves.values())
    # Half of the moves are steps to 0.3 or 3, the other half goes to one of four.
    for value, share in {0.1: 1 / 8, 0.3: 3 / 8, 3.0: 3 / 8, 10.0: 1 / 8}.items():
        assert abs(moves[value] / total - share) < 0.05


def test_words_have_no_neighbours() -> None:
    moves = Counter(draw["kind"] for draw in draws() if draw["kind"] != BEST["kind"])
    assert set(moves) == {"row", "column"}
    assert abs(moves["row"] / sum(moves.values()) - 1 / 2) < 0.06


def test_the_generator_decides() -> None:
    assert draws(20) == draws(20)


def test_a_space_without_choice_leaves_the_best_as_it_is() -> None:
    assert near({"fixed": 7}, {"fixed": (7,)}, np.random.default_rng(0)) == {"fixed": 7}
