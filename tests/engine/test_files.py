from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from lnp.engine.files import alone_in, atomic_path, read_tensors, write_tensors, write_text
from lnp.errors import ModelFileError

TENSORS = {
    "weights": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 7,
    "count": torch.tensor(5),
    "mask": torch.tensor([True, False]),
    "empty": torch.zeros(0, 3),
}


def test_tensors_come_back_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "model.safetensors"
    write_tensors(path, TENSORS, {"method": "gcn", "numbers": [1, 0.1, None], "name": "ü"})
    tensors, about = read_tensors(path)
    assert about == {"method": "gcn", "numbers": [1, 0.1, None], "name": "ü"}
    assert tensors.keys() == TENSORS.keys()
    for name, value in TENSORS.items():
        assert tensors[name].dtype == value.dtype
        assert torch.equal(tensors[name], value)


def test_views_and_shared_tensors_are_written_whole(tmp_path: Path) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    write_tensors(tmp_path / "m", {"a": base, "same": base, "transposed": base.T, "part": base[1:, ::2]}, {})
    tensors, _ = read_tensors(tmp_path / "m")
    assert torch.equal(tensors["same"], base)
    assert torch.equal(tensors["transposed"], base.T)
    assert torch.equal(tensors["part"], base[1:, ::2])


def test_failure_leaves_the_old_file_and_no_temporary(tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    write_text(path, "old")

    def fail_half_way() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fail_half_way()
    assert [p.name for p in tmp_path.iterdir()] == ["result.txt"]
    assert path.read_text() == "old"
    with pytest.raises(TypeError):
        write_tensors(path, TENSORS, {"not json": object()})
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["result.txt"]


def test_nothing_appears_before_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "result.txt"
    with atomic_path(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert temporary.parent == path.parent  # a move within one folder is one step
        assert not path.exists()
    assert path.read_text() == "new"
    write_text(path, "Grüße")
    assert path.read_bytes() == "Grüße".encode()


@pytest.mark.parametrize("keep", [0, 4, 60, 0.5, -1])
def test_truncated_file_is_named(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "model.safetensors"
    write_tensors(path, TENSORS, {"method": "gcn"})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole)) if 0 < keep < 1 else int(keep)])
    with pytest.raises(ModelFileError, match=r"model\.safetensors is not a readable model file .* truncated"):
        read_tensors(path)


def test_absent_and_foreign_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"Expected a model file at .*nothing\.here, but there is none\."):
        read_tensors(tmp_path / "nothing.here")
    with pytest.raises(ModelFileError, match="but there is none"):
        read_tensors(tmp_path)
    from safetensors.torch import save_file

    save_file({"a": torch.ones(1)}, tmp_path / "foreign")
    with pytest.raises(ModelFileError, match="foreign is not a readable model file"):
        read_tensors(tmp_path / "foreign")


def test_alone_in_a_folder_nobody_overwrites_what_another_added(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def add(line: int) -> None:
        with alone_in(folder):
            path = folder / "lines.txt"
            write_text(path, (path.read_text() if path.exists() else "") + f"{line}\n")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(80)))
    assert sorted(map(int, (folder / "lines.txt").read_text().split())) == list(range(80))
