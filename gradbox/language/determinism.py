"""What may change a program's result from run to run: clocks, randomness from outside, and indirect access to them.

Judged by the names in a program's tree before it runs. A name too many costs a result its place in the cache; a name
too few would show one run's clock to everybody. Addresses, and the contents of `torch.empty`, do not count.
"""

import ast
import re
from collections.abc import Iterator

from gradbox.language.tree import SyntaxNodes

_NONDETERMINISTIC_ATTRIBUTES = """
_inst _rand _urandom asctime benchmark BitGenerator clock_getres clock_gettime ctime elapsed_time Event get_count
get_ident get_native_id get_stats getallocatedblocks getloadavg getpid getppid getrandom getrusage gettid gmtime
localtime logging mem_get_info monotonic monotonic_ns now perf_counter perf_counter_ns process_time process_time_ns
randbits secrets seed_all strftime SystemRandom thread_time thread_time_ns time time_ns timeit Timer times today measure
urandom utcnow cpu_count stat lstat fstat scandir getmtime getatime getctime st_mtime st_atime st_ctime tempfile
st_mtime_ns st_atime_ns st_ctime_ns st_ino
"""
_NONDETERMINISTIC_PREFIXES = ("clock", "datetime", "profile", "tqdm", "trange", "uuid")
_SEEDED_BY_SYSTEM = "default_rng MT19937 PCG64 PCG64DXSM Philox Random RandomState seed SeedSequence SFC64"
_DYNAMIC_ACCESS = """
_C __builtins__ __code__ __dict__ __getattr__ __getattribute__ __import__ __self__ attrgetter builtins CompilationUnit
eval_str exec ForwardRef get_annotations get_field get_referents get_type_hints getattr_static getclosurevars getmembers
getmembers_static globals importlib locals methodcaller rundocs runstring vars
"""
_NONDETERMINISTIC_GLOBALS = "__builtins__ __import__ datetime eval exec getattr globals locals logging timeit vars"

NONDETERMINISTIC_ATTRIBUTES = frozenset(_NONDETERMINISTIC_ATTRIBUTES.split())
"""Attributes and imports that read a clock, the system's randomness, or what the system or the garbage collector knows
of this process, or that hold a generator, whose type can make others with a seed from the system."""

SEEDED_BY_SYSTEM = frozenset(_SEEDED_BY_SYSTEM.split())
"""Attributes that draw a seed from the system unless they are called with a number."""

DYNAMIC_ACCESS = frozenset(_DYNAMIC_ACCESS.split())
"""Attributes and imports that give access to any other by a string."""

NONDETERMINISTIC_GLOBALS = frozenset(_NONDETERMINISTIC_GLOBALS.split())
"""Builtins and modules that do; `getattr` with a constant name is judged by that name."""

DATE_DTYPE_PATTERN = re.compile(r"datetime|\bM8\b|(?:^|[<>=|,])M(?:,|$)")
"""In a string: a numpy dtype that can hold today's date, also by its letter alone."""


def nondeterministic_names(nodes: SyntaxNodes) -> list[str]:
    """The sorted names because of which a program may give another result each time; empty if it can't."""
    suspects = _nodes_to_judge(nodes)
    if not suspects:
        return []
    calls = nodes.of_kind(ast.Call)
    seeded = {id(call.func) for call in calls if has_constant_seed(call)}
    looked_up = {id(call.func) for call in calls if is_getattr_with_constant_name(call)}
    names: set[str] = set()
    for node in suspects:
        fixed = id(node) in seeded
        names.update(
            name
            for name in nondeterministic_names_in_node(node, id(node) in looked_up)
            if not (fixed and name in SEEDED_BY_SYSTEM)
        )
    return sorted(names)


def _nodes_to_judge(nodes: SyntaxNodes) -> list[ast.AST]:
    """The nodes for which `nondeterministic_names_in_node` may find something. Names and attributes are looked up in
    sets first."""
    attributes = nodes.of_kind(ast.Attribute)
    suspect_attributes = {name for name in {node.attr for node in attributes} if is_nondeterministic_name(name)}
    return [
        *nodes.of_kinds(ast.Import, ast.ImportFrom, ast.MatchClass),
        *(node for node in nodes.of_kind(ast.Name) if node.id in NONDETERMINISTIC_GLOBALS),
        *(node for node in attributes if node.attr in suspect_attributes),
        *(call for call in nodes.of_kind(ast.Call) if is_getattr_with_constant_name(call)),
        *(node for node in nodes.of_kind(ast.Constant) if type(node.value) is str),
    ]


def nondeterministic_names_in_node(node: ast.AST, constant_lookup: bool) -> Iterator[str]:
    """The names in this node that may change a result.

    constant_lookup: the node is a `getattr` with a constant name
    """
    match node:
        case ast.Name(id=name):
            if name in NONDETERMINISTIC_GLOBALS and not (name == "getattr" and constant_lookup):
                yield name
        case ast.Attribute(attr=name):
            yield from yield_name_if_nondeterministic(name)
        case ast.Import(names=aliases):
            for alias in aliases:
                for part in alias.name.split("."):
                    yield from yield_name_if_nondeterministic(part)
        case ast.ImportFrom(module=module, names=aliases):
            for part in [*(module or "").split("."), *(alias.name for alias in aliases)]:
                yield from yield_name_if_nondeterministic(part)
        case ast.MatchClass(kwd_attrs=attributes):
            for name in attributes:
                yield from yield_name_if_nondeterministic(name)
        case ast.Call(args=[_, ast.Constant(value=str(name)), *_]) if is_getattr_with_constant_name(node):
            yield from yield_name_if_nondeterministic(name)
        case ast.Constant(value=str(text)) if DATE_DTYPE_PATTERN.search(text):
            yield text[:40]


def is_nondeterministic_name(name: str) -> bool:
    """Whether an attribute or an import of that name may change a result."""
    return (
        name in NONDETERMINISTIC_ATTRIBUTES
        or name in SEEDED_BY_SYSTEM
        or name in DYNAMIC_ACCESS
        or name == "*"
        or name.startswith(_NONDETERMINISTIC_PREFIXES)
    )


def yield_name_if_nondeterministic(name: str) -> Iterator[str]:
    """The name if it may change a result."""
    if is_nondeterministic_name(name):
        yield name


def has_constant_seed(call: ast.Call) -> bool:
    """Whether the first argument, or `seed`, is a literal number."""
    values = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "seed")]
    return any(isinstance(value, ast.Constant) and type(value.value) is int for value in values)


def is_getattr_with_constant_name(call: ast.Call) -> bool:
    """Whether this is a `getattr` whose second argument is a literal string."""
    is_getattr = isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1
    return is_getattr and not isinstance(call.args[0], ast.Starred) and isinstance(call.args[1], ast.Constant)
