"""The id of a scenario: a hash of everything shown, in characters that no eye confuses and that spell no word."""

import hashlib
import json
import re
from collections.abc import Iterator

from server.wire.saved_programs import Content

ALPHABET = "256789dfhjkmnprtvwx"
"""No vowel, no digit that stands for one (0, 1, 3, 4), and one of each group of look-alikes."""

MIN_LENGTH, LENGTH_STEP = 10, 2
_MAX_LENGTH = 61
"""Characters that 256 bits need."""

_ID = re.compile(f"[{ALPHABET}]{{{MIN_LENGTH},{_MAX_LENGTH}}}")


def canonical(content: Content) -> str:
    """One text for one content, of ASCII alone; what has its default is left out, so that a new field changes none."""
    content_fields = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps(content_fields, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def candidate_ids(digest: str) -> Iterator[str]:
    """The ids that a content may have, from the shortest on: it has the first that no other content has."""
    number, id_ = int(digest, 16), ""
    for _ in range(_MAX_LENGTH):
        number, remainder = divmod(number, len(ALPHABET))
        id_ += ALPHABET[remainder]
    yield from (id_[:length] for length in range(MIN_LENGTH, _MAX_LENGTH, LENGTH_STEP))
    yield id_


def is_plausible(text: str) -> bool:
    """Whether this can be an id at all."""
    return _ID.fullmatch(text) is not None
