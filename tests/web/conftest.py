"""A small graph with pictures, texts and a nasty label name, a model of it, a served review, and a rude client."""

from __future__ import annotations

import http.client
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
import uvicorn
from numpy.typing import ArrayLike

from lnp.audit.table import AuditTable
from lnp.datasets.own_graph import OwnGraph, write_own_graph
from lnp.estimator import LNPClassifier
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.web.app import make_app
from lnp.web.door import Door
from lnp.web.review import Review, open_review
from lnp.web.server import listen
from lnp.web.suspects import Suspects

NASTY = "<script>alert(1)</script>"
CLASSES = ("red", NASTY, "blue & green")
NODES = 60


def make_own_graph() -> OwnGraph:
    """Three groups of twenty on a ring of chords; every fifth label is wrong, two are checked, one node has none."""
    generator = np.random.default_rng(0)
    truth = np.arange(NODES) % 3
    same = [(i, (i + 3 * k) % NODES) for i in range(NODES) for k in (1, 2)]
    edges = np.array([*same, *((i, i + 1) for i in range(0, NODES - 1, 7))]).T
    features = np.eye(3)[truth].repeat(2, axis=1) * 0.7 + 0.3 * generator.random((NODES, 6))
    given, trusted = truth.copy(), np.zeros(NODES, bool)
    given[::5] = (truth[::5] + 1) % 3
    trusted[[1, 2, 3, 4, 6, 8]] = True
    given[59] = UNKNOWN
    ids = tuple(f"n{i}" for i in range(NODES))
    graph = Graph.from_edges(edges, features, class_names=CLASSES, node_ids=ids, name="ring <b>")
    return OwnGraph(
        graph=graph,
        labels=ObservedLabels(given, trusted, class_count=3),
        node_ids=ids,
        class_names=CLASSES,
        texts={"title": tuple(f"About <i>node</i> {i}" for i in range(NODES))},
        feature_names=tuple("abcdef"),
        picture_shape=(2, 3),
        source="a test",
    )


def make_table(
    nodes: ArrayLike, given: ArrayLike, quality: ArrayLike, proposed: ArrayLike, *, classes: int = 3
) -> AuditTable:
    """Rows as given, put into the order of an audit: the most suspect first."""
    quality = np.asarray(quality, np.float64)
    order = np.argsort(quality, kind="stable")
    nodes, given, proposed = (np.asarray(column, np.int64)[order] for column in (nodes, given, proposed))
    rows = nodes.size
    confidence = np.round(1 - quality[order] / 2, 6)
    probabilities = np.tile(((1 - confidence) / (classes - 1))[:, None], (1, classes))
    probabilities[np.arange(rows), proposed] = confidence
    return AuditTable(
        nodes=nodes,
        given=given,
        quality=quality[order],
        proposed=proposed,
        confidence=confidence,
        probabilities=probabilities,
        prototype_similarity=np.linspace(-1, 1, rows * classes).reshape(rows, classes),
        neighbour_labels=np.arange(rows * classes).reshape(rows, classes) % 5,
        trusted=np.zeros(rows, bool),
        noise_rate=np.full(classes, 0.2),
        transition=np.eye(classes),
        checks=np.zeros((classes, classes), np.int64),
        class_names=tuple(f"class {k}" for k in range(classes)),
        scorer="model",
    )


def make_suspects(table: AuditTable, node_count: int, trusted: ArrayLike = (), version: int = 1) -> Suspects:
    mask = np.zeros(node_count, bool)
    mask[np.asarray(trusted, np.int64)] = True
    predicted = np.zeros(node_count, np.int64)
    return Suspects(table, mask, predicted, np.ones(node_count), Path("model"), version)


@pytest.fixture(scope="session")
def table() -> Callable[..., AuditTable]:
    return make_table


@pytest.fixture(scope="session")
def suspects() -> Callable[..., Suspects]:
    return make_suspects


@pytest.fixture(scope="session")
def own() -> OwnGraph:
    return make_own_graph()


@pytest.fixture(scope="session")
def _trained(tmp_path_factory: pytest.TempPathFactory, own: OwnGraph) -> Path:
    home = tmp_path_factory.mktemp("review")
    write_own_graph(own, home / "graph")
    LNPClassifier(method="gcn", epochs=30, selection="last").fit(own.graph, own.labels).save(home / "model")
    return home


@pytest.fixture
def home(_trained: Path, tmp_path: Path) -> Path:
    """A folder of the test's own with ``graph`` and ``model``."""
    return Path(shutil.copytree(_trained, tmp_path / "home"))


@pytest.fixture
def review(home: Path) -> Iterator[Review]:
    opened = open_review(home / "graph", home / "model", scorer="model")
    yield opened
    opened.close()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str


@dataclass
class Client:
    """A browser of the worst kind: it sends what it is told to, and nothing else of its own but its cookie."""

    port: int
    cookie: str = ""
    csrf: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str | None) -> Answer:
        own: dict[str, str | None] = {"host": f"127.0.0.1:{self.port}", "cookie": self.cookie or None}
        sent = {name.replace("_", "-"): value for name, value in (own | headers).items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, fields, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, fields: dict[str, object], **headers: str | None) -> Answer:
        """A form as one of the review's own pages would send it, unless ``headers`` say otherwise."""
        usual: dict[str, str | None] = {
            "origin": f"http://127.0.0.1:{self.port}",
            "content_type": "application/x-www-form-urlencoded",
        }
        return self.send("POST", path, urlencode({"csrf": self.csrf} | fields).encode(), **(usual | headers))

    def say(self, node: int, kind: str, label: int | None = None, **fields: object) -> Answer:
        chosen = {} if label is None else {"label": label}
        return self.post("/verdict", {"node": node, "kind": kind, **chosen, **fields})


@dataclass
class Served:
    review: Review
    door: Door

    def visit(self, name: str = "") -> Client:
        """Comes in by the token; under a name, if there is one."""
        client = Client(self.door.port)
        answer = client.get(f"/?token={self.door.token}")
        assert answer.status == 200
        client.cookie = answer.headers["set-cookie"].partition(";")[0]
        found = re.search(r'name="csrf" value="([^"]+)"', client.get("/reviewer").body)
        assert found
        client.csrf = found[1]
        if name:
            assert client.post("/reviewer", {"reviewer": name}).status == 303
        return client


@pytest.fixture
def served(review: Review) -> Iterator[Served]:
    listener = listen(0)
    door = Door(listener.getsockname()[1])
    server = uvicorn.Server(uvicorn.Config(make_app(review, door), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield Served(review, door)
    server.should_exit = True
    thread.join(20)
    listener.close()
