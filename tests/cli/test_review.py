from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from lnp.datasets.own_graph import OwnGraph, write_own_graph
from lnp.estimator import LNPClassifier
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.web.verdicts import VerdictStore

Call = Callable[..., "object"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("review")
    ids = tuple("abcdefgh")
    graph = Graph.from_edges(
        [[0, 1, 2, 4, 5, 6, 3], [1, 2, 3, 5, 6, 7, 4]],
        np.eye(8),
        class_names=("low", "high"),
        node_ids=ids,
    )
    labels = ObservedLabels([0, 0, 1, 0, 1, 1, 1, 1], np.arange(8) % 7 == 0, class_count=2)
    own = OwnGraph(graph, labels, ids, graph.class_names, {}, ())
    write_own_graph(own, folder / "graph")
    LNPClassifier(method="gcn", epochs=5, selection="last").fit(graph, labels).save(folder / "model")
    return folder


@pytest.fixture
def started(home: Path) -> Iterator[tuple[subprocess.Popen[str], str, int, str]]:
    """A review in a process of its own: it, its token's address, its port and its cookie."""
    command = [sys.executable, "-m", "lnp", "review", str(home / "graph"), str(home / "model"), "--no-browser"]
    process = subprocess.Popen(
        [*command, "--scorer", "model", "--reviewer", "Ada"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = ""
    while not (found := re.search(r"http://127\.0\.0\.1:(\d+)(/\?token=\S+)", lines)):
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        lines += line
    port = int(found[1])
    _, headers, _ = ask(port, "GET", found[2])
    yield process, found[2], port, headers["set-cookie"].partition(";")[0]
    process.kill()
    process.communicate()


def ask(
    port: int, method: str, path: str, fields: dict[str, object] | None = None, cookie: str = ""
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"cookie": cookie, "origin": f"http://127.0.0.1:{port}"}
    if fields is not None:
        headers["content-type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, None if fields is None else urlencode(fields), headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


def test_a_kill_right_after_the_answer_loses_nothing(home: Path, started: tuple, call: Call) -> None:
    process, _, port, cookie = started
    _, _, page = ask(port, "GET", "/node/2", cookie=cookie)
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    assert csrf
    for node in (2, 4):
        fields = {"csrf": csrf[1], "node": node, "kind": "choose", "label": 0}
        status, headers, _ = ask(port, "POST", "/verdict", fields, cookie)
        assert status == 303
        assert "saved=" in headers["location"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(20)
    result = call("review", home / "graph", home / "model", "--export", home / "out.csv")
    assert result.exit_code == 0
    assert "2 labels" in result.stdout
    rows = (home / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[:4] for row in rows] == [
        ["node", "label", "trusted", "reviewer"],
        ["c", "low", "1", "Ada"],
        ["e", "low", "1", "Ada"],
    ]


def test_an_interrupt_ends_it_cleanly(home: Path, started: tuple) -> None:
    process, _, port, cookie = started
    assert ask(port, "GET", "/", cookie=cookie)[0] == 200
    os.kill(process.pid, signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out.strip().endswith(f"All verdicts are in {home / 'graph' / 'verdicts.sqlite'}.")
    assert errors == ""
    with pytest.raises(ConnectionRefusedError):
        ask(port, "GET", "/")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "model"), "nowhere"),
        (("graph", "nowhere"), "nowhere"),
        (("graph", "model", "--port", "70000"), "port"),
        (("graph", "model", "--reviewer", " "), "reviewer"),
        (("graph", "model", "--scorer", "guess"), "cross-fit"),
        (("graph", "model", "--export", "graph"), "is a folder"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    home: Path, call: Call, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(home)
    result = call("review", *arguments, "--no-browser")
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_package_is_named(home: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = call("review", home / "graph", home / "model")
    assert result.exit_code == 2
    assert "lnp[web]" in result.stderr


def test_export_before_any_verdict_is_a_head_alone(tmp_path: Path, home: Path, call: Call) -> None:
    shutil.copytree(home / "graph", tmp_path / "graph", ignore=shutil.ignore_patterns("verdicts*"))
    assert call("review", tmp_path / "graph", home / "model", "--export", tmp_path / "v.csv").exit_code == 0
    assert (tmp_path / "v.csv").read_text(encoding="utf-8") == "node,label,trusted,reviewer,time,given\n"
    VerdictStore(tmp_path / "graph" / "verdicts.sqlite").close()
