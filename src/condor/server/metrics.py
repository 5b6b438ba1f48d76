"""What is counted: numbers under names of closed sets, never a word of a record, a person or a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from condor.ports.jobs import Backlog

#: Seconds.
_BUCKETS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """The numbers of one server."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        """All zero."""
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = self._counter("condor_http_requests", "Requests, by route and status.", labels)
        self._seconds = Histogram(
            "condor_http_seconds",
            "Seconds until a request was answered; of streams, until they began.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._streams = Gauge("condor_streams_open", "Open streams.", ("kind",), registry=self._registry)
        self._dropped = self._counter("condor_streams_dropped", "Streams of readers too slow.", ("kind",))
        self._runs = self._counter("condor_runs_started", "Runs that were started here.", ("by",))
        self._answers = self._counter(
            "condor_answers", "Answers to cards, by what became of them.", ("result",)
        )
        self._passed_over = Gauge(
            "condor_passed_over",
            "Faults that cost a run nothing, by what threw (a post-tool processor, an output processor).",
            ("what",),
            registry=self._registry,
        )

        self._workers: tuple[Gauge, Gauge] | None = None

    def _counter(self, name: str, what: str, labels: tuple[str, ...]) -> Counter:
        return Counter(name, what, labels, registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def streams(self, kind: str, change: int) -> None:
        """Streams of a kind were opened or closed."""
        self._streams.labels(kind).inc(change)

    def dropped(self, kind: str) -> None:
        """A reader was too slow."""
        self._dropped.labels(kind).inc()

    def started(self, by: str) -> None:
        """A run was started, by a person or a program."""
        self._runs.labels(by).inc()

    def answer(self, result: str) -> None:
        """An answer was taken, or refused with a code."""
        self._answers.labels(result).inc()

    def backlog(self, found: Backlog | None) -> None:
        """How many workers are there, and how many runs wait for one; asked where runs are handed over.

        Args:
            found: None where nobody can tell: an old number would be told as today's.
        """
        if self._workers is None:
            self._workers = (
                Gauge("condor_workers", "Workers that live.", registry=self._registry),
                Gauge("condor_runs_waiting", "Runs that wait for a worker.", registry=self._registry),
            )
        living, waiting = self._workers
        living.set(found.workers if found is not None else math.nan)
        waiting.set(found.waiting if found is not None else math.nan)

    def text(self, passed_over: Mapping[str, int] | None = None) -> bytes:
        """All of it, as Prometheus reads it.

        Args:
            passed_over: what the runtime counted since it was opened.
        """
        for what, times in (passed_over or {}).items():
            self._passed_over.labels(what).set(times)
        return generate_latest(self._registry)


__all__ = ["Metrics"]
