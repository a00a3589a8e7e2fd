"""Reads the result of a gradient check from its trace."""

from gradbox.assembly.recorded_trace import RecordedTrace
from gradbox.wire.api import GradientCheckReply
from gradbox.wire.trace import Outcome


def read_gradient_check(body: bytes) -> GradientCheckReply:
    """Read the check from a gzipped trace."""
    trace = RecordedTrace(body, "finished").decoded()
    message = outcome_message(trace.outcome)
    return GradientCheckReply(status=trace.outcome.status, message=message, check=trace.gradient_check)


def outcome_message(outcome: Outcome) -> str:
    """Why a run has no check, or what its program raised; "" if it finished."""
    if outcome.stopped is not None:
        return f"the run was stopped at the limit {outcome.stopped.limit}: {outcome.stopped.value}"
    if outcome.error is not None:
        return f"{outcome.error.type}: {outcome.error.message}"
    return ""
