"""The third-party FHIR server as a process: started once for a session, put back before each test."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from urllib.request import Request, urlopen

from condor_hms.demo import demo_resources
from tests.needs import needs

__all__ = ["TOKEN", "FhirServer", "started_server"]

HERE = Path(__file__).parent
#: What the server wants to see; not a secret.
TOKEN = "token-of-the-test-server"


class FhirServer:
    """A running server; it ends when its standard input does."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        """The process answers on this port of 127.0.0.1."""
        self._process = process
        self.base_url = f"http://127.0.0.1:{port}/fhir/R4"

    def reset(self) -> str:
        """The record as it was loaded; the base URL."""
        headers = {"authorization": f"Bearer {TOKEN}"}
        with urlopen(Request(f"{self.base_url}/$reset", method="POST", headers=headers), timeout=30):
            return self.base_url

    def stop(self) -> None:
        """End it and wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        assert self._process.stdout is not None
        self._process.stdout.close()


@cache
def started_server() -> FhirServer:
    """The server of this session; skips where it cannot run, and fails where it has to (``CI``)."""
    needs(what_is_missing())
    folder = tempfile.mkdtemp(prefix="condor-fhir-server-")
    record = Path(folder) / "record.ndjson"
    record.write_text("\n".join(map(json.dumps, demo_resources())), encoding="utf-8")
    process = subprocess.Popen(
        ["node", str(HERE / "server.mjs"), str(record)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "FHIR_TEST_TOKEN": TOKEN},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    shutil.rmtree(folder)
    assert line, "the FHIR server ended before it answered"
    server = FhirServer(process, json.loads(line)["port"])
    atexit.register(server.stop)
    return server


def what_is_missing() -> str:
    if shutil.which("node") is None:
        return "there is no node"
    if not (HERE / "node_modules" / "@medplum" / "fhir-router").is_dir():
        return "its packages are not installed (make wire)"
    return ""
