"""What the templates show: plain words, numbers and figures, made from a review. Nothing here knows HTML pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from lnp.graph.labels import UNKNOWN
from lnp.web.board import AGREED, CHANGED, SKIPPED
from lnp.web.class_keys import ACTION_KEYS, class_keys
from lnp.web.door import Visitor
from lnp.web.figures import before_and_after, share_bar
from lnp.web.moved import Move
from lnp.web.neighbourhood import COLOURS
from lnp.web.review import Review
from lnp.web.suspects import PAGE, Filter

__all__ = ["BUTTONS", "common", "label_view", "list_view", "moved_view", "node_link", "status_view", "training_view"]

BUTTONS = 24
"""Up to so many classes have a button and a key each; more are chosen from a list."""

STATES = {AGREED: "agreed", CHANGED: "changed", SKIPPED: "skipped"}


def common(review: Review, visitor: Visitor) -> dict[str, Any]:
    """What every page shows."""
    progress, names = review.progress(), review.own.class_names
    keys = class_keys(names) if len(names) <= BUTTONS else [""] * len(names)
    return {
        "graph": review.own.graph.name,
        "reviewer": visitor.reviewer,
        "csrf": visitor.csrf,
        "keys": ACTION_KEYS,
        "classes": [{**label_view(review, k), "key": key} for k, key in enumerate(keys)],
        "progress": {
            "done": progress.done,
            "agreed": progress.agreed,
            "changed": progress.changed,
            "skipped": progress.skipped,
            "to_do": progress.to_do,
            "total": max(1, progress.total),
        },
        "version": review.suspects.version,
        "strangers": review.board.strangers,
        "notices": [],
        "node": None,
    }


def label_view(review: Review, label: int) -> dict[str, Any]:
    """A class: its number, name, and the number of its colour."""
    return {"number": label, "name": review.own.class_names[label], "colour": label % COLOURS}


def node_link(node: int, chosen: Filter, **more: object) -> str:
    """The address of a node's page, which remembers the list that it belongs to."""
    query = urlencode(chosen.fields() | {name: str(value) for name, value in more.items()})
    return f"/node/{node}?{query}" if query else f"/node/{node}"


def list_view(review: Review, visitor: Visitor, chosen: Filter, page: int) -> dict[str, Any]:
    """A page of the list."""
    suspects, table = review.suspects, review.suspects.table
    shown = common(review, visitor)
    rows = suspects.rows(chosen, review.board.states)
    pages = max(1, -(-rows.size // PAGE))
    page = min(max(1, page), pages)
    busy = review.busy(visitor.reviewer)
    fields = chosen.fields()

    def turn(to: int) -> str:
        return "/?" + urlencode(fields | {"page": str(to)})

    entries = []
    for row in rows[(page - 1) * PAGE : page * PAGE].tolist():
        node, quality = int(table.nodes[row]), float(table.quality[row])
        before, said = int(review.own.labels.given[node]), review.board.standing(node)
        entries.append(
            {
                "link": node_link(node, chosen),
                "id": review.own.node_ids[node],
                "picture": review.content.picture(node),
                "snippet": review.content.snippet(node),
                "label": label_view(review, int(table.given[row])),
                "was": None if before in (UNKNOWN, int(table.given[row])) else review.own.class_names[before],
                "proposed": label_view(review, int(table.proposed[row])),
                "same": bool(table.proposed[row] == table.given[row]),
                "quality": f"{quality:.2f}",
                "bar": share_bar(quality, "good" if quality >= 0.5 else "bad"),
                "confidence": f"{100 * float(table.confidence[row]):.0f} %",
                "state": STATES.get(int(review.board.states[node]), "checked before" if table.trusted[row] else ""),
                "verdict": None if said is None else said.label,
                "by": "" if said is None else said.reviewer,
                "busy": busy.get(node, []),
            }
        )
    return shown | {
        "rows": entries,
        "found": int(rows.size),
        "first": (page - 1) * PAGE + 1,
        "page": page,
        "pages": pages,
        "earlier": turn(page - 1) if page > 1 else None,
        "later": turn(page + 1) if page < pages else None,
        "filter": vars(chosen),
        "fields": fields,
        "filtered": bool(fields),
        "start": entries[0]["link"] if entries else None,
    }


def status_view(review: Review, visitor: Visitor, node: int | None, seen: int) -> dict[str, Any]:
    """What an open page asks for every few seconds.

    Args:
        review: The review.
        visitor: Who asks.
        node: The node that the page shows, if it shows one.
        seen: The number of the last verdict on it that the page knows.
    """
    progress, status = review.progress(), review.retraining.status
    said = None if node is None else review.board.standing(node)
    news = ""
    if said is not None and said.number > seen and said.reviewer != visitor.reviewer:
        what = "skipped this node" if said.label is None else f"said “{said.label}” for this node"
        news = f"{said.reviewer} has just {what}. You can still give your own verdict: both are kept, the last counts."
    return {
        "done": progress.done,
        "agreed": progress.agreed,
        "changed": progress.changed,
        "skipped": progress.skipped,
        "to_do": progress.to_do,
        "total": max(1, progress.total),
        "looking": [] if node is None else review.busy(visitor.reviewer).get(node, []),
        "news": news,
        "version": review.suspects.version,
        "training": {name: getattr(status, name) for name in ("state", "stage", "epoch", "epochs", "message")},
    }


def training_view(review: Review, visitor: Visitor) -> dict[str, Any]:
    """The page about training again."""
    shown, status = common(review, visitor), review.retraining.status
    return shown | {
        "training": status,
        "model": str(review.suspects.model),
        "labels": int(review.board.decided().size),
        "new": max(0, int(review.board.decided().size) - review.trained_with),
        "moved": review.movement is not None,
    }


def moved_view(review: Review, visitor: Visitor) -> dict[str, Any]:
    """The page that shows how scores moved."""
    movement, shown = review.movement, common(review, visitor)
    if movement is None:
        return shown | {"movement": None}

    def entries(moves: list[Move]) -> list[dict[str, Any]]:
        return [
            {
                "link": node_link(move.node, Filter()),
                "id": review.own.node_ids[move.node],
                "picture": review.content.picture(move.node),
                "snippet": review.content.snippet(move.node),
                "label": label_view(review, move.given),
                "before": f"{move.before:.2f}",
                "after": f"{move.after:.2f}",
                "change": f"{move.after - move.before:+.2f}".replace("-", "−"),
                "proposed_before": label_view(review, move.proposed_before),
                "proposed_after": label_view(review, move.proposed_after),
            }
            for move in moves
        ]

    title = f"Quality of {movement.compared} labels before and after training again"
    return shown | {
        "movement": movement,
        "model": str(review.suspects.model),
        "used": review.trained_with,
        "figure": before_and_after(movement.before.tolist(), movement.after.tolist(), title),
        "fallen": entries(movement.fallen),
        "risen": entries(movement.risen),
    }
