"""What a store keeps for the edge: keys of requests, tokens, and a session's newest run."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from condor.core.errors import OurBug, StoreUnavailable
from condor.core.ids import SessionId
from condor.ports.store import Claimed, Committed, Conflict, Expect, RequestClaim, TokenRow, Transition
from condor.testing.store_units import Open, all_of, at, contents, creation, refused, run_name

if TYPE_CHECKING:
    from condor.ports.store import TokenKind


def _claiming(number: int, key: str, *, principal: str = "ann", digest: str = "sha256:a") -> Transition:
    unit = creation(number)
    assert unit.create is not None, "a creation creates"
    claim = RequestClaim(principal_id=principal, key=key, digest=digest)
    return dataclasses.replace(unit, create=dataclasses.replace(unit.create, claim=claim))


def _token(name: str, *, kind: TokenKind = "program", made: float = 0, expires: float = 60) -> TokenRow:
    return TokenRow(
        token_id=f"tok_{name}",
        kind=kind,
        hash=name * 8,
        principal=b'{"id":"nightly"}',
        scopes=frozenset({"runs:read", "runs:start"}),
        created_at=at(made),
        expires_at=at(expires),
    )


async def check_a_key_makes_one_run(open_store: Open) -> None:
    """The first unit under a key creates its run; another creates nothing, and is told of the first."""
    store = await open_store()
    await store.commit(_claiming(1, "k"))
    conflict = await refused(store, _claiming(2, "k", digest="sha256:b"), "claimed")
    assert Claimed(run_id=run_name(1), digest="sha256:a") == conflict.claimed
    assert conflict.claimed == await store.claimed("ann", "k")
    assert await store.claimed("ann", "other") is None
    await store.commit(_claiming(3, "k", principal="ben"))
    await store.close()
    store = await open_store()
    assert Claimed(run_id=run_name(3), digest="sha256:a") == await store.claimed("ben", "k")


async def check_a_key_makes_one_run_among_many(open_store: Open) -> None:
    """Of units that come together under one key one creates its run."""
    store = await open_store()
    fates = await all_of(store, [_claiming(number, "k") for number in range(20)])
    assert [type(fate) for fate in fates] == [Committed] + [Conflict] * 19
    assert [run_name(0)] == [run.run_id for run in await store.runs()]


async def check_a_refused_run_leaves_its_key(open_store: Open) -> None:
    """A key is taken by a run that is there, never by one that was refused."""
    store = await open_store()
    await store.commit(creation(1))
    await refused(store, _claiming(1, "k"), "exists")
    assert await store.claimed("ann", "k") is None
    await store.commit(_claiming(2, "k"))


async def check_tokens(open_store: Open) -> None:
    """A token is found by its hash, also after a restart, until it is revoked; runs are not touched by it."""
    store = await open_store()
    await store.commit(creation(1))
    before = await contents(store)
    await store.add_token(_token("a"))
    await store.add_token(_token("b", kind="session"))
    await store.close()
    store = await open_store()
    assert _token("a") == await store.token("a" * 8)
    assert await store.token("c" * 8) is None
    assert [_token("a")] == list(await store.tokens("program"))
    assert [_token("b", kind="session")] == list(await store.tokens("session"))
    assert await store.revoke_token("tok_a", at(5))
    assert not await store.revoke_token("tok_a", at(6))
    assert not await store.revoke_token("tok_c", at(6))
    assert dataclasses.replace(_token("a"), revoked_at=at(5)) == await store.token("a" * 8)
    assert before == await contents(store)


async def check_expired_tokens_are_removed(open_store: Open) -> None:
    """What nobody can use any more does not pile up."""
    store = await open_store()
    await store.add_token(_token("a", expires=10))
    await store.add_token(_token("b", expires=20))
    await store.add_token(_token("c", made=15, expires=99))
    assert [row.token_id for row in await store.tokens("program")] == ["tok_b", "tok_c"]


async def check_a_store_says_whether_it_takes_writes(open_store: Open) -> None:
    """Asked, it changes nothing; closed, it says that it takes nothing."""
    store = await open_store()
    await store.commit(creation(1))
    before = await contents(store)
    await store.check_writable()
    assert before == await contents(store)
    await store.close()
    try:
        await store.check_writable()
    except StoreUnavailable:
        return
    raise AssertionError("a closed store said that it takes writes")


async def check_last_of_session(open_store: Open) -> None:
    """The newest run of a session, among those of others."""
    store = await open_store()
    for number, session in enumerate(["one", "two", "one", "two"], start=1):
        unit = creation(number)
        assert unit.create is not None, "a creation creates"
        create = dataclasses.replace(unit.create, session_id=SessionId(session))
        await store.commit(dataclasses.replace(unit, create=create))
    newest = await store.last_of_session("one")
    assert newest is not None
    assert run_name(3) == newest.run_id
    assert await store.last_of_session("three") is None
    assert [run_name(3), run_name(1)] == [run.run_id for run in await store.runs_of_session("one")]
    assert [run_name(4)] == [run.run_id for run in await store.runs_of_session("two", limit=1)]
    assert [run_name(2)] == [
        run.run_id for run in await store.runs_of_session("two", limit=1, before=run_name(4))
    ]
    assert list(await store.runs_of_session("three")) == []


async def check_a_run_is_handed_over_or_refused(open_store: Open) -> None:
    """A store without workers refuses the unit whole; another one has the run for nobody, waiting."""
    store = await open_store()
    await store.commit(creation(2))
    mine, holder = await store.offered(run_name(2))
    assert mine == await store.load(run_name(2))
    assert holder in ("here", "nobody")
    try:
        await store.commit(dataclasses.replace(creation(1), hand_over=True))
    except OurBug:
        assert await store.offered(run_name(1)) == (None, "nobody")
        assert (await store.backlog()).waiting == 0
        return
    stored, holder = await store.offered(run_name(1))
    assert stored == await store.load(run_name(1))
    assert holder == "nobody"
    backlog = await store.backlog()
    assert (backlog.workers, backlog.waiting) == (0, 1)
    # Without a worker it is for whoever takes it; taken, it is that one's.
    assert list(await store.orphaned()) == [run_name(1)]
    take = Transition(run_id=run_name(1), at=at(1), expect=Expect(rev=1, epoch=0), raise_epoch=True)
    assert (await store.commit(take)).epoch == 1
    assert (await store.offered(run_name(1)))[1] == "here"
    assert (await store.backlog()).waiting == 0
    # Who writes beside the segment does not become its holder, and who takes it a second time is refused.
    await store.commit(Transition(run_id=run_name(1), at=at(2), hand_over=True))
    await store.commit(Transition(run_id=run_name(1), at=at(3), count_answer=True))
    assert (await store.offered(run_name(1)))[1] == "nobody"
    await refused(store, take, "epoch")
