"""What a user may say about the columns of a node table and an edge table."""

from __future__ import annotations

from dataclasses import dataclass, fields

from lnp.errors import ConfigError, UnknownNameError, check_range

__all__ = ["ImportOptions", "import_options"]


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Which column is what. Whatever is ``None`` is found by its usual names.

    Args:
        id: Node table: the ids.
        label: Node table: the given labels.
        trusted: Node table: whether the label was checked.
        source: Edge table: one end.
        target: Edge table: the other end.
        weight: Edge table: the weight.
        text: Node table: columns whose words become features.
        category: Node table: columns whose values become features, one each.
        show: Node table: columns that are kept for people to see and give no features.
        ignore: Node table: columns to leave out.
        words: The most words that a text column gives.
        nan_as_missing: Take "not a number" among numbers for a missing value.
        drop_unknown: Leave out edges to ids that the node table does not have.
        picture: Rows and columns, where the features of a node form a picture.
        name: What to call the graph.
    """

    id: str | None = None
    label: str | None = None
    trusted: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    words: int = 2000
    nan_as_missing: bool = False
    drop_unknown: bool = False
    picture: tuple[int, int] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_range("words", self.words, 1, 1e6)
        if self.picture is not None and (len(self.picture) != 2 or min(self.picture) < 1):
            raise ConfigError(f"Expected `picture` to be rows and columns, but got {self.picture}.")
        roles = {
            **{name: (getattr(self, name),) for name in ("id", "label", "trusted") if getattr(self, name) is not None},
            **{name: getattr(self, name) for name in ("text", "category", "show", "ignore")},
        }
        seen: dict[str, str] = {}
        for role, columns in roles.items():
            for column in columns:
                if column in seen:
                    raise ConfigError(
                        f"Expected column {column!r} to have one use, but got it as {seen[column]} and as {role}."
                    )
                seen[column] = role

    def require_no_columns(self, what: str, but: tuple[str, ...] = ()) -> None:
        """Raises where a column, ``but`` those, is named for a source that has no columns."""
        columns = ("id", "label", "trusted", "source", "target", "weight", "text", "category", "show", "ignore")
        for name in columns:
            if getattr(self, name) and name not in but:
                raise ConfigError(f"Expected `{name}` for a node table and an edge table, but got it for {what}.")


def import_options(values: dict[str, object]) -> ImportOptions:
    """Options from keyword arguments; a single column name may stand for a list of one."""
    known = {option.name for option in fields(ImportOptions)}
    for name, value in values.items():
        if name not in known:
            raise UnknownNameError("option of load_graph", name, known)
        if name in ("text", "category", "show", "ignore"):
            values = {**values, name: (value,) if isinstance(value, str) else tuple(value)}  # type: ignore[arg-type]
    return ImportOptions(**values)  # type: ignore[arg-type]
