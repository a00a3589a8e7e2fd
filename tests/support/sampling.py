"""Which of very many like cases are run: a fixed sample in `make test`, all in `make exhaustive` (docs/decisions/0027),
one with `-k`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def sampled(cases: Sequence[Any], is_sample: Callable[[int], bool]) -> list[Any]:
    """The cases for `pytest.mark.parametrize`; those that are left out of the sample are marked `exhaustive`.

    is_sample: whether the case at a position is in the sample
    """
    return [case if is_sample(k) else pytest.param(case, marks=pytest.mark.exhaustive) for k, case in enumerate(cases)]


def every(count: int) -> Callable[[int], bool]:
    """One of so many cases is in the sample: the first, and those so many further on."""
    return lambda k: k % count == 0


def places(*positions: int) -> Callable[[int], bool]:
    """The cases at these positions are in the sample."""
    return lambda k: k in positions


def in_turn(cases: Iterable[Any], variants: Sequence[Any], count: int = 1) -> list[Any]:
    """Each case with each variant, for `pytest.mark.parametrize`; in the sample each has one, and all have their turn.

    count: one of so many cases is in the sample
    """
    return [
        pytest.param(
            case, variant, marks=[] if (k % count, k // count % len(variants)) == (0, n) else [pytest.mark.exhaustive]
        )
        for k, case in enumerate(cases)
        for n, variant in enumerate(variants)
    ]


def parameters_of_run(request: pytest.FixtureRequest, argument: str) -> list[Any]:
    """The values of an argument for which this run has tests of the fixture's file: with `-k` of one, that one
    alone."""
    calls = (getattr(item, "callspec", None) for item in request.session.items if item.path == request.path)
    values: list[Any] = []
    for call in calls:
        if call and argument in call.params and call.params[argument] not in values:
            values.append(call.params[argument])
    return values
