"""The outbox: one message for one key at whatever moment it is cut off, and “sent” only with a receipt."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from condor import ToolError, ToolResult
from condor_hms.fhir.errors import Unavailable
from condor_hms.outbox import DeliveryRefused, LogChannel, Message, NotDelivered, Outbox, Receipt
from tests.hms.catalogue.desk import MELISSA, OKAFOR, Desk

SEND = "communication.send"
TEXT: dict[str, Any] = {"recipient": MELISSA, "channel": "sms", "message": "Your prescription is ready."}
MESSAGE = Message(key="k1", channel="sms", address="(508) 747-5899", text="Hello.")
NOW = datetime.datetime(2026, 11, 30, 9, 30, tzinfo=datetime.UTC)


class Carrier:
    """Answers as it is told to, and remembers what it was given."""

    def __init__(self, *answers: Receipt | Exception | None) -> None:
        self.answers = list(answers)
        self.given: list[Message] = []

    async def deliver(self, message: Message) -> Receipt | None:
        self.given.append(message)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def prepared(desk: Desk) -> str:
    """A message that is in the record and has not left."""
    desk.hospital.channels.clear()  # type: ignore[attr-defined]
    result = await desk.call(SEND, TEXT, approved_by=OKAFOR)
    assert isinstance(result, ToolResult)
    assert isinstance(result.value, dict)
    return str(result.value["reference"])


def outbox(desk: Desk, carrier: Carrier) -> Outbox:
    return Outbox(desk.fhir, {"sms": carrier}, now=lambda: NOW)


async def test_a_message_without_a_carrier_waits(desk: Desk) -> None:
    """It is in the record, queued, and said to be; nothing claims that it was sent."""
    desk.hospital.channels.clear()  # type: ignore[attr-defined]
    result = await desk.call(SEND, TEXT, approved_by=OKAFOR)
    assert (result.outcome, result.value["status"]) == ("degraded", "preparation")
    said = desk.report(SEND, TEXT, result.value)
    assert said.startswith("Message queued by SMS to Melissa Smith: no receipt from the carrier yet")


async def test_a_receipt_completes_it(desk: Desk) -> None:
    """Time and receipt are in the record; another try hands nothing over again."""
    reference, carrier = await prepared(desk), Carrier(Receipt(id="r-7"))
    row = await outbox(desk, carrier).deliver(reference)
    assert (row["status"], row["sent"]) == ("completed", "2026-11-30T09:30:00Z")
    assert {"system": "urn:condor:receipt", "value": "r-7"} in row["identifier"]
    assert (await outbox(desk, carrier).deliver(reference)) == row
    assert [(one.channel, one.text) for one in carrier.given] == [("sms", TEXT["message"])]
    provenances = await desk.search("Provenance", target=reference)
    assert [row.get("reason") for row in provenances] == [None, [{"text": "delivery: completed"}]]


async def test_without_a_receipt_it_is_on_its_way(desk: Desk) -> None:
    """Handed over, then receipted; asked again with the same key."""
    reference, carrier = await prepared(desk), Carrier(None, None, Receipt(id="r-8"))
    states = [(await outbox(desk, carrier).deliver(reference))["status"] for _ in range(3)]
    assert states == ["in-progress", "in-progress", "completed"]
    assert len({message.key for message in carrier.given}) == 1


async def test_what_is_not_delivered_now_is_tried_again(desk: Desk) -> None:
    """After a start everything that waits goes out, once."""
    reference, carrier = await prepared(desk), Carrier(NotDelivered("no route"), Receipt(id="r-9"))
    assert (await outbox(desk, carrier).deliver(reference))["status"] == "preparation"
    assert await outbox(desk, carrier).deliver_waiting() == 1
    assert await outbox(desk, carrier).deliver_waiting() == 0
    assert (await desk.fhir.read(reference))["status"] == "completed"


async def test_what_is_refused_is_stopped_and_said(desk: Desk) -> None:
    """Never delivered, with the reason; the call fails and says so."""
    carrier = Carrier(DeliveryRefused("number unknown"))
    desk.hospital.channels["sms"] = carrier  # type: ignore[index]
    with pytest.raises(ToolError, match=r"Message by SMS to Melissa Smith was not sent: number unknown"):
        await desk.call(SEND, TEXT, approved_by=OKAFOR)
    [row] = [row for row in await desk.search("Communication") if row["id"] != "com-7001"]
    assert (row["status"], row["statusReason"]) == ("stopped", {"text": "number unknown"})


async def test_two_processes_are_one_message(desk: Desk) -> None:
    """Both hand it over under one key; the one that is slower takes what the other kept."""
    reference, carrier = await prepared(desk), Carrier(Receipt(id="r-1"), Receipt(id="r-1"))
    first, second = outbox(desk, carrier), outbox(desk, carrier)
    row = await desk.fhir.read(reference)
    done = await first.deliver(reference)
    assert await second._kept(row, status="completed", sent="2026-11-30T10:00:00Z") == done


async def test_an_outcome_that_cannot_be_kept_stays_queued(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delivered, and the record is gone for a moment: it waits, and the key makes the next try the same."""
    reference, carrier = await prepared(desk), Carrier(Receipt(id="r-1"), Receipt(id="r-1"))
    with monkeypatch.context() as broken:

        async def down(_bundle: Any) -> None:
            raise Unavailable("disk")

        broken.setattr(desk.fhir, "transact", down)
        assert await outbox(desk, carrier).deliver_waiting() == 0
    assert await outbox(desk, carrier).deliver_waiting() == 1
    assert carrier.given[0] == carrier.given[1]
    assert (await desk.fhir.read(reference))["status"] == "completed"


async def test_the_log_writes_a_key_once(tmp_path: Path) -> None:
    """Also from another process's channel, and after a line that a crash cut short."""
    path = tmp_path / "outbox.log"
    assert await LogChannel(path).deliver(MESSAGE) == Receipt(id="log-1")
    assert await LogChannel(path).deliver(MESSAGE) == Receipt(id="log-1")
    with path.open("ab") as file:
        file.write(b'{"key":"k2","chan')
    assert await LogChannel(path).deliver(Message(key="k2", channel="sms", address="x", text="y")) == Receipt(
        id="log-2"
    )
    assert [json.loads(line)["key"] for line in path.read_text().splitlines()] == ["k1", "k2"]
    with pytest.raises(NotDelivered):
        await LogChannel(tmp_path / "none" / "outbox.log").deliver(MESSAGE)


@pytest.mark.parametrize("channel", ["email", "letter", "portal", "sms"])
async def test_an_address_is_masked_on_the_card(desk: Desk, channel: str) -> None:
    """Enough to tell two apart; the whole of it is in the record alone. Without one nothing can be sent."""
    args = {**TEXT, "channel": channel}
    if channel == "email":
        with pytest.raises(ToolError, match="no email address on record"):
            await desk.preview(SEND, args)
        return
    card = await desk.preview(SEND, args)
    shown = str(card.context[0]["text"])
    assert shown.startswith("Melissa Smith, ")
    assert "747-5899" not in str(card)
    assert "397 Spring St" not in str(card)
