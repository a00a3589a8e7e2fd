"""`gradbox.watch` and `gradbox.explain`: record a part of a program that runs as it is, and nothing of the rest; show
it, or say what is wrong.
"""

import contextlib
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from gradbox.destinations import MAX_RECORDINGS, check_destination, send_run
from gradbox.notebook.notebook_cells import cell_name, notebook_path
from gradbox.run import Run, check_save_path
from gradbox.sessions import session
from gradbox.sessions.options import STATELESS_TYPES, SessionFile, SessionOptions
from gradbox.sessions.own_modules import project_folder
from gradbox.showing import show_recorded_region, write_run_and_report

runs: list[Run] = []
"""What this process has recorded in regions, the last ones first dropped: see MAX_RUNS."""

MAX_RUNS = 20

_open_regions: list["watch"] = []
"""Those that record now: one at most."""

_reported_titles: set[str] = set()
"""Titles of the regions without a recording of their own that were reported."""

DASH_C_OPTION = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*c((?s:.*))")
"""Of Python's command line: the option `-c`, alone or after others in one word, and a program that follows in that
word."""

OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


class watch:  # noqa: N801 a context manager that is used like a function
    """Record what runs inside: `with gradbox.watch("step 3") as region: …`, then `region.run`.

    Each statement of the file that has the `with` is a step, and so are those of functions that are called, in it and
    in other modules of the project; what other code does is part of the statement that calls it. Outside of the region
    nothing is installed.
    """

    def __init__(
        self,
        name: str = "",
        *,
        out: str | os.PathLike[str] | None = None,
        show: bool | None = None,
        also: Sequence[str] = (),
        this_file_only: bool = False,
        every: int = 1,
        to: Any = None,
        steps: int | None = None,
        language: str = "en",
        quiet: bool = False,
    ) -> None:
        """Raises ValueError for a name of `out` with another ending and for `every` below 1, OSError without its
        folder, TypeError for another `to`.

        name: of the region, in its picture's title
        out: a file for the picture (.html, .svg, .png) or the trace (.json)
        show: without `out`, show the picture (`gradbox.showing` says where); False: `run` alone has it
        also: files, or modules by name, whose statements are steps too
        this_file_only: none of the other modules of the project, whose functions are stepped otherwise
        every: of a region that is entered again and again, the times 0, every, 2 * every … are recorded, 50 of them at
            most
        to: where they go, besides `run`: a folder, TensorBoard's `SummaryWriter` or a run of wandb
        steps: most of them; after these the program goes on unrecorded
        quiet: print no line when it is written
        """
        if out is not None:
            check_save_path(Path(out))
        if to is not None:
            check_destination(to)
        if every < 1:
            raise ValueError(f"every: from 1, not {every}")
        self._every, self._to, self._times, self._recording_count = every, to, 0, 0
        self._shows = self.SHOWS if show is None else show
        self.name, self._out, self._also, self._steps = name, out, tuple(also), steps
        self._this_file_only = this_file_only
        self._language, self._quiet = language, quiet
        self._session: Any = None
        self._run: Run | None = None
        self._is_part_of_recording = False

    SHOWS = True
    """Whether the picture is shown where nothing is said."""

    @property
    def run(self) -> Run:
        """What was recorded. Raises RuntimeError before the region has ended, and where all of the program is
        recorded."""
        if self._run is None:
            raise RuntimeError(
                "gradbox: the region is part of a recording of the whole program, and has none of its own"
                if self._is_part_of_recording
                else "the region has not ended"
            )
        return self._run

    def __enter__(self) -> Self:
        if self._is_due():
            self._begin_recording(sys._getframe(1))
        return self

    def start(self) -> None:
        """The same as to enter the region, for a callback of somebody's loop: what the functions of the program that
        run now do, and all that they call, is recorded until `stop`. It raises nothing: what can't be recorded is said
        on stderr."""
        if self._session is not None:
            self.stop()
        if not self._is_due():
            return
        try:
            self._begin_recording(sys._getframe(1), follow_stack=True)
        except (RuntimeError, OSError) as error:
            print(f"gradbox: {self.name}: not recorded: {str(error).removeprefix('gradbox: ')}", file=sys.stderr)

    def stop(self) -> None:
        """The same as to leave the region; nothing where it was not entered."""
        if self._session is not None:
            self._session.continue_in(sys._getframe(1))
            self._end_recording(None)

    def _is_due(self) -> bool:
        """Whether the region, which begins, is to be recorded this time."""
        number, self._times = self._times, self._times + 1
        self._is_part_of_recording = False
        if number % self._every or (self._every > 1 and self._recording_count >= MAX_RECORDINGS):
            return False
        self._recording_count += 1
        return True

    def _begin_recording(self, frame: FrameType, follow_stack: bool = False) -> None:
        path = frame.f_code.co_filename
        self._is_part_of_recording = not _open_regions and is_recording()
        if self._is_part_of_recording:
            self._report_outer_recording(self.title(path))
            return
        self._session = begin_session(
            path, frame.f_globals, frame, title=self.title(path), also=self._also, steps=self._steps,
            region={"name": self._numbered_name()} if self._numbered_name() else None, follow_stack=follow_stack,
            own_folder=None if self._this_file_only else own_folder_of_code(path),
        )  # fmt: skip
        _open_regions.append(self)

    def _report_outer_recording(self, title: str) -> None:
        """The command, a test's plugin or a cell records all of the program: it goes on, and that is said once."""
        if not self._quiet and title not in _reported_titles:
            _reported_titles.add(title)
            text = "is recorded with the whole program, and has no recording of its own"
            print(f"gradbox: {title}: {text}", file=sys.stderr)

    def title(self, path: str) -> str:
        name, of_region = cell_name(path) or Path(path).name, self._numbered_name()
        return f"{name}: {of_region}" if of_region else name

    def _numbered_name(self) -> str:
        """The region's name. A region that is recorded repeatedly also has the number of this recording."""
        return f"{self.name} {self._times - 1}".strip() if self._every > 1 else self.name

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if not self._is_part_of_recording and self._session is not None:
            self._end_recording(error)

    def _end_recording(self, error: BaseException | None) -> None:
        session, self._session = self._session, None
        _open_regions.remove(self)
        session.end(error)
        self._run = Run.from_lines(
            session.lines, session.options.title, language=self._language,
            again=f'gradbox.{type(self).__name__}(…, also=["{{also}}"])',
        )  # fmt: skip
        runs.append(self._run)
        del runs[:-MAX_RUNS]
        if self._out is not None:
            write_run_and_report(self._run, Path(self._out), self._quiet)
        elif self._to is not None:
            self._send_recording(self._run)
        elif self._shows:
            show_recorded_region(self._run, self._quiet)

    def _send_recording(self, run: Run) -> None:
        """Send it where it is to go; where that fails, say why: the program goes on."""
        try:
            where = send_run(run, self._to, self.name, self._times - 1)
        except (OSError, RuntimeError) as error:
            print(f"gradbox: {run.summary()} It could not be kept: {error}", file=sys.stderr)
            return
        if not self._quiet:
            print(f"gradbox: {run.summary()} Written to {where}", file=sys.stderr)


def own_folder_of_code(path: str) -> Path:
    """The folder of the project that code belongs to; of the current folder where it is in no file, as in a
    notebook."""
    file = notebook_path(path) or Path(path)
    return project_folder(str(file if file.is_file() else Path.cwd()))


def is_recording() -> bool:
    """Whether something records in this process."""
    return session.is_recording()


def begin_session(
    path: str,
    namespace: dict[str, Any],
    frame: FrameType | None,
    *,
    title: str,
    also: Sequence[str],
    steps: int | None,
    follow_stack: bool = False,
    **options: Any,
) -> Any:
    """Record the code of a file from here on; the session, whose `end` has to be called in this thread. Raises
    RuntimeError where something else records, OSError without the file's text.

    namespace: of the module that the file is
    frame: of its code, that runs; None for what is called from now on
    follow_stack: it is anybody's frame, and those of the program that wait for it are followed
    options: more of `SessionOptions`
    """
    if session.is_recording():
        raise RuntimeError("gradbox: the program is being recorded already")
    files = [SessionFile(file, displayed_file_name(file), text) for file, text in read_recorded_files(path, also)]
    settings = SessionOptions(**{
        "limits": {} if steps is None else {"steps": steps}, "module_is_outermost": False, "shows_earlier_names": True,
        "title": title, "hidden_names": hidden_names(namespace), **options,
    })  # fmt: skip
    begun = session.Session(settings, files, namespace)
    begun.begin()
    try:
        if follow_stack and frame is not None:
            begun.follow_stack(frame)
        else:
            begun.follow_frame(frame)
    except BaseException:
        begun.end()
        raise
    return begun


def hidden_names(namespace: dict[str, Any]) -> frozenset[str]:
    """Names of a module that are not shown: modules, classes and functions, which are no state of the program."""
    return frozenset(name for name, value in namespace.items() if type(value).__name__ in STATELESS_TYPES)


def read_recorded_files(path: str, also: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files that are stepped, with their texts. Raises OSError for one that can't be read, and for code of no
    file."""
    yield path, read_source(path)
    for name in also:
        module = sys.modules.get(name)
        other = getattr(module, "__file__", None) or name
        if other != path:
            yield str(other), read_source(str(other))


def read_source(path: str) -> str:
    """The text of a file, of `python -c`, or of what a notebook or a shell keeps in `linecache`. Raises OSError."""
    text = "".join(linecache.getlines(path))
    if not text and path == "<string>":
        text = program_of_dash_c(sys.orig_argv)
    if path == "<stdin>" and not text:
        raise OSError("gradbox can't read again what Python has read from standard input; write the program to a file")
    if not text:
        raise OSError(f"gradbox needs the source of {path}, which can't be read")
    return text


def program_of_dash_c(command: Sequence[str]) -> str:
    """The program that follows `-c`; "" where there is none.

    command: how Python was started, with its options
    """
    words = iter(command[1:])
    for word in words:
        if found := DASH_C_OPTION.fullmatch(word):
            return textwrap.dedent(found[1] or next(words, ""))
        if word in OPTIONS_WITH_VALUE:
            next(words, "")
        elif not word.startswith("-") or word == "-":
            break
    return ""


def displayed_file_name(path: str) -> str:
    if cell := cell_name(path):
        return cell
    with contextlib.suppress(ValueError):
        return Path(path).resolve().relative_to(Path.cwd()).as_posix()
    return Path(path).name


class explain(watch):  # noqa: N801 like `watch`
    """Record what runs inside, and print what there is to say of it: `with gradbox.explain(): loss.backward()`.

    It takes the arguments of `watch`. The exception, if there is one, goes on.

    findings: what was said, as `Run.findings` gives it; empty before the end
    """

    findings: list[Any]

    SHOWS = False

    def _begin_recording(self, frame: FrameType, follow_stack: bool = False) -> None:
        self.findings = []
        super()._begin_recording(frame, follow_stack)

    def _end_recording(self, error: BaseException | None) -> None:
        super()._end_recording(error)
        try:
            self.findings = self.run.findings()
            text = self.run.explain()
        except (RuntimeError, OSError) as failure:
            text = f"gradbox: {self.run.summary()} It could not be explained: {failure}"
        print(text, file=sys.stderr)
