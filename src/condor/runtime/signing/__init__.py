"""Signatures on checkpoints: Ed25519, with a key of the home's."""

from condor.runtime.signing.keys import KEY_FILE, holds, public_key, read_public, sign

__all__ = ["KEY_FILE", "holds", "public_key", "read_public", "sign"]
