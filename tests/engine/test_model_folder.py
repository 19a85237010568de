from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from lnp.engine import model_folder
from lnp.engine.model_folder import FORMAT, read_folder, write_folder
from lnp.errors import ConfigError, ModelFileError


def facts(**changes: object) -> dict[str, object]:
    plain = {"format": FORMAT, "lnp": "0.1.0", "method": "gcn", "config": {}, "class_names": ["a", "b"], "nodes": 3}
    return plain | {"features": 1, "graph": "g", "checksum": "0", "scaling": "none", "about": {}} | changes


def tensors(value: float) -> dict[str, torch.Tensor]:
    return {"weight": torch.full((2, 2), value)}


def read_value(folder: Path) -> tuple[float, object]:
    stored, known = read_folder(folder)
    return stored["weight"][0, 0].item(), known["about"]


def test_both_files_come_back_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_folder(tmp_path / "deep" / "er", tensors(1.5), facts(about={"näme": [1, None]}))
    assert read_value(tmp_path / "deep" / "er") == (1.5, {"näme": [1, None]})
    assert sorted(p.name for p in (tmp_path / "deep").rglob("*")) == ["er", "model.json", "model.safetensors"]


def test_an_existing_folder_keeps_its_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for value in (1.0, 2.0):
        write_folder(tmp_path, tensors(value), facts())
    assert read_value(tmp_path)[0] == 2
    assert (tmp_path / "notes.txt").read_text() == "mine"
    monkeypatch.chdir(tmp_path)
    write_folder(Path(), tensors(3.0), facts())
    assert read_value(Path())[0] == 3
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("survivors", [0, 1])
def test_a_crash_between_the_files_leaves_the_old_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survivors: int
) -> None:
    folder = tmp_path / "model"
    write_folder(folder, tensors(1.0), facts(about={"age": "old"}))
    moves, replace = [], os.replace

    def crash(source: Path, target: Path) -> None:
        if Path(target).parent == folder:
            if len(moves) == survivors:
                raise KeyboardInterrupt
            moves.append(target)
        replace(source, target)

    monkeypatch.setattr(model_folder.os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder, tensors(2.0), facts(about={"age": "new"}))
    assert read_value(folder) == ((1.0, {"age": "old"}), (2.0, {"age": "new"}))[survivors]
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_crash_while_writing_a_new_folder_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_folder, "write_text", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "model", tensors(1.0), facts())
    assert list(tmp_path.iterdir()) == []


def test_the_fingerprint_tells_models_apart_and_repeats(tmp_path: Path) -> None:
    prints = []
    for value, about in ((1.0, {}), (1.0, {}), (2.0, {}), (1.0, {"a": 1})):
        write_folder(tmp_path, tensors(value), facts(about=about))
        prints.append(read_folder(tmp_path)[1]["fingerprint"])
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def edit(**changes: object):
    def change(folder: Path) -> None:
        path = folder / "model.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def drop(key: str):
    def change(folder: Path) -> None:
        path = folder / "model.json"
        known = json.loads(path.read_text())
        del known[key]
        path.write_text(json.dumps(known))

    return change


def cut(name: str):
    def change(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:-20])

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "model.json").unlink(), r"Expected a saved model in .*m, but there is no model.json"),
        (lambda f: (f / "model.safetensors").unlink(), r"in .*m, but there is no model.safetensors"),
        (cut("model.safetensors"), r"model.safetensors is not a readable model file .*truncated"),
        (cut("model.json"), r"model.json is not readable JSON .*Save the model again"),
        (lambda f: (f / "model.json").write_bytes(b"\xff\xfe"), r"model.json is not readable JSON"),
        (lambda f: (f / "model.json").write_text("[1]"), r"model.json does not describe a saved model"),
        (
            edit(format=FORMAT + 1, lnp="9.9"),
            rf"model.json has format {FORMAT + 1}, written by lnp 9.9, .* up to {FORMAT}",
        ),
        (edit(format="one"), r"does not describe a saved model"),
        (edit(nodes="many"), r"Expected `nodes` of .*model.json to be a int, but got 'many'"),
        (drop("checksum"), r"Expected `checksum` of .*model.json to be a str, but it is missing"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage, message: str) -> None:
    write_folder(tmp_path / "m", tensors(1.0), facts())
    damage(tmp_path / "m")
    with pytest.raises(ModelFileError, match=message):
        read_folder(tmp_path / "m")


def test_bad_input_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match=r"Expected .*file to be a folder to save a model in, but it is a file"):
        write_folder(tmp_path / "file", tensors(1.0), facts())
    for value in (float("nan"), object()):
        with pytest.raises(ConfigError, match="Expected `about` and the options to be plain JSON values"):
            write_folder(tmp_path / "model", tensors(1.0), facts(about={"x": value}))
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
