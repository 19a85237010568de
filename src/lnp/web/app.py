"""The pages and what their forms do. Who may see them is the business of :mod:`lnp.web.guard`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from lnp.errors import ConfigError, InputError
from lnp.web.answers import download, go, named, number, page_of, problem, visit_of
from lnp.web.door import Door, Visitor, reviewer_name
from lnp.web.guard import Guard
from lnp.web.labels_now import history_csv
from lnp.web.node_view import node_view, saved_notice
from lnp.web.pages import STATIC, refusal_page, static_file, welcome_page
from lnp.web.review import Review
from lnp.web.suspects import Filter
from lnp.web.verdicts import KINDS
from lnp.web.views import common, list_view, moved_view, node_link, status_view, training_view

__all__ = ["make_app"]


def make_app(review: Review, door: Door) -> ASGIApp:
    """The guarded application."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        review.close()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.add_exception_handler(HTTPException, problem)
    app.add_exception_handler(RequestValidationError, problem)
    app.add_exception_handler(InputError, problem)
    app.add_exception_handler(Exception, problem)
    _add_pages(app, review)
    _add_forms(app, review)
    return Guard(app, door, refusal_page, welcome_page)


def _add_pages(app: FastAPI, review: Review) -> None:
    classes = len(review.own.class_names)

    @app.get("/")
    def suspects(request: Request, page: int = 1) -> Response:
        visitor = named(request)
        chosen = Filter.parse(dict(request.query_params), classes)
        review.store.look(visitor.reviewer, None)
        context = list_view(review, visitor, chosen, page)
        context["notices"] = _notices(review, request, visitor)
        return page_of("list.html", context)

    @app.get("/node/{node}")
    def one(request: Request, node: int) -> Response:
        visitor = named(request)
        chosen = Filter.parse(dict(request.query_params), classes)
        _require_row(review, node)
        review.store.look(visitor.reviewer, review.own.node_ids[node])
        context = node_view(review, visitor, node, chosen)
        context["notices"] = _notices(review, request, visitor)
        return page_of("node.html", context)

    @app.get("/find")
    def find(request: Request, id: str = "") -> Response:
        named(request)
        node = review.board.index(id.strip())
        if node is None:
            raise HTTPException(404, f"No node of this graph is called “{id.strip()}”.")
        _require_row(review, node)
        return go(node_link(node, Filter.parse(dict(request.query_params), classes)))

    @app.get("/training")
    def training(request: Request) -> Response:
        return page_of("training.html", training_view(review, named(request)))

    @app.get("/moved")
    def moved(request: Request) -> Response:
        return page_of("moved.html", moved_view(review, named(request)))

    @app.get("/reviewer")
    def reviewer(request: Request) -> Response:
        return page_of("reviewer.html", common(review, visit_of(request).visitor))

    @app.get("/status")
    def status(request: Request, node: int | None = None, seen: int = 0) -> Response:
        visitor = visit_of(request).visitor
        if node is not None:
            _require_row(review, node)
            if visitor.reviewer:
                review.store.look(visitor.reviewer, review.own.node_ids[node])
        return JSONResponse(status_view(review, visitor, node, seen))

    @app.get("/verdicts.csv")
    def verdicts() -> Response:
        return download(review.label_file(), "verdicts.csv")

    @app.get("/history.csv")
    def history() -> Response:
        return download(history_csv(review.store), "history.csv")

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        content = static_file(name)
        if content is None:
            raise HTTPException(404, "There is no such file here.")
        return Response(content, media_type=STATIC[name])


def _add_forms(app: FastAPI, review: Review) -> None:
    classes = len(review.own.class_names)

    @app.post("/verdict")
    def verdict(request: Request) -> Response:
        visitor, form = named(request), visit_of(request).form
        node, kind = number(form.get("node", "")), form.get("kind", "")
        _require_row(review, node)
        if kind not in KINDS:
            raise ConfigError(f"Expected `kind` to be one of {', '.join(KINDS)}, but got {kind!r}.")
        chosen = Filter.parse(form, classes)
        label = None if kind == "skip" else number(form.get("label", ""))
        saved = review.say(node, kind, visitor.reviewer, label)
        following = review.suspects.following(node, chosen, review.board.states, review.busy(visitor.reviewer))
        if following is None:
            return go(f"/?about={node}&saved={saved}&end=1")
        return go(node_link(following, chosen, about=node, saved=saved))

    @app.post("/undo")
    def undo(request: Request) -> Response:
        visitor, form = named(request), visit_of(request).form
        chosen = Filter.parse(form, classes)
        taken_back = review.undo(visitor.reviewer)
        if taken_back is None:
            return go("/?nothing=1")
        node = review.board.index(taken_back.node)
        if node is None or review.suspects.row_of[node] < 0:  # it was about another graph
            return go("/?undone=1")
        return go(node_link(node, chosen, undone=1))

    @app.post("/training/start")
    def start(request: Request) -> Response:
        named(request)
        review.train_again()
        return go("/training")

    @app.post("/training/stop")
    def stop(request: Request) -> Response:
        named(request)
        review.retraining.stop()
        return go("/training")

    @app.post("/reviewer")
    def rename(request: Request) -> Response:
        visit = visit_of(request)
        name = reviewer_name(visit.form.get("reviewer", ""))
        if visit.visitor.reviewer:
            review.store.look(visit.visitor.reviewer, None)
        visit.visitor.reviewer = name
        return go("/")


def _notices(review: Review, request: Request, visitor: Visitor) -> list[tuple[str, str]]:
    """Words about what just happened; the address only says which verdict, never what to write."""
    asked = request.query_params
    notices: list[tuple[str, str]] = []
    if "saved" in asked:
        about, saved = number(asked.get("about", "")), number(asked["saved"])
        notices = saved_notice(review, about, saved, visitor.reviewer)
    if "end" in asked:
        notices.append(("saved", "That was the last of this list."))
    if "undone" in asked:
        notices.append(("saved", "Your last verdict was taken back."))
    if "nothing" in asked:
        notices.append(("warning", "There is no verdict of yours to take back."))
    return notices


def _require_row(review: Review, node: int) -> None:
    rows = review.suspects.row_of
    if not 0 <= node < rows.size or rows[node] < 0:
        raise HTTPException(404, "There is no node of that number with a label to look at.")
