"""The notebook's magic: `%%gradbox` runs a cell as usual and shows its steps; `%gradbox explain` says what went
wrong."""

import argparse
import ast
import contextlib
import inspect
import shlex
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.compilerop import PyCF_MASK
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML, display

from gradbox.notebook import viewer_cells
from gradbox.pictures import page
from gradbox.pictures.built_files import LANGUAGES
from gradbox.run import Run
from gradbox.sessions.options import STATELESS_TYPES, SessionFile, SessionOptions
from gradbox.terminal.table_text import SORT_COLUMNS

MAX_TRACE_BYTES = 2_000_000
"""The most bytes of a cell's trace; beyond them the cell goes on unrecorded. Its picture shows about a third of
that."""

MAX_STEPS = 2_000


class MagicArgumentParser(argparse.ArgumentParser):
    """Raises UsageError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%gradbox: {message}")


def make_magic_parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(prog="%%gradbox", add_help=False)
    parser.add_argument("name", nargs="*")
    parser.add_argument("--steps", type=int, default=MAX_STEPS)
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--cell-only", action="store_true")
    parser.add_argument("--height", type=int, default=page.FRAME_HEIGHT)
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    parser.add_argument("--whole", action="store_true")
    return parser


class GradboxMagic:
    """`%gradbox` and `%%gradbox` of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell, self._parser = shell, make_magic_parser()
        self._last_run: Run | None = None
        self._last_cell: tuple[str, str] | None = None  # the magic's line, and the cell

    def __call__(self, line: str, cell: str | None = None) -> Any:
        """%%gradbox [NAME] [--steps N] [--also MODULE] [--cell-only] [--height PIXELS] [--language en|zh] [--whole]

        Run the cell and show its steps. --steps: the most steps; the cell goes on after them. --also: a module, or a
        pattern like `pkg.*`, whose statements are steps too; if it was imported before, only those of its functions.
        --cell-only: other modules of the notebook's folder have no steps. --whole: the output contains a viewer of its
        own; otherwise all pictures use the viewer in the notebook's first picture, and `%gradbox viewer` adds another
        one. `%gradbox explain` says in words what went wrong in the cell recorded last; `%gradbox summary [--sort
        COLUMN]` shows its modules and parameters as tables; `%gradbox again --also MODULE` runs it again;
        `run = %gradbox` returns its run.
        """
        if cell is None and line.split()[:1] == ["again"] and self._last_cell is not None:
            before, cell = self._last_cell
            line = f"{before} {line.split(maxsplit=1)[1] if len(line.split()) > 1 else ''}"
        if cell is not None:
            self._last_cell = line, cell
            return self._record_and_display_cell(self._parse_options(line), cell)
        if line.split()[:1] == ["viewer"]:
            return display_viewer(line.split()[1:])
        is_summary = line.split()[:1] == ["summary"]
        if line.strip() not in ("", "explain") and not is_summary:
            raise UsageError(
                "%gradbox explain, %gradbox summary, %gradbox again, %gradbox viewer, %gradbox for the cell recorded "
                "last, "
                "or %%gradbox above a cell"
            )
        if self._last_run is None:
            raise UsageError("%gradbox: no cell was recorded yet; put %%gradbox above one")
        if not line.strip():
            return self._last_run
        if is_summary:
            return display_tables(self._last_run, line.split()[1:])
        print(self._last_run.explain())
        return None

    def _parse_options(self, line: str) -> argparse.Namespace:
        try:
            options = self._parser.parse_args(shlex.split(line))
        except ValueError as error:  # an unclosed quote
            raise UsageError(f"%%gradbox: {error}") from None
        if not 1 <= options.steps <= MAX_STEPS or options.height < 200:
            raise UsageError(f"%%gradbox: --steps from 1 to {MAX_STEPS}, --height from 200")
        return options

    def _record_and_display_cell(self, options: argparse.Namespace, cell: str) -> Any:
        """Run and show a cell, and return the value of its last expression. Raises what the cell raises."""
        shell = self._shell
        source = shell.transform_cell(cell)
        number = len(shell.user_ns["In"]) - 1  # `execution_count` is already the next cell's in some versions
        path = shell.compile.cache(source, number, raw_code=cell)
        tree = shell.transform_ast(shell.compile.ast_parse(source, path))
        flags = shell.compile.flags & PyCF_MASK
        if has_top_level_await(tree, path, flags):
            raise UsageError(
                "%%gradbox: a cell with `await` outside of a function can't be recorded; put the part to record into a "
                "cell without it"
            )
        from gradbox.sessions.own_modules import project_folder  # noqa: PLC0415 it imports torch, which a notebook may need later
        from gradbox.sessions.session import Session  # noqa: PLC0415 it imports torch, which a notebook may need later

        title = " ".join([f"cell {number}", *options.name])
        program = SessionFile(path, f"cell {number}", cell_source_to_display(cell, source))
        session = Session(
            SessionOptions(
                limits={"steps": options.steps, "trace": MAX_TRACE_BYTES}, title=title, module_is_outermost=False,
                shows_earlier_names=True, hidden_names=hidden_names(shell, tree), also=tuple(options.also),
                own_folder=None if options.cell_only else project_folder(str(Path.cwd())),
            ),
            [program], shell.user_ns,
        )  # fmt: skip
        with session:
            session.record_initial_state()
            error = session.run_code(tree, flags=flags)
        self._last_run = Run.from_lines(
            session.lines, title, language=options.language, height=options.height,
            again="%gradbox again --also {also}", whole_output=options.whole,
        )  # fmt: skip
        display(self._last_run)
        if error is not None:
            hide_magic_frames_in_traceback(shell, error)
            raise error
        return session.last_expression if is_last_value_displayed(shell, source) else None


def display_tables(run: Run, arguments: list[str]) -> None:
    """Show the tables of a run in this cell's output.

    arguments: none, or `--sort` with a column
    """
    if arguments and (len(arguments) != 2 or arguments[0] != "--sort" or arguments[1] not in SORT_COLUMNS):
        raise UsageError(f"%gradbox summary, or %gradbox summary --sort with one of {', '.join(SORT_COLUMNS)}")
    sort = arguments[1] if arguments else None
    display({"text/html": run.tables_html(sort), "text/plain": run.tables_text(sort)}, raw=True)


def display_viewer(languages: list[str]) -> None:
    """Put the viewer for the notebook's pictures into this cell's output.

    languages: one language, or none for English
    """
    language = languages[0] if languages else "en"
    if language not in LANGUAGES or len(languages) > 1:
        raise UsageError(f"%gradbox viewer, or %gradbox viewer {' or '.join(LANGUAGES)}")
    viewer_cells.register_viewer_cell(page.viewer_id(language))
    display(HTML(page.viewer_frame(language)))


def has_top_level_await(tree: ast.Module, path: str, flags: int) -> bool:
    """Return whether the cell uses `await` outside functions. Raises SyntaxError."""
    code = compile(tree, path, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return bool(code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))


def cell_source_to_display(cell: str, source: str) -> str:
    """Return the cell as it was written, with lines such as `!ls`, if its lines match those of the Python that runs."""
    same_lines = cell.count("\n") == source.count("\n") and not cell[:1].isspace()
    return cell if same_lines else source


def hidden_names(shell: InteractiveShell, tree: ast.Module) -> frozenset[str]:
    """Return the earlier names that are not drawn: IPython's own, modules, classes and functions, unless the cell binds
    them."""
    bound = {name for node in ast.walk(tree) for name in names_bound_by_node(node)}
    own = shell.user_ns_hidden
    names = {
        name
        for name, value in shell.user_ns.items()
        if type(value).__name__ in STATELESS_TYPES or (name in own and own[name] is value)
    }
    return frozenset(names - bound)


def names_bound_by_node(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    return []


def is_last_value_displayed(shell: InteractiveShell, source: str) -> bool:
    """Return whether the last expression's value is shown, according to the shell's settings and a `;` at the end."""
    return shell.ast_node_interactivity != "none" and not shell.displayhook.semicolon_at_end_of_expression(source)


def hide_magic_frames_in_traceback(shell: InteractiveShell, error: BaseException) -> None:
    """Make the shell's tracebacks begin in the cell, as they do without this magic."""
    frames = error.__traceback__

    def render_traceback() -> Any:
        with contextlib.suppress(AttributeError):
            del error._render_traceback_  # type: ignore[attr-defined]
        return shell.InteractiveTB.structured_traceback(type(error), error, frames, tb_offset=0)

    with contextlib.suppress(AttributeError, TypeError):
        error._render_traceback_ = render_traceback  # type: ignore[attr-defined]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Load the extension: `%load_ext gradbox`."""
    shell.register_magic_function(GradboxMagic(shell), "line_cell", "gradbox")
