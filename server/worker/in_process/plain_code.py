"""Functions that outlive a session get the code back that they would have had without it."""

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType

Twins = dict[int, tuple[CodeType, CodeType]]
"""By the `id` of instrumented code: itself, and the code that the compiler makes of the same text."""


def twins(instrumented: CodeType, plain: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of two compilations of one text, in pairs: their own, and that of functions and classes in them."""
    yield instrumented, plain
    inner, plain_inner = (
        [constant for constant in code.co_consts if isinstance(constant, CodeType)] for code in (instrumented, plain)
    )
    if [key(code) for code in inner] == [key(code) for code in plain_inner]:
        for one, other in zip(inner, plain_inner, strict=True):
            yield from twins(one, other)


def key(code: CodeType) -> tuple[object, ...]:
    """What code has in common with its twin."""
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[: code.co_argcount]


def put_back(known: Twins) -> None:
    """Give every function with instrumented code the plain one. Frames that run or wait keep what they have."""
    for function in gc.get_objects() if known else ():
        if type(function) is FunctionType:
            one, plain = known.get(id(function.__code__), (None, None))
            if plain is not None and one is function.__code__:
                function.__code__ = plain
