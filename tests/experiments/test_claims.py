"""One run, one worker."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lnp.experiments.claims import LEASE, Claimed, claim, release, renew
from lnp.experiments.processes import Owner
from lnp.experiments.store import Store

OTHER = Owner("another machine", 7, 7)
DEAD = replace(Owner.current(), pid=2**22 + 1)


def test_a_claim_holds_until_it_is_given_up(store: Store) -> None:
    assert claim(store, "k", OTHER) is Claimed.YES
    assert claim(store, "k") is Claimed.BUSY
    release(store, "k")  # not ours
    assert claim(store, "k") is Claimed.BUSY
    release(store, "k", OTHER)
    assert claim(store, "k") is Claimed.YES
    assert claim(store, "k") is Claimed.YES  # ours already


def test_a_dead_process_holds_nothing(store: Store) -> None:
    assert claim(store, "k", DEAD) is Claimed.YES
    assert claim(store, "k") is Claimed.YES


def test_a_claim_from_another_machine_ends_with_its_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    claim(store, "k", OTHER)
    now += LEASE - 1
    assert claim(store, "k") is Claimed.BUSY
    renew(store, ["k"], OTHER)
    now += LEASE - 1
    assert claim(store, "k") is Claimed.BUSY
    now += 2
    assert claim(store, "k") is Claimed.YES


def test_a_living_process_on_this_machine_keeps_its_claim(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Owner, "is_gone", lambda self: False)
    claim(store, "k", DEAD)
    later = time.time() + 10 * LEASE
    monkeypatch.setattr(time, "time", lambda: later)
    assert claim(store, "k") is Claimed.BUSY


def test_many_ask_at_once_and_one_gets_it(store: Store) -> None:
    answers: list[tuple[str, Claimed]] = []

    def ask(number: int, path: Path) -> None:
        with Store(path) as own:
            for key in "abcde":
                answers.append((key, claim(own, key, Owner("elsewhere", number, 0))))

    threads = [threading.Thread(target=ask, args=(number, store.path)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    assert sorted(key for key, answer in answers if answer is Claimed.YES) == list("abcde")
