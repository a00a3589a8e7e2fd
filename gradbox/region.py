"""`gradbox.watch` and `gradbox.explain`: record one part of a running program, and show it or explain what is wrong."""

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
from gradbox.notebook.notebook_cells import cell_name, marimo_notebook_path
from gradbox.run import Run, check_save_path
from gradbox.sessions import session
from gradbox.sessions.options import STATELESS_TYPES, SessionFile, SessionOptions
from gradbox.sessions.own_modules import project_folder
from gradbox.showing import show_recorded_region, write_run_and_report

runs: list[Run] = []
"""The recorded regions of this process, at most MAX_RUNS."""

MAX_RUNS = 20

_open_regions: list["watch"] = []
"""The region that records now, if one does."""

_reported_titles: set[str] = set()
"""Titles of the regions without a recording of their own that were reported."""

DASH_C_OPTION_PATTERN = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*c((?s:.*))")
"""The option `-c` on Python's command line, alone or at the end of combined options, and a program attached to it."""

OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


class watch:  # noqa: N801 a context manager that is used like a function
    """Record what runs inside: `with gradbox.watch("step 3") as region: …`, then `region.run`.

    Each statement of the file with the `with` is a step, and so are the statements of functions that it calls, there
    and in other modules of the project. What other code does is part of the statement that calls it. Nothing is
    installed outside the region.
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
        """Raises ValueError for another ending of `out` or `every` below 1, OSError if the folder of `out` is missing,
        TypeError for another `to`.

        name: the region's name, for the picture's title
        out: a file for the picture (.html, .svg, .png) or the trace (.json)
        show: whether to show the picture if there is no `out`; see `gradbox.showing`
        also: more files, or modules by name, whose statements are steps
        this_file_only: whether functions in other modules of the project have no steps
        every: if the region is entered repeatedly, record entries 0, every, 2 * every …, at most 50
        to: where recordings are sent: a folder, TensorBoard's `SummaryWriter` or a wandb run
        steps: the most steps; after these the program goes on unrecorded
        quiet: print no line when a file is written
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
    """The default of `show`."""

    @property
    def run(self) -> Run:
        """The recording. Raises RuntimeError before the region has ended, or if the whole program is being recorded."""
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
        """Enter the region, from a callback of a training loop. Until `stop`, the functions of the program that are
        running and all that they call are recorded. Raises nothing; problems go to stderr."""
        if self._session is not None:
            self.stop()
        if not self._is_due():
            return
        try:
            self._begin_recording(sys._getframe(1), follow_stack=True)
        except (RuntimeError, OSError) as error:
            print(f"gradbox: {self.name}: not recorded: {str(error).removeprefix('gradbox: ')}", file=sys.stderr)

    def stop(self) -> None:
        """Leave the region, if it was entered."""
        if self._session is not None:
            self._session.end_recorded_part_in_frame(sys._getframe(1))
            self._end_recording(None)

    def _is_due(self) -> bool:
        """Return whether to record this entry of the region."""
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
        """Say once that the command, the pytest plugin or a cell is already recording the whole program."""
        if not self._quiet and title not in _reported_titles:
            _reported_titles.add(title)
            text = "is recorded with the whole program, and has no recording of its own"
            print(f"gradbox: {title}: {text}", file=sys.stderr)

    def title(self, path: str) -> str:
        name, of_region = cell_name(path) or Path(path).name, self._numbered_name()
        return f"{name}: {of_region}" if of_region else name

    def _numbered_name(self) -> str:
        """Return the region's name, with the recording's number if the region is recorded repeatedly."""
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
        """Send the recording to its destination. If that fails, say why and let the program go on."""
        try:
            where = send_run(run, self._to, self.name, self._times - 1)
        except (OSError, RuntimeError) as error:
            print(f"gradbox: {run.summary()} It could not be kept: {error}", file=sys.stderr)
            return
        if not self._quiet:
            print(f"gradbox: {run.summary()} Written to {where}", file=sys.stderr)


def own_folder_of_code(path: str) -> Path:
    """Return the project folder of some code; the current folder's project for code without a file, as in a
    notebook."""
    file = marimo_notebook_path(path) or Path(path)
    return project_folder(str(file if file.is_file() else Path.cwd()))


def is_recording() -> bool:
    """Return whether anything is recording in this process."""
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
    """Start recording the code of a file and return the session, whose `end` must be called in this thread. Raises
    RuntimeError if something else is recording, OSError if the file's text can't be read.

    namespace: of the file's module
    frame: a running frame of its code; None to record only what is called from now on
    follow_stack: the frame may belong to other code; the program's frames below it on the stack are recorded too
    options: further `SessionOptions`
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
    """Return the module's names that are not shown: modules, classes and functions, which are not the program's
    state."""
    return frozenset(name for name, value in namespace.items() if type(value).__name__ in STATELESS_TYPES)


def read_recorded_files(path: str, also: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the files with steps and their texts. Raises OSError if one can't be read or the code has no file."""
    yield path, read_source(path)
    for name in also:
        module = sys.modules.get(name)
        other = getattr(module, "__file__", None) or name
        if other != path:
            yield str(other), read_source(str(other))


def read_source(path: str) -> str:
    """Return the text of a file, of `python -c`, or of a notebook's cell from `linecache`. Raises OSError."""
    text = "".join(linecache.getlines(path))
    if not text and path == "<string>":
        text = program_of_dash_c(sys.orig_argv)
    if path == "<stdin>" and not text:
        raise OSError("gradbox can't read again what Python has read from standard input; write the program to a file")
    if not text:
        raise OSError(f"gradbox needs the source of {path}, which can't be read")
    return text


def program_of_dash_c(command: Sequence[str]) -> str:
    """Return the program after `-c`, or "" if there is none.

    command: Python's command line, with its options
    """
    words = iter(command[1:])
    for word in words:
        if found := DASH_C_OPTION_PATTERN.fullmatch(word):
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
    """Record what runs inside and print its findings: `with gradbox.explain(): loss.backward()`.

    Takes the arguments of `watch`. An exception propagates.

    findings: as in `Run.findings`; empty before the region ends
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
