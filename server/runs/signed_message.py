"""Signs what the web processes of one site hand to each other through Redis, which others can write to as well.

HMAC-SHA256 (RFC 2104). A message is 32 bytes of signature, then its content.
"""

import hmac

SIGNATURE_SIZE = 32


class MessageSigner:
    """Signs and checks messages for one purpose, so that none is taken for a message of another.

    secret: the site's, the same in all its web processes. purpose: any text, one for each kind of message.
    """

    def __init__(self, secret: bytes, purpose: bytes) -> None:
        self._key = hmac.digest(secret, purpose, "sha256")

    def sign(self, address: str, content: bytes) -> bytes:
        """The message. address: where it is put, a key or a recipient; it is no valid message anywhere else."""
        return self._signature(address, content) + content

    def content_of(self, address: str, message: bytes) -> bytes | None:
        """The content of a message that was found at an address; None where nobody with the secret put it there."""
        signature, content = message[:SIGNATURE_SIZE], message[SIGNATURE_SIZE:]
        return content if hmac.compare_digest(signature, self._signature(address, content)) else None

    def _signature(self, address: str, content: bytes) -> bytes:
        return hmac.digest(self._key, address.encode() + b"\n" + content, "sha256")
