"""A carrier that writes each message to a table beside a shared record, as `LogChannel` does to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from condor_hms.fhir.errors import FhirError
from condor_hms.outbox.channel import Message, NotDelivered, Receipt

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MessageLog", "SharedLogChannel"]


class MessageLog(Protocol):
    """Keeps messages, each key once, whoever hands it over."""

    async def log_message(self, key: str, body: Mapping[str, str]) -> int:
        """Keep a message; its number, which is the earlier one's where the key is there already."""
        ...


class SharedLogChannel:
    """For demonstrations and tests of many processes; nobody is written to."""

    def __init__(self, log: MessageLog) -> None:
        """Open, as the record is."""
        self._log = log

    async def deliver(self, message: Message) -> Receipt | None:
        """See ``Channel.deliver``; the receipt is the row's number."""
        body = {"channel": message.channel, "address": message.address, "text": message.text}
        try:
            return Receipt(id=f"log-{await self._log.log_message(message.key, body)}")
        except FhirError as error:
            raise NotDelivered(str(error)) from error
