"""Functions that outlive a session get the code back that they would have had without it."""

import gc
from collections.abc import Iterator
from types import CodeType, FunctionType

CodePairs = dict[int, tuple[CodeType, CodeType]]
"""By the `id` of instrumented code: itself, and the code that the compiler makes of the same text."""


def code_pairs(instrumented: CodeType, plain: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of two compilations of one text, in pairs: their own, and that of functions and classes in them."""
    yield instrumented, plain
    inner, plain_inner = (
        [constant for constant in code.co_consts if isinstance(constant, CodeType)] for code in (instrumented, plain)
    )
    if [code_identity(code) for code in inner] == [code_identity(code) for code in plain_inner]:
        for inner_code, plain_inner_code in zip(inner, plain_inner, strict=True):
            yield from code_pairs(inner_code, plain_inner_code)


def code_identity(code: CodeType) -> tuple[object, ...]:
    """What the two codes of one text have in common."""
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[: code.co_argcount]


def restore_plain_code(pairs: CodePairs) -> None:
    """Give every function with instrumented code the plain one. Frames that run or wait keep what they have."""
    for function in gc.get_objects() if pairs else ():
        if type(function) is FunctionType:
            instrumented, plain = pairs.get(id(function.__code__), (None, None))
            if plain is not None and instrumented is function.__code__:
                function.__code__ = plain
