"""The last line of `python -m server doctor`: whom this server is ready for, and what prevents more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.operating.settings_checks import allowed_host_names, is_loopback_host
from server.settings import Settings

CheckResult = tuple[str, str, str]
"""(subject, value, problem); the problem is "" if there is none."""

REQUIRED_CHECKS = ("workers", "a small program", "store, ", "queue")
"""Prefixes of the checks that must pass before visitors can run, save or open programs."""

MINOR_CHECKS = ("font, ", "disk", "worker ")
"""Prefixes of the checks whose problems prevent nobody from using the server."""


@dataclass(frozen=True)
class ReadinessVerdict:
    """The last line of the report.

    text: one line
    public: whether the server is ready for public use
    """

    text: str
    public: bool


def judge_readiness(rows: Sequence[CheckResult], settings: Settings) -> ReadinessVerdict:
    """Return the verdict of a report."""
    broken = [
        f"{subject}: {problem}" for subject, _, problem in rows if problem and subject.startswith(REQUIRED_CHECKS)
    ]
    if broken:
        return ReadinessVerdict(f"Verdict: not ready, because {'; '.join(broken)}", False)
    reasons = [*reasons_against_public_use(rows, settings)]
    if reasons:
        return ReadinessVerdict(f"Verdict: ready for yourself, not for public use, because {'; '.join(reasons)}", False)
    remarks = sum(bool(problem) for _, _, problem in rows)
    remark = f"; {remarks} remark{'s' if remarks > 1 else ''} above" if remarks else ""
    return ReadinessVerdict(f"Verdict: ready for public use{remark}", True)


def reasons_against_public_use(rows: Sequence[CheckResult], settings: Settings) -> Iterator[str]:
    """Return the reasons against opening the server to the public."""
    for subject, _, problem in rows:
        if problem and not subject.startswith((*REQUIRED_CHECKS, *MINOR_CHECKS)):
            yield f"{subject}: {problem}"
    if settings.sandbox == "best":
        yield "GRADBOX_SANDBOX is best, so that the server would start without a layer as well: set it to require"
    if all(is_loopback_host(name) for name in allowed_host_names(settings)):
        yield "GRADBOX_HOSTS has names of this machine only"
    if not settings.public_url:
        yield "GRADBOX_PUBLIC_URL is not set"
