"""Sealing while a process tends: in time, bounded, restart-safe; and the key that signs checkpoints."""

from __future__ import annotations

import asyncio
import stat
from typing import TYPE_CHECKING

import pytest

from condor.core.audit import read_checkpoint
from condor.core.errors import HomeUnusable, RefusedInput, StoreUnavailable
from condor.runtime import sealing, tending
from condor.runtime.signing import KEY_FILE, holds, public_key, read_public, sign
from condor.store.sqlite import SqliteStore
from condor.testing.store_units import all_of, at, creation
from tests.pump.desk import call, open_desk, read_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.ports.store import Store
    from condor.testing import Ledger

READ = call("s", "book.read")


async def _all_sealed(store: Store) -> None:
    async with asyncio.timeout(10):
        while (await store.unsealed(1)).heads:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)


async def test_a_process_that_tends_seals(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By itself, every so often; a look that fails costs no later one."""
    monkeypatch.setattr(tending, "TEND_EVERY_S", 0.01)
    monkeypatch.setattr(tending, "SEAL_EVERY_S", 0.0)
    failed = asyncio.Event()
    whole = sealing.seal_heads

    async def fails_once(*given: object) -> int:
        if not failed.is_set():
            failed.set()
            raise StoreUnavailable("the disk is full")
        return await whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(sealing, "seal_heads", fails_once)
    async with open_desk(tmp_path / "home", read_tool(ledger), tend=True) as desk:
        await desk.run(READ)
        store = desk.condor.store
        await _all_sealed(store)
        assert failed.is_set()
        await desk.run(READ)
        await _all_sealed(store)
        assert [row.seq async for row in store.seals()][:2] == [1, 2]


async def test_a_look_is_bounded_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after the store was closed in between: each head is sealed once."""
    monkeypatch.setattr(sealing, "SEAL_HEADS_MAX", 3)
    monkeypatch.setattr(sealing, "SEALS_MAX", 2)
    path = tmp_path / "condor.db"
    sealed = []
    for look in range(4):
        store = SqliteStore.open(path)
        if look == 0:
            await all_of(store, [creation(number) for number in range(10)])
        sealed.append(await sealing.seal_heads(store, lambda: at(1)))
        await store.close()
    assert sealed == [6, 4, 0, 0]


async def test_of_many_that_seal_at_once_each_head_is_sealed_once(tmp_path: Path) -> None:
    """Whoever was second looks again."""
    store = SqliteStore.open(tmp_path / "condor.db")
    await all_of(store, [creation(number) for number in range(40)])
    counts = await asyncio.gather(*(sealing.seal_heads(store, lambda: at(1)) for _ in range(8)))
    assert sum(counts) == 40
    assert [row.seq async for row in store.seals()] == [1]
    await store.close()


async def test_seals_that_do_not_hold_are_not_signed(tmp_path: Path, ledger: Ledger) -> None:
    """A checkpoint of them would say that they are whole."""
    async with open_desk(tmp_path / "home", read_tool(ledger), check=False) as desk:
        await desk.run(READ)
        await desk.condor.seal()
        lines = [line async for line in desk.condor.checkpoint("k", lambda _: "s", brief=True)]
        assert len(lines) == 1
        store: SqliteStore = desk.condor.store  # type: ignore[assignment]
        await store._errand(lambda connection: connection.execute("UPDATE seal SET hash = 'x'").close(), "")
        with pytest.raises(HomeUnusable, match="no checkpoint is made: seal 1 was edited"):
            [line async for line in desk.condor.checkpoint("k", lambda _: "s")]


# -- the key ---------------------------------------------------------------------------------


def test_the_key_is_made_once_and_is_the_owners_alone(tmp_path: Path) -> None:
    """Mode 0600, whatever the mask; what it signed holds under its public part and no other."""
    assert public_key(tmp_path, make=False) is None
    key = public_key(tmp_path, make=True)
    assert key is not None
    file = tmp_path / KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    signature = sign(tmp_path, b"body")
    assert public_key(tmp_path, make=True) == key == read_public(f" {key}\n")
    assert holds(key, b"body", signature)
    other = tmp_path / "other"
    other.mkdir()
    assert not holds(str(public_key(other, make=True)), b"body", signature)
    assert not holds(key, b"another", signature)
    for wrong in ("", "x", signature[:-4], signature + "AAAA"):
        assert not holds(key, b"body", wrong)


@pytest.mark.parametrize(
    "key", ["", "ed25519:", "ed25519:AAAA", "rsa:" + "A" * 43 + "=", "ed25519:" + "é" * 44]
)
def test_what_is_no_public_key_is_refused(key: str) -> None:
    """With what one looks like."""
    with pytest.raises(RefusedInput, match="is no public key; it looks like ed25519:"):
        read_public(key)


def test_a_key_that_others_can_read_or_that_is_none_signs_nothing(tmp_path: Path) -> None:
    """Nor is it overwritten."""
    public_key(tmp_path, make=True)
    file = tmp_path / KEY_FILE
    body = file.read_bytes()
    file.chmod(0o640)
    with pytest.raises(HomeUnusable, match="others can read or change the key"):
        sign(tmp_path, b"body")
    file.chmod(0o600)
    file.write_bytes(b"torn")
    with pytest.raises(HomeUnusable, match="is no Ed25519 key"):
        sign(tmp_path, b"body")
    file.unlink()
    (tmp_path / "elsewhere").write_bytes(body)
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HomeUnusable, match="cannot be read or made"):
        public_key(tmp_path, make=True)


async def test_a_checkpoint_is_read_with_its_key(tmp_path: Path, ledger: Ledger) -> None:
    """What is written is what is read, and one bit of the signature is one too many."""
    home = tmp_path / "home"
    async with open_desk(home, read_tool(ledger)) as desk:
        await desk.run(READ)
        await desk.condor.seal()
        key = str(public_key(home, make=True))
        lines = [line async for line in desk.condor.checkpoint(key, lambda body: sign(home, body))]
        against = read_checkpoint(lines, holds)
        assert (against.stated.seals, against.stated.runs, against.stated.key) == (1, 1, key)
        assert all([verdict.kept async for verdict in desk.condor.verify(against=against)])
        with pytest.raises(RefusedInput, match="signature does not hold"):
            read_checkpoint([lines[0].replace(b'"runs":1', b'"runs":2'), *lines[1:]], holds)
