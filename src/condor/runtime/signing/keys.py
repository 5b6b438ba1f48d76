"""The key of a home: made when it is first needed, mode 0600, and never shown but for its public part.

Law 1: a key file that others can read, or that is no key, signs nothing.
Law 2: of processes that make it at the same time one does; a key is never overwritten.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
from typing import TYPE_CHECKING, Final

from condor.core.errors import HomeUnusable, RefusedInput, show

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: In the home.
KEY_FILE: Final = "checkpoint.key"
_KIND: Final = "ed25519:"
#: Bytes of a public key, and of a signature.
_KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_FILE_BYTES_MAX: Final = 4_096


def public_key(home: Path, *, make: bool) -> str | None:
    """The public part of the home's key: ``ed25519:`` and base64.

    Args:
        make: make the key where there is none; else None is returned.

    Raises:
        HomeUnusable: it cannot be read or made, or others can read it.
    """
    key = _private(home, make=make)
    return None if key is None else _named(key)


def sign(home: Path, body: bytes) -> str:
    """The signature of the home's key on ``body``, in base64; the key is made if need be.

    Raises:
        HomeUnusable: as ``public_key``.
    """
    key = _private(home, make=True)
    assert key is not None, "made"
    return base64.b64encode(key.sign(body)).decode()


def holds(key: str, body: bytes, signature: str) -> bool:
    """Whether ``signature`` is the one of ``key`` (its public part) on ``body``."""
    _library()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw = _decoded(read_public(key).removeprefix(_KIND), _KEY_BYTES)
    signed = _decoded(signature, _SIGNATURE_BYTES)
    if raw is None or signed is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signed, body)
    except InvalidSignature:
        return False
    return True


def read_public(text: str) -> str:
    """A public key as a person gives it.

    Raises:
        RefusedInput: it is none.
    """
    word = text.strip()
    if not word.startswith(_KIND) or _decoded(word.removeprefix(_KIND), _KEY_BYTES) is None:
        raise RefusedInput(
            f"{show(word)} is no public key; it looks like {_KIND}… and `condor audit key` prints it"
        )
    return word


def _private(home: Path, *, make: bool) -> Ed25519PrivateKey | None:
    file = home / KEY_FILE
    try:
        body = _read(file)
        if body is None and make:
            _make(file)
            body = _read(file)
    except OSError as error:
        raise HomeUnusable(f"the key {file} cannot be read or made: {error.strerror}") from error
    return None if body is None else _loaded(body, file)


def _read(file: Path) -> bytes | None:
    """The file's bytes; None where there is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        if os.fstat(opened.fileno()).st_mode & 0o077:
            raise HomeUnusable(
                f"others can read or change the key {file}: move it away, so that a new one is made "
                "(chmod 600, if it is certain that nobody did)"
            )
        return opened.read(_FILE_BYTES_MAX)


def _make(file: Path) -> None:
    _library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    body = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(body)
            opened.flush()
            os.fsync(opened.fileno())
        # Whole, and only if nobody was first.
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()


def _loaded(body: bytes, file: Path) -> Ed25519PrivateKey:
    _library()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(body, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise HomeUnusable(f"{file} is no Ed25519 key; restore it, or move it away and a new one is made")
    return key


def _named(key: Ed25519PrivateKey) -> str:
    return _KIND + base64.b64encode(key.public_key().public_bytes_raw()).decode()


def _decoded(text: str, length: int) -> bytes | None:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length else None


def _library() -> None:
    """Raises: RefusedInput: the library of signatures is not installed."""
    try:
        import cryptography  # noqa: F401
    except ModuleNotFoundError:
        raise RefusedInput("a checkpoint needs cryptography: install condor-runtime[checkpoints]") from None


__all__ = ["KEY_FILE", "holds", "public_key", "read_public", "sign"]
