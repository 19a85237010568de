"""What happened in every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["EpochRecord", "History"]


@dataclass(frozen=True)
class EpochRecord:
    """One epoch: its stage, named loss terms, and the score of the selection rule after it."""

    stage: str
    epoch: int
    terms: dict[str, float]
    score: float
    selected: bool

    @property
    def loss(self) -> float:
        """The sum of the terms."""
        return sum(self.terms.values())


@dataclass
class History:
    """All epochs in order."""

    records: list[EpochRecord] = field(default_factory=list)

    def __iter__(self) -> Iterator[EpochRecord]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def append(self, record: EpochRecord) -> None:
        """Adds an epoch."""
        self.records.append(record)

    def columns(self) -> dict[str, list[float | None]]:
        """Terms and score as columns of equal length, ``None`` where a stage has no such term."""
        names = list(dict.fromkeys(name for record in self.records for name in record.terms))
        table: dict[str, list[float | None]] = {n: [r.terms.get(n) for r in self.records] for n in names}
        table["score"] = [record.score if record.score == record.score else None for record in self.records]
        return table

    def to_json(self) -> list[dict[str, object]]:
        """JSON-ready rows; a score that is not a number, which JSON has no word for, is ``None``."""
        scores = self.columns()["score"]
        return [
            {"stage": r.stage, "epoch": r.epoch, "terms": r.terms, "score": score, "selected": r.selected}
            for r, score in zip(self.records, scores, strict=True)
        ]

    @classmethod
    def from_json(cls, rows: list[dict[str, object]]) -> History:
        """The reverse of :meth:`to_json`."""
        numbers = [row | {"score": float("nan")} if row["score"] is None else row for row in rows]
        return cls([EpochRecord(**row) for row in numbers])  # type: ignore[arg-type]
