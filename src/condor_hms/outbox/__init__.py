"""Messages leave through an outbox: approved first, then delivered, and “sent” only with a receipt."""

from __future__ import annotations

from condor_hms.outbox.channel import Channel, DeliveryRefused, Message, NotDelivered, Receipt
from condor_hms.outbox.log_channel import LogChannel
from condor_hms.outbox.outbox import Outbox
from condor_hms.outbox.shared_log import SharedLogChannel

__all__ = [
    "Channel",
    "DeliveryRefused",
    "LogChannel",
    "Message",
    "NotDelivered",
    "Outbox",
    "Receipt",
    "SharedLogChannel",
]
