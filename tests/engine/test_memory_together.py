"""What many processes take together, and what is said and refused before they begin."""

from __future__ import annotations

import pytest
import torch

from lnp.engine.available import LIMIT
from lnp.engine.memory_estimate import COLUMNS, LABELS, PROGRAM
from lnp.engine.memory_together import Demand, estimate_share, preflight_together, verdict
from lnp.engine.sizes import Sizes
from lnp.errors import ConfigError
from lnp.methods.registry import make_config

N, E, D, C, H = 400_000, 3_800_000, 100, 5, 64
SIZES = Sizes(nodes=N, entries=E, features=D, feature_entries=None, classes=C)
CONFIG = make_config("lnp-v2", {"backbone": "sign", "hidden": H, "layers": 2})
GIB = 2**30


def test_a_share_by_hand() -> None:
    first, second = (estimate_share("lnp-v2", CONFIG, SIZES, rank, 2) for rank in (0, 1))
    rows = 195 * 1024 + 640  # of 390 blocks of 1,024 nodes every other one, and the rest
    assert first.pop("graph") == 8 * E + 4 * N + 4 * N * D
    assert first == {
        "program": PROGRAM,
        "labels": LABELS * N,
        "hops": 3 * rows * D * 4,
        "hidden layers": (3 + 2) * 3 * H * rows * 4,  # three networks and two gradients, each three hops wide
        "predictions": 34 * rows * C * 4 + COLUMNS * rows,
    }
    others = N - rows
    assert second["hops"] == 3 * others * D * 4
    assert "graph" not in second


def test_shares_shrink_with_the_number_of_processes_but_for_what_all_have() -> None:
    few, many = (estimate_share("lnp-v2", CONFIG, SIZES, 1, size) for size in (2, 200))
    assert many["hops"] < few["hops"] / 50
    assert many["hidden layers"] < few["hidden layers"] / 50
    assert many["labels"] == few["labels"]
    assert many["predictions"] == 4 * C * (2 * N + many["hops"] // (3 * D * 4))  # gathered in the end
    small = Sizes(nodes=1_000, entries=9_000, features=D, feature_entries=None, classes=C)
    assert estimate_share("lnp-v2", CONFIG, small, 0, 1)["contrastive"] == 16 * 1_000 * CONFIG.negatives  # type: ignore[attr-defined]


def test_methods_that_look_at_all_nodes_between_stages() -> None:
    config = make_config("forward", {"backbone": "sign", "hidden": H})
    parts = estimate_share("forward", config, SIZES, 1, 100)
    assert parts["hidden layers"] == 2 * N * H * 3 * 4


def demand(
    needed: float, *, held: float = 0.5, left: float = 10, allowed: float | None = None, machine: int = 1
) -> Demand:
    limits = (-1, round(allowed * GIB)) if allowed is not None else (round(left * GIB) if left >= 0 else -1, -1)
    return Demand(machine, round(needed * GIB), round(held * GIB), *limits)


@pytest.mark.parametrize(
    ("demands", "expected"),
    [
        ([demand(6), demand(5)], None),  # 11 of 11 GiB
        ([demand(6), demand(5.1)], (0, [0, 1], 11)),  # each fits, both do not
        ([demand(6), demand(5.1, machine=2)], None),
        ([demand(6), demand(3, machine=2), demand(8, machine=2)], None),
        ([demand(6), demand(4, machine=2), demand(8, machine=2)], (1, [1, 2], 11)),
        ([demand(6), demand(9, left=-1, machine=2)], None),  # nobody knows
        ([demand(2, allowed=3), demand(4, allowed=3)], (1, [1], 3)),
        ([demand(2, allowed=3), demand(3, allowed=3)], None),
        ([demand(6), demand(5.1, left=9)], (0, [0, 1], 10)),  # asked a little later
        ([demand(1, left=0, held=2)], None),  # it has what it needs
    ],
)
def test_who_does_not_fit(demands: list[Demand], expected: tuple[int, list[int], int] | None) -> None:
    found = verdict(demands)
    assert (found and (found[0], found[1], found[2] / GIB)) == expected


class Everybody:
    """Processes that all say the same as this one, but for their number."""

    device = torch.device("cpu")

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def gather(self, rows: torch.Tensor, counts: list[int]) -> list[torch.Tensor]:
        assert counts == [1] * self.size
        return [rows] * self.size


def test_what_a_process_may_take_is_what_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setenv(LIMIT, "3GiB")
    preflight_together(Everybody(0, 2), "lnp-v2", CONFIG, SIZES, graph="a graph", announce=said.append)  # type: ignore[arg-type]
    total = sum(estimate_share("lnp-v2", CONFIG, SIZES, 0, 2).values()) / GIB
    assert len(said) == 1
    assert said[0].startswith(
        f"Memory at the peak: about {total:.1f} GiB in process 0 and {total:.1f} GiB in each other"
    )
    assert said[0].endswith("; process 0 may take 3.0 GiB.")
    monkeypatch.setenv(LIMIT, "1.25GiB")
    for rank in (0, 1):  # all refuse, whoever it is that does not fit
        with pytest.raises(ConfigError, match=r"fits into 1\.2 GiB of memory, but process 0 of 2 .*a graph") as error:
            preflight_together(Everybody(rank, 2), "lnp-v2", CONFIG, SIZES, graph="a graph")  # type: ignore[arg-type]
        assert all(word in str(error.value) for word in ("more machines", "--set hidden=32", LIMIT, "400,000 nodes"))
    monkeypatch.setenv(LIMIT, "none")
    preflight_together(Everybody(0, 2), "lnp-v2", CONFIG, SIZES, graph="a graph")  # type: ignore[arg-type]


def test_what_is_freed_may_be_kept_where_there_is_three_times_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = sum(estimate_share("lnp-v2", CONFIG, SIZES, 0, 2).values())
    for limit, expected in ((3 * needed, needed), (3 * needed - 1, None)):
        monkeypatch.setenv(LIMIT, str(limit))
        assert preflight_together(Everybody(0, 2), "lnp-v2", CONFIG, SIZES, graph="a graph") == expected  # type: ignore[arg-type]


def test_processes_of_one_machine_share_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT, raising=False)
    monkeypatch.setattr("lnp.engine.memory_together.resident_bytes", lambda: GIB // 2)
    said: list[str] = []
    monkeypatch.setattr("lnp.engine.memory_together.memory_limit", lambda: round(2.5 * GIB))
    half = Sizes(nodes=N // 2, entries=E, features=D, feature_entries=None, classes=C)
    preflight_together(Everybody(0, 1), "lnp-v2", CONFIG, half, graph="a graph", announce=said.append)  # type: ignore[arg-type]
    assert "of 2.5 GiB that can be had on its machine." in said[0]
    # Two processes with as many nodes each hold 0.5 GiB each, and 2 GiB are left for both.
    with pytest.raises(ConfigError, match=r"fits into 3\.0 GiB of memory, but 2 processes on the machine of process 0"):
        preflight_together(Everybody(0, 2), "lnp-v2", CONFIG, SIZES, graph="a graph")  # type: ignore[arg-type]


def test_small_runs_are_quiet_and_never_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "1MB")
    said: list[str] = []
    small = Sizes(nodes=1_000, entries=9_000, features=D, feature_entries=None, classes=C)
    preflight_together(Everybody(0, 2), "lnp-v2", CONFIG, small, graph="a graph", announce=said.append)  # type: ignore[arg-type]
    assert said == []
