"""What a program may use: finds every refusal, with its place and its reason.

This gives clear messages; it confines nobody. A program that gets around it meets the worker's own confinement.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from gradbox.language.names import ImportedModules, bound_names
from gradbox.language.program_lines import parse_without_warnings
from gradbox.language.tree import SyntaxNodes
from gradbox.wire.program import Refusal

_ALLOWED_MODULE_NAMES = """
torch numpy __future__ abc argparse array base64 bisect bz2 calendar cmath codecs collections colorsys configparser
contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib enum errno fnmatch fractions functools gc
getopt glob graphlib gzip hashlib heapq hmac html inspect io itertools json keyword locale logging lzma math numbers
operator optparse os pathlib pickle platform pprint queue random re reprlib resource secrets shlex shutil stat
statistics string struct sys tarfile tempfile textwrap time timeit traceback types typing typing_extensions
unicodedata uuid warnings weakref zipfile zlib
"""
DEFAULT_PACKAGES = ("einops", "tqdm")
"""Packages that a program may import if they are installed, unless the host says otherwise: see docs/decisions."""

_UNAVAILABLE = {
    "missing": """
IPython PIL accelerate cv2 d2l datasets einops fastai graphviz gym gymnasium ipywidgets jax keras lightning
matplotlib nltk pandas plotly pytorch_lightning requests scipy seaborn sklearn spacy tensorboard tensorboardX
tensorflow torchaudio torchinfo torchmetrics torchsummary torchtext torchvision torchviz tqdm transformers wandb
""",
    "files": "dbm mmap shelve sqlite3",
    "network": "socket urllib http ssl ftplib smtplib",
    "processes": "subprocess multiprocessing threading concurrent signal asyncio",
    "interpreter": "builtins ctypes importlib code codeop ast dis marshal pdb",
}
_FORBIDDEN_MEMBERS_BY_REASON = {
    "missing": "torch.onnx torch.utils.tensorboard",
    "files": """
torch.from_file torch.package numpy.fromfile numpy.memmap torchvision.datasets.DatasetFolder
torchvision.datasets.ImageFolder
""",
    "network": """
torch.hub torch.utils.model_zoo sklearn.datasets.fetch_20newsgroups sklearn.datasets.fetch_20newsgroups_vectorized
sklearn.datasets.fetch_california_housing sklearn.datasets.fetch_covtype sklearn.datasets.fetch_file
sklearn.datasets.fetch_kddcup99 sklearn.datasets.fetch_lfw_pairs sklearn.datasets.fetch_lfw_people
sklearn.datasets.fetch_olivetti_faces sklearn.datasets.fetch_openml sklearn.datasets.fetch_rcv1
sklearn.datasets.fetch_species_distributions torchvision.datasets.CIFAR10 torchvision.datasets.CIFAR100
torchvision.datasets.CelebA torchvision.datasets.EMNIST torchvision.datasets.FashionMNIST torchvision.datasets.KMNIST
torchvision.datasets.MNIST torchvision.datasets.QMNIST torchvision.datasets.STL10 torchvision.datasets.SVHN
torchvision.datasets.USPS
""",
    "processes": """
torch.distributed torch.multiprocessing os.abort os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp
os.execvpe os.fork os.forkpty os.kill os.killpg os.pipe os.popen os.posix_spawn os.posix_spawnp os.spawnl os.spawnle
os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.startfile os.system os.wait os.waitpid
""",
    "compiler": """
torch._dynamo.explain torch._dynamo.export torch._dynamo.optimize torch._higher_order_ops torch._inductor torch.cond
torch.nn.attention.flex_attention.flex_attention torch.utils.cpp_extension numpy.f2py
""",
    "interpreter": """
numpy.ctypeslib sys.modules sys.settrace sys.setprofile sys._getframe sys.meta_path gc.get_objects gc.get_referrers
inspect.currentframe inspect.stack
""",
}
_ATTRIBUTES = {
    "interpreter": """
__subclasses__ __globals__ __builtins__ __loader__ __spec__ __import__ f_globals f_locals f_back f_builtins
gi_frame cr_frame ag_frame tb_frame
""",
    "processes": "share_memory share_memory_",
    "files": "fileno tofile",
}
ALLOWED_MODULES = set(_ALLOWED_MODULE_NAMES.split())
"""Top-level modules that may be imported, with everything below them. `allow_packages` adds those of packages."""

UNAVAILABLE_MODULES: dict[str, str] = {}
"""Modules that programs often import, and why they are not available."""


def allow_packages(names: Iterable[str]) -> None:
    """From now on programs of this process may import these packages, and no others, beside torch, numpy and the
    standard library.

    names: of their top-level modules
    """
    ALLOWED_MODULES.clear()
    ALLOWED_MODULES.update(_ALLOWED_MODULE_NAMES.split(), names)
    UNAVAILABLE_MODULES.clear()
    for why, modules in _UNAVAILABLE.items():
        UNAVAILABLE_MODULES.update({name: why for name in modules.split() if name not in ALLOWED_MODULES})


allow_packages(name for name in DEFAULT_PACKAGES if find_spec(name) is not None)

FORBIDDEN_MEMBERS = {name: why for why, names in _FORBIDDEN_MEMBERS_BY_REASON.items() for name in names.split()}
"""Parts of allowed modules that are not available, and why."""

ALLOWED_MEMBERS = frozenset(["torch._inductor.config"])
"""Parts of closed modules that are available: programs set options there."""

FORBIDDEN_ATTRIBUTES = {name: why for why, names in _ATTRIBUTES.items() for name in names.split()}
"""Attributes that lead from a value to the interpreter's own objects or to other processes, and why they are not
available."""

FORBIDDEN_BUILTINS = {
    "eval": "text",
    "exec": "text",
    "compile": "text",
    "__import__": "import",
    "breakpoint": "keyboard",
    "__builtins__": "interpreter",
    "__loader__": "interpreter",
    "__spec__": "interpreter",
}
"""Builtins that are not available. A program that binds such a name uses its own."""

REFUSAL_REASONS = {
    "import": "it is not one of the modules that a program here may import",
    "missing": "this server does not offer it",
    "files": "it needs a file on disk, and the files of a program here are kept in memory while it runs",
    "network": "a program here has no network access",
    "processes": "a program here runs alone, in one process",
    "keyboard": "a program here has no keyboard while it runs",
    "text": "a program here runs its own text and can't run other text as code",
    "compiler": "statements are followed one by one; run the plain function instead",
    "interpreter": "it gives access to the interpreter itself, not to tensors",
    "relative": "the program is a single file",
}
"""The reasons by key; the page has the same in other languages."""


MAX_DEPTH = 300
"""Levels of a tree. CPython's compiler can handle about three times as many, including the instrumentation."""

MAX_REFUSALS = 200
"""Refusals of one program."""


TOO_DEEP_MESSAGE = "this is nested too deeply"
NULL_BYTE_MESSAGE = "source code cannot contain null bytes"


def parse_and_check_program(
    source: str, nodes: SyntaxNodes | None = None, is_compiled_next: bool = False
) -> tuple[SyntaxNodes | None, list[Refusal]]:
    """The program's nodes, and every reason not to run it, in order of lines. Columns count characters.

    nodes: the syntax tree of the source, if it was parsed already
    is_compiled_next: the caller compiles the tree if there are no refusals, and so finds what only the compiler does
    """
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        return None, [Refusal(line=line, message=NULL_BYTE_MESSAGE, key="syntax", args={"text": NULL_BYTE_MESSAGE})]
    try:
        nodes = nodes or SyntaxNodes(parse_without_warnings(source))
        if len(nodes.levels) > MAX_DEPTH:
            return None, [Refusal(line=first_line_beyond_max_depth(nodes.levels), message=TOO_DEEP_MESSAGE, key="deep")]
        refused = list(_PolicyChecker(nodes).find_refused_nodes())
        error = find_compile_error(nodes.tree) if refused or not is_compiled_next else None
        if error is not None:
            return None, [syntax_refusal(error, source, encoded=True)]
    except SyntaxError as error:
        return None, [syntax_refusal(error, source)]
    except (RecursionError, MemoryError):
        return None, [too_deep_refusal(source)]
    except ValueError as error:  # half a character, or a number too long to read
        return None, [Refusal(line=1, message=str(error), key="syntax", args={"text": str(error)})]
    lines = source.split("\n")
    refusals = [_make_refusal(lines, node, what, why) for node, what, why in refused]
    _add_missing_package_and_its_uses(refusals, nodes)
    refusals.sort(key=lambda refusal: (refusal.line, refusal.col))
    return nodes, refusals[:MAX_REFUSALS]


MAX_LINES_PER_PACKAGE = 40
"""Lines of one package that a refusal names."""


def _add_missing_package_and_its_uses(refusals: list[Refusal], nodes: SyntaxNodes) -> None:
    """Add to each refused import of a missing package which package that is, and which lines use what it binds."""
    uses: dict[str, set[int]] = {}
    modules = ImportedModules(nodes) if any(refusal.key in ("missing", "import") for refusal in refusals) else None
    for name in nodes.of_kind(ast.Name) if modules is not None else ():
        path = modules.names.get(name.id) if modules is not None else None
        if path is not None and type(name.ctx) is ast.Load:
            uses.setdefault(path.partition(".")[0], set()).add(name.lineno)
    for refusal in refusals:
        imported = re.match(r"import of '(\w+)[\w.]*'$", str(refusal.args.get("what", "")))
        if refusal.key in ("missing", "import") and imported is not None:
            lines = sorted(uses.get(imported[1], ()))[:MAX_LINES_PER_PACKAGE]
            refusal.args |= {"package": imported[1], "lines": lines}


def find_compile_error(tree: ast.Module) -> SyntaxError | None:
    """Errors that only the compiler finds, like `return` outside a function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(tree, "<program>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
    return None


def first_line_beyond_max_depth(depths: list[list[ast.AST]]) -> int:
    """The line at which a tree exceeds MAX_DEPTH levels."""
    placed = (node.lineno for level in depths[MAX_DEPTH::-1] for node in level if isinstance(node, ast.stmt | ast.expr))
    return next(placed, 1)


class _PolicyChecker:
    def __init__(self, nodes: SyntaxNodes) -> None:
        self._nodes = nodes
        self._bound = bound_names(nodes)
        self._modules = ImportedModules(nodes)

    def find_refused_nodes(self) -> Iterator[tuple[ast.AST, str, str]]:
        """Yield (node, what is refused, key of the reason)."""
        on_the_way: set[ast.AST] = set()  # to a member that is open
        for node in self._nodes.imports():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._refuse_module(alias, alias.name)
            else:
                if node.level:
                    yield node, f"import of '{'.' * node.level}{node.module or ''}'", "relative"
                elif node.module is not None:
                    open_ = ALLOWED_MEMBERS.issuperset(f"{node.module}.{alias.name}" for alias in node.names)
                    refused = [] if open_ else list(self._refuse_module(node, node.module))
                    yield from refused
                    if not refused:
                        for alias in node.names:
                            yield from self._refuse_member(alias, f"{node.module}.{alias.name}")
        for attribute in self._nodes.of_kind(ast.Attribute):
            if attribute.attr in FORBIDDEN_ATTRIBUTES:
                yield attribute, f"'{attribute.attr}'", FORBIDDEN_ATTRIBUTES[attribute.attr]
            else:
                path = self._modules.dotted_path(attribute)
                if path in ALLOWED_MEMBERS:
                    on_the_way.add(attribute.value)
                elif path is not None and attribute not in on_the_way and path.split(".")[0] not in UNAVAILABLE_MODULES:
                    yield from self._refuse_member(attribute, path)
        for name in self._nodes.of_kind(ast.Name):
            if name.id in FORBIDDEN_BUILTINS and type(name.ctx) is ast.Load and name.id not in self._bound:
                yield name, f"'{name.id}'", FORBIDDEN_BUILTINS[name.id]

    def _refuse_module(self, node: ast.AST, name: str) -> Iterator[tuple[ast.AST, str, str]]:
        top = name.split(".")[0]
        if top in UNAVAILABLE_MODULES:
            yield node, f"import of '{name}'", UNAVAILABLE_MODULES[top]
        elif top not in ALLOWED_MODULES:
            yield node, f"import of '{name}'", "import"
        else:
            yield from self._refuse_member(node, name, f"import of '{name}'")

    def _refuse_member(self, node: ast.AST, path: str, what: str | None = None) -> Iterator[tuple[ast.AST, str, str]]:
        """Refuse exactly the closed member; what is below it is refused there already."""
        parts = path.split(".")
        if not ALLOWED_MEMBERS.isdisjoint(".".join(parts[:k]) for k in range(1, len(parts) + 1)):
            return
        for k in range(1, len(parts) + 1):
            why = FORBIDDEN_MEMBERS.get(".".join(parts[:k]))
            if why is not None and (k == len(parts) or what is not None):
                yield node, what or f"'{path}'", why


def _make_refusal(lines: list[str], node: Any, what: str, why: str) -> Refusal:
    text = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    same = node.end_lineno == node.lineno
    return Refusal(
        line=node.lineno,
        col=character_column(text, node.col_offset),
        end_col=character_column(text, node.end_col_offset) if same else None,
        message=f"{what} is not available: {REFUSAL_REASONS[why]}",
        key=why,
        args={"what": what},
    )


def syntax_refusal(error: SyntaxError, source: str, encoded: bool = False) -> Refusal:
    """The refusal with Python's own message and position. With `encoded`, columns count bytes, as the compiler's do and
    the parser's do not."""
    lines = source.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    text = lines[line - 1]
    col = max((error.offset or 1) - 1, 0)
    end = error.end_offset - 1 if error.end_offset and error.end_lineno == error.lineno else None
    if encoded:
        col, end = character_column(text, col), None if end is None else character_column(text, end)
    end = None if end is None or end <= col else end
    return Refusal(line=line, col=col, end_col=end, message=error.msg, key="syntax", args={"text": error.msg})


def too_deep_refusal(source: str) -> Refusal:
    """The refusal of a program that CPython itself can't parse, at about the line with the most open brackets."""
    depth = most = 0
    where = line = 1
    for character in source:
        if character == "\n":
            line += 1
        elif character in "([{":
            depth += 1
            if depth > most:
                most, where = depth, line
        elif character in ")]}":
            depth -= 1
    return Refusal(line=where, message=TOO_DEEP_MESSAGE, key="deep")


def character_column(line: str, offset: int) -> int:
    """The column in characters for an offset in UTF-8 bytes."""
    return offset if line.isascii() else len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))
