"""Which tuned configuration is taken."""

from __future__ import annotations

from lnp.experiments.configs import nearest_config, shipped_entries
from lnp.experiments.spec import RunSpec


def entry(rate: float, hidden: int, **more: object) -> dict[str, object]:
    return {"method": "gcn", "dataset": "cora", "noise": "flip", "rate": rate, "options": {"hidden": hidden}, **more}


def test_nearest_rate_and_of_two_the_higher() -> None:
    entries = (entry(0.8, 80), entry(0.4, 40))
    found = [nearest_config(entries, "gcn", "cora", "flip", rate) for rate in (0.0, 0.2, 0.4, 0.59, 0.6, 0.9)]
    assert found == [{"hidden": hidden} for hidden in (40, 40, 40, 40, 80, 80)]
    assert nearest_config(entries, "gcn", "pubmed", "flip", 0.4) is None


def test_an_entry_of_the_backbone_comes_first() -> None:
    entries = (entry(0.4, 1), entry(0.8, 2, backbone="h2gcn"))
    assert nearest_config(entries, "gcn", "cora", "flip", 0.4, backbone="h2gcn") == {"hidden": 2}
    assert nearest_config(entries, "gcn", "cora", "flip", 0.8) == {"hidden": 1}
    assert nearest_config(entries[1:], "gcn", "cora", "flip", 0.8) is None


def test_every_shipped_entry_is_a_configuration() -> None:
    for one in shipped_entries():
        RunSpec(**{key: one[key] for key in ("method", "dataset", "noise", "rate", "options")})
        assert one["found"]
