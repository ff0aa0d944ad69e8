"""Signatures of Standard Webhooks, as the server puts them on what it posts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import TypeAlias

SigningKey: TypeAlias = str | Mapping[str, str]
"""A key (``whsec_…``; while keys change, several with spaces between them), or one for each workspace by its id."""

PREFIX = "whsec_"


class Unsigned(Exception):
    """A request that was not signed, or not by who it says."""


def check_signature(
    signing_key: SigningKey, workspace: str, headers: Mapping[str, str], body: bytes, max_age: float | None
) -> None:
    """Raises ``Unsigned`` unless the body was signed with the key. The names of headers are in small letters."""
    keys = signing_key if isinstance(signing_key, str) else signing_key.get(workspace)
    if keys is None:
        raise Unsigned(f"there is no key for the workspace {workspace}")
    id, timestamp, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (id and timestamp and given):
        raise Unsigned("there is no signature: webhook-id, webhook-timestamp and webhook-signature")
    if max_age is not None and not (timestamp.isdecimal() and abs(time.time() - int(timestamp)) <= max_age):
        raise Unsigned("the signature is too old, or of the future")
    content = f"{id}.{timestamp}.".encode() + body
    wanted = [b"v1," + base64.b64encode(hmac.digest(secret_of(key), content, hashlib.sha256)) for key in keys.split()]
    # Every pair is compared, so that the time it takes says nothing.
    fits = [hmac.compare_digest(one, other.encode()) for one in wanted for other in given.split()]
    if not any(fits):
        raise Unsigned("the signature does not fit")


def secret_of(key: str) -> bytes:
    try:
        if not key.startswith(PREFIX):
            raise ValueError
        return base64.b64decode(key.removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        raise ValueError("a signing key is `whsec_` and bytes in base64") from None
