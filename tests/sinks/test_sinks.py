"""Outside sinks get every audit row at least once, and no run waits for them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from condor import Condor, PolicyClass, ToolContext, tool
from condor.config import Settings, read_settings
from condor.core.errors import RefusedInput
from condor.ports.sinks import SinkAway
from condor.runtime import delivering
from condor.runtime.delivering import Delivery, position_file
from condor.sinks import sinks_of
from condor.sinks.lines import JsonLines
from condor.sinks.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

PLAN = {"steps": [{"id": "s", "tool": "stock.set", "args": {"item": "bolt"}}]}


@tool("stock.set", policy_class=PolicyClass.EXEC, noun="the stock")
async def set_stock(_: ToolContext, item: str) -> str:
    """Set the stock."""
    return item


class Kept:
    """A sink that takes everything, but for as often as it is told to be away."""

    name = "kept"

    def __init__(self, away: int = 0) -> None:
        self.rows: list[Mapping[str, Any]] = []
        self.away = away
        #: How many rows each batch had; so many are taken before it is away.
        self.sizes: list[int] = []
        self.takes = 1_000

    async def send(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows += rows
        self.sizes.append(len(rows))
        if len(self.sizes) > self.takes:
            raise SinkAway("away")
        if self.away:
            # The rows were taken, and nobody heard of it.
            self.away -= 1
            raise SinkAway("away")

    def places(self) -> list[tuple[str, int]]:
        return [(str(row["runId"]), int(row["seq"])) for row in self.rows]


async def _runs(condor: Condor, count: int) -> list[str]:
    runs = [await condor.start(plan=PLAN) for _ in range(count)]
    for run in runs:
        await condor.wait(run.id)
    return [run.id for run in runs]


async def _all(condor: Condor) -> list[tuple[str, int]]:
    return [(row.run_id, row.seq) for row in await condor.audit()]


async def _look(condor: Condor, delivery: Delivery, times: int = 1) -> None:
    for _ in range(times):
        await condor.seal()
        await delivery.look()


async def test_every_row_comes_in_the_order_of_its_run(tmp_path: Path) -> None:
    """Before and after a card's answer, once; another process goes on where the last one was."""
    sink = Kept()
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        [first, second] = await _runs(condor, 2)
        delivery = Delivery((sink,), tmp_path, condor.store, condor.counts)
        await _look(condor, delivery)
        assert sorted(sink.places()) == await _all(condor)
        (card,) = [one for one in await condor.pending() if one["runId"] == first]
        await condor.resume(first, str(card["suspendId"]), {"approved": True})
        await condor.wait(first)
        await _look(condor, delivery, 3)
        assert sorted(sink.places()) == await _all(condor)
        again = Delivery((sink,), tmp_path, condor.store, condor.counts)
        await _look(condor, again)
        assert len(sink.rows) == len(await _all(condor))
        assert [row["seq"] for row in sink.rows if row["runId"] == second] == [1, 2]
        kept = json.loads(position_file(tmp_path, "kept").read_text())
    assert set(kept["runs"]) == {second}, "a run that ended needs no place"


async def test_a_sink_that_is_away_gets_the_rest_later(tmp_path: Path) -> None:
    """Nothing is lost, what was not noted comes twice, and each time is counted."""
    sink = Kept(away=3)
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        other = Kept()
        other.name = "other"
        delivery = Delivery((sink, other), tmp_path, condor.store, condor.counts)
        await _runs(condor, 3)
        await _look(condor, delivery)
        assert sorted(other.places()) == await _all(condor), "the other one does not wait"
        assert json.loads(position_file(tmp_path, "kept").read_text())["away"] == "away"
        await _look(condor, delivery, 12)
        assert set(sink.places()) == set(await _all(condor))
        assert len(sink.rows) > len(set(sink.places()))
        assert condor.counts["sink-kept"] == 3
        assert json.loads(position_file(tmp_path, "kept").read_text())["away"] == ""


async def test_a_batch_holds_the_rows_of_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seal of fifty runs is sent and noted once; a long one goes on after the last batch taken."""
    noted: list[int] = []
    write = delivering._write

    def note(path: Path, kept: dict[str, Any]) -> None:
        assert threading.current_thread() is not threading.main_thread()
        noted.append(kept["seal"])
        write(path, kept)

    monkeypatch.setattr(delivering, "_write", note)
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await _runs(condor, 50)
        sink, small = Kept(), Kept()
        await _look(condor, Delivery((sink,), tmp_path, condor.store, condor.counts))
        everything = await _all(condor)
        assert (len(everything), sink.sizes, noted) == (100, [100], [1])
        assert sorted(sink.places()) == everything
        monkeypatch.setattr(delivering, "_BATCH_ROWS", 7)
        small.name = "small"
        small.takes = 3
        delivery = Delivery((small,), tmp_path, condor.store, condor.counts)
        await _look(condor, delivery)
        assert small.sizes == [7] * 4
        kept = json.loads(position_file(tmp_path, "small").read_text())
        assert (kept["seal"], kept["away"], sum(kept["runs"].values())) == (0, "away", 21)
        small.takes = 100
        await _look(condor, delivery, 2)
        assert small.sizes == [7] * 15 + [2]
        assert sorted({*small.places()}) == everything
        assert json.loads(position_file(tmp_path, "small").read_text())["seal"] == 1


async def test_a_lost_position_sends_anew(tmp_path: Path) -> None:
    """Twice is the promise's other half; a damaged file stops nothing."""
    sink = Kept()
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await _runs(condor, 1)
        await _look(condor, Delivery((sink,), tmp_path, condor.store, condor.counts))
        position_file(tmp_path, "kept").write_text('{"seal": "x"')
        await _look(condor, Delivery((sink,), tmp_path, condor.store, condor.counts))
    assert sorted(sink.places()) == sorted([*set(sink.places())] * 2)


async def test_lines_go_on_after_a_cut_one(tmp_path: Path) -> None:
    """A crash in the middle of a line costs that line, which comes again."""
    path = tmp_path / "audit.jsonl"
    sink = JsonLines(path)
    await sink.send([{"seq": 1}])
    path.write_bytes(path.read_bytes() + b'{"seq": 2, "ru')
    await sink.send([{"seq": 2}, {"seq": 3}])
    assert path.read_bytes() == b'{"seq":1}\n{"seq": 2, "ru\n{"seq":2}\n{"seq":3}\n'
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SinkAway, match="No such file"):
        await JsonLines(tmp_path / "none" / "audit.jsonl").send([{"seq": 1}])


class Listener(ThreadingHTTPServer):
    """An address that answers as it is told, and keeps what it got."""

    daemon_threads = True

    def __init__(self, status: int = 204, location: str = "", hangs_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.location, self.hangs_s = status, location, hangs_s
        self.got: list[tuple[Mapping[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?to=audit"


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append(({**self.headers, "path": self.path}, body))
        time.sleep(self.server.hangs_s)
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("location", self.server.location)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.server.got.append(({"path": self.path}, b"GET"))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def listening(**how: Any) -> Iterator[Listener]:
    """A listener on a free port, until it is left."""
    listener = Listener(**how)
    thread = threading.Thread(target=listener.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


async def test_a_webhook_gets_signed_rows(tmp_path: Path) -> None:
    """Rows without record data, and their signature; the file gets the same."""
    with listening() as listener:
        key, lines_at = SecretStr("s3cret"), tmp_path / "audit.jsonl"
        settings = Settings(sink_url=listener.url, sink_key=key, sink_file=str(lines_at))
        async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
            await _runs(condor, 1)
            await _look(condor, Delivery(sinks_of(settings), tmp_path, condor.store, condor.counts))
            rows = await _all(condor)
        (headers, body), *_ = listener.got
    signed = "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    assert (headers["x-condor-signature"], headers["path"]) == (signed, "/hook?to=audit")
    told = json.loads(body)
    assert [(row["runId"], row["seq"]) for row in told["rows"]] == rows
    assert b"bolt" not in body
    lines = [json.loads(line) for line in lines_at.read_text().splitlines()]
    assert lines == told["rows"]


@pytest.mark.parametrize("status", [200, 302, 307, 404, 500])
async def test_only_the_address_itself_is_reached(status: int) -> None:
    """A redirect is no answer: the place it names hears nothing."""
    with listening() as elsewhere, listening(status=status, location=elsewhere.url) as listener:
        sending = Webhook(listener.url).send([{"seq": 1}])
        if status == 200:
            await sending
        else:
            with pytest.raises(SinkAway, match=f"answers {status}"):
                await sending
        assert (len(listener.got), elsewhere.got) == (1, [])
    with pytest.raises(SinkAway, match="cannot be reached"):
        await Webhook(listener.url).send([{"seq": 1}])


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets a variable gets no rows."""
    with listening() as proxy, listening() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        await Webhook(listener.url).send([{"seq": 1}])
        assert (len(listener.got), proxy.got) == (1, [])


async def test_who_lives_shortly_sends_what_it_added(tmp_path: Path) -> None:
    """A command after the other: each sends its own rows before it ends, notes it, and sends none twice."""
    with listening() as listener:
        settings = Settings(sink_url=listener.url)
        for _ in range(3):
            async with Condor(tools=[set_stock], home=tmp_path, settings=settings, tend=False) as condor:
                (run,) = await _runs(condor, 1)
                rows = await _all(condor)
            sent = [
                (row["runId"], row["seq"]) for _, body in listener.got for row in json.loads(body)["rows"]
            ]
            assert run in {run_id for run_id, _ in sent}
            assert sorted(sent) == sorted(rows)
        assert json.loads(position_file(tmp_path, "webhook").read_text())["seal"] > 0


async def test_a_sink_that_hangs_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run goes on and ends, and the process closes, while a sink does not answer."""
    monkeypatch.setattr(delivering, "DELIVER_EVERY_S", 0.02)
    with listening(hangs_s=4.0) as listener:
        settings = Settings(sink_url=listener.url)
        begun = time.monotonic()
        async with Condor(tools=[set_stock], home=tmp_path, settings=settings, tend=False) as condor:
            await _runs(condor, 1)
            for _ in range(100):
                if listener.got:
                    break
                await asyncio.sleep(0.02)
            await _runs(condor, 3)
        assert listener.got
        assert time.monotonic() - begun < delivering.LAST_LOOK_S + 1.5


@pytest.mark.parametrize(
    "url", ["http://audit.example/hook", "ftp://audit.example", "https://me:pw@audit.example", "https://"]
)
def test_an_address_that_is_not_safe_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Before anything is opened; what may hold a password is not shown."""
    monkeypatch.setenv("CONDOR_SINK_URL", url)
    with pytest.raises(RefusedInput, match="CONDOR_SINK_URL is not usable; write an https address"):
        read_settings()
