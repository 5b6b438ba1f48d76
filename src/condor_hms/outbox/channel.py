"""The port to whatever carries messages: an SMS gateway, a mail server, a portal, a printing house."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Channel", "DeliveryRefused", "Message", "NotDelivered", "Receipt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message to one recipient."""

    #: The same for every try of the same message: a channel delivers a key once.
    key: str
    #: ``sms``, ``email``, ``portal``, ``letter``.
    channel: str
    #: Where it goes: a number, an address, ``Patient/id``.
    address: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The carrier says that the message was delivered."""

    #: The carrier's own id of it.
    id: str


class NotDelivered(Exception):
    """the carrier could not be asked, or has not answered: the message waits and is tried again."""


class DeliveryRefused(Exception):
    """the carrier will not deliver this message, now or later."""


class Channel(Protocol):
    """A carrier of messages."""

    async def deliver(self, message: Message) -> Receipt | None:
        """Hand over a message, once for its key; None: accepted, the receipt comes later.

        Asked again with the same key it answers for the first delivery.

        Raises:
            NotDelivered: not now. Whether it was delivered is not known.
            DeliveryRefused: never.
        """
        ...
