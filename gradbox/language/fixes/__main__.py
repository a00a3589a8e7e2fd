"""Proposes fixes in a process of its own, for the text that it parses is a stranger's: `python -m
gradbox.language.fixes`.

Reads a `ProposalRequest` as JSON from the standard input and writes `Proposals`.
"""

import resource
import sys

from gradbox.language import paste
from gradbox.language.fixes import Hint, propose
from gradbox.wire.findings import LineEdit, Proposal, ProposalRequest, Proposals

CPU_SECONDS = 3
MEMORY = 1 << 29
"""Bytes of address space."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    request = ProposalRequest.model_validate_json(sys.stdin.buffer.read())
    hints = [Hint(hint.kind, hint.line, dict(hint.facts), tuple(request.names)) for hint in request.hints]
    proposals = [
        Proposal(
            kind=fix.kind,
            source=fix.source,
            edits=[LineEdit(line=edit.line, old=edit.old, new=edit.new) for edit in fix.edits],
            args=fix.args,
        )
        for fix in propose(paste.normalise_pasted_text(request.source).source, hints)
    ]
    sys.stdout.write(Proposals(proposals=proposals).model_dump_json())


if __name__ == "__main__":
    main()
