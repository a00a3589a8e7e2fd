"""What a worker says of a run, signed: nobody can make it up who only has access to the broker.

Web processes and workers have a key, GRADBOX_QUEUE_KEY, that the broker never sees. Of it, of the run's name and of the
message that asks for the run, both make a key for this run alone. Each entry of the run's stream that the worker writes
has a number and an HMAC-SHA256 (RFC 2104) of all its fields. So an entry is believed only if a worker wrote it, for
this run of this very program, and as the next one. The entries `start` and `busy` are the broker's own; nothing of a
trace depends on them.
"""

import hashlib
import hmac
from collections.abc import Mapping

NUMBER, SIGNATURE = b"n", b"signature"
"""The fields that are added to an entry."""


class RunSigner:
    """Signs the lines of one run.

    key: the key of the site's web processes and workers
    run: the name of the run
    message: the message that asks for the run, as it is in the broker
    """

    def __init__(self, key: bytes, run: str, message: bytes) -> None:
        site_key = hmac.digest(key, b"entries of runs", "sha256")
        self._key = hmac.digest(site_key, run.encode() + b"\n" + hashlib.sha256(message).digest(), "sha256")
        self._next = 0

    def sign_next(self, fields: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        """The fields of the run's next entry with its number and its signature."""
        numbered = {**fields, NUMBER: b"%d" % self._next}
        self._next += 1
        return {**numbered, SIGNATURE: self._compute_signature(numbered)}

    def verify_next(self, entry: Mapping[bytes, bytes]) -> bool:
        """Whether a worker wrote this entry as the run's next one, or as a later one where some are missing."""
        fields = dict(entry)
        signature = fields.pop(SIGNATURE, b"")
        if not hmac.compare_digest(signature, self._compute_signature(fields)):
            return False
        number = int(fields[NUMBER])
        if number < self._next:
            return False
        self._next = number + 1
        return True

    def _compute_signature(self, fields: Mapping[bytes, bytes]) -> bytes:
        digest = hmac.new(self._key, digestmod="sha256")
        for name in sorted(fields):
            digest.update(b"%d %d " % (len(name), len(fields[name])) + name + fields[name])
        return digest.digest()


def create_run_signer(key: str, run: str, message: bytes) -> RunSigner | None:
    """None where there is no key."""
    return RunSigner(key.encode(), run, message) if key else None
