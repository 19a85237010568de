from __future__ import annotations

import torch

from lnp.engine.lockstep.state import StackedState
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


def methods(task):
    batch = full_batch(task.graph, task.observed, task.split.train)
    config = make_config("lnp-v2", {"hidden": 4, "odds_power": 0.0})
    made = [create_method("lnp-v2", config, batch, Seeds(seed).generator("initialisation")) for seed in range(3)]
    for one in made:
        one.register_buffer("epoch", torch.zeros((), dtype=torch.int64))
    return made


def test_methods_and_stack_are_the_same_memory(toy_task) -> None:
    seeds = methods(toy_task)
    before = [{name: value.clone() for name, value in one.state_dict().items()} for one in seeds]
    state = StackedState(seeds)
    assert state.common(0).keys() == {"epoch"}
    assert state.tensors.keys() | {"epoch"} == before[0].keys()
    for seed in range(3):
        for name, stack in state.tensors.items():
            assert torch.equal(stack[seed], before[seed][name])
    with torch.no_grad():
        state.tensors["odds"].add_(1)
        seeds[1].load_state_dict({name: torch.ones_like(value) for name, value in before[1].items()})
    assert seeds[2].odds == 2
    for stack in state.tensors.values():
        assert (stack[1] == 1).all()
    state.release()
    with torch.no_grad():
        state.tensors["odds"].zero_()
    assert [one.odds.item() for one in seeds] == [2, 1, 2]


def test_select_follows_names(toy_task) -> None:
    seeds = methods(toy_task)
    state = StackedState(seeds)
    chosen = state.select(seeds[0], seeds[0].prior.parameters())
    names = [name for name, _ in seeds[0].named_parameters() if name.startswith("prior.")]
    assert len(chosen) == len(names) == 4
    assert all(stack is state.tensors[name] and stack.requires_grad for stack, name in zip(chosen, names, strict=True))
