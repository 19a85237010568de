"""The options that say how a graph is cut into batches."""

from __future__ import annotations

__all__ = ["batch_text"]


def batch_text(
    kind: str | None, size: int | None, fan_out: str | None, clusters: int | None, together: int | None
) -> str:
    """What the options of a command ask for, as a run records it.

    Args:
        kind: ``--batch``.
        size: ``--batch-size``.
        fan_out: ``--fan-out``.
        clusters: ``--clusters``.
        together: ``--clusters-per-batch``.
    """
    from lnp.engine.batching import Batching
    from lnp.errors import ConfigError

    given: dict[str, tuple[str, str, object]] = {
        "--batch-size": ("neighbours", "size", size),
        "--fan-out": ("neighbours", "fan_out", None if fan_out is None else fan_out.replace(",", "/").replace(" ", "")),
        "--clusters": ("clusters", "count", clusters),
        "--clusters-per-batch": ("clusters", "together", together),
    }
    kind = kind or "full"
    options = []
    for flag, (wanted, name, value) in given.items():
        if value is None:
            continue
        if kind != wanted:
            raise ConfigError(f"Expected `{flag}` with `--batch {wanted}`, but got it with `--batch {kind}`.")
        options.append(f"{name}={value}")
    return Batching.parse(f"{kind}:{','.join(options)}").text
