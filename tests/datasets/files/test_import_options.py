"""Options contradict themselves or name nothing: an error before any file is read."""

from __future__ import annotations

import pytest

from lnp.datasets.files.import_options import ImportOptions, import_options
from lnp.errors import ConfigError, UnknownNameError


def test_one_name_stands_for_a_list() -> None:
    assert import_options({"text": "abstract", "ignore": ["a", "b"]}) == ImportOptions(
        text=("abstract",), ignore=("a", "b")
    )


def test_unknown_options_get_the_choices() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown option of load_graph 'lable'. Did you mean 'label'"):
        import_options({"lable": "topic"})


def test_a_column_has_one_use() -> None:
    with pytest.raises(ConfigError, match=r"column 'topic' to have one use, but got it as label and as text"):
        ImportOptions(label="topic", text=("topic",))


def test_numbers_are_in_range() -> None:
    with pytest.raises(ConfigError, match=r"Expected `words`"):
        ImportOptions(words=0)
    with pytest.raises(ConfigError, match=r"Expected `picture`"):
        ImportOptions(picture=(0, 8))


def test_arrays_have_no_columns() -> None:
    ImportOptions(picture=(2, 2)).require_no_columns("an npz file")
    with pytest.raises(ConfigError, match=r"`text` for a node table .*, but got it for an npz file"):
        ImportOptions(text=("a",)).require_no_columns("an npz file")
