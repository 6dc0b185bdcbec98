"""Signatures as Standard Webhooks has them, so that receivers find a library in any language."""

import base64
import hashlib
import hmac
import secrets
import uuid

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, event_id: uuid.UUID, timestamp: int, body: str) -> dict[str, str]:
    """The three headers: HMAC-SHA256 over the id, the time and the body, joined by full stops."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, f"{event_id}.{timestamp}.{body}".encode(), hashlib.sha256)
    return {
        "webhook-id": str(event_id),
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signed.digest()).decode()}",
    }
