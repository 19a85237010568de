from __future__ import annotations

import json
import math

from lnp.engine.history import EpochRecord, History

RECORDS = [
    EpochRecord("train", 0, {"noisy_ce": 1.5, "kl": 0.25}, 0.4, True),
    EpochRecord("train", 1, {"noisy_ce": 1.0}, math.nan, False),
    EpochRecord("fine-tuning", 0, {"trusted_ce": 0.5}, 0.6, True),
]


def test_loss_is_the_sum_of_the_terms() -> None:
    assert [record.loss for record in RECORDS] == [1.75, 1.0, 0.5]


def test_columns_are_of_equal_length_with_gaps_where_a_term_is_absent() -> None:
    assert History(RECORDS).columns() == {
        "noisy_ce": [1.5, 1.0, None],
        "kl": [0.25, None, None],
        "trusted_ce": [None, None, 0.5],
        "score": [0.4, None, 0.6],
    }
    assert History().columns() == {"score": []}


def test_json_and_back_gives_the_same_numbers_to_the_last_bit() -> None:
    history = History()
    for record in [*RECORDS, EpochRecord("train", 2, {"ce": 0.1 + 0.2}, 1 / 3, False)]:
        history.append(record)
    again = History.from_json(json.loads(json.dumps(history.to_json())))
    assert len(again) == len(history) == 4
    for old, new in zip(history, again, strict=True):
        assert repr(new) == repr(old)  # not ==, because not a number differs from itself


def test_histories_do_not_share_their_records() -> None:
    first, second = History(), History()
    first.append(RECORDS[0])
    assert len(second) == 0
