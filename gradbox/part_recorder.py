"""Records parts of a script while it runs: where one begins and is due a session begins, and where it is over it ends.

Between two of them nothing is installed, and until the first the recorder is not even imported.
"""

import contextlib
import fnmatch
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from gradbox.line_files import LABEL_FILE, LineFiles
from gradbox.parts import Part, PartOptions
from gradbox.region import begin_session

MAX_RECORDINGS = 20
"""Recordings of one run; later ones are told and not made."""


class PartWatcher:
    """What the code of one part calls: see `part_code.Watcher`. count: how often the part has begun.

    lines: of the part. around: where the statement begins in whose block it is. loop: the line of the loop whose iteration
    it is. due: the count at which it is recorded next, -1 for none. failed: the expression of `--after` has raised.
    """

    def __init__(self, recorder: "PartRecorder", part: Part, options: PartOptions) -> None:
        self.lines, self.count = part.lines, 0
        self.loop = None if part.loop is None else part.loop.lineno
        self.around = None if part.around is None else (part.around.lineno, part.around.col_offset)
        self.due = -1
        self.failed = self._was_true = False
        self._recorder = recorder
        self._wanted = sorted(set(options.iterations))
        if not self._wanted and options.after is None:
            self._wanted = [0]
        self.plan_next()

    @property
    def missed(self) -> list[int]:
        """The iterations that were asked for and did not come."""
        return [n for n in self._wanted if n >= self.count]

    def plan_next(self) -> None:
        """Have the next of those that are wanted recorded."""
        self.due = next((n for n in self._wanted if n >= self.count), -1)

    def enter(self) -> None:
        """The part begins, in the caller."""
        count = self.count
        self.count = count + 1
        if count == self.due:
            self.plan_next()
            self._recorder.begin(self, sys._getframe(1), count)

    def check(self, value: Any) -> None:
        """The part is over; where the value has become true, the next time is recorded."""
        if bool(value) is not self._was_true:
            self._was_true = not self._was_true
            if self._was_true:
                self.due = self.count

    def fail(self) -> None:
        """The expression of `--after` raised."""
        if not self.failed:
            self.failed = True
            error, line = sys.exc_info()[1], self.loop or self.lines[0]
            self._recorder.say_once(
                f"--after {self._recorder.after!r}, evaluated for line {line}: {type(error).__name__}: {error}"
            )

    def __enter__(self) -> None:
        """Nothing: `enter` comes next, and has a place in the file."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._recorder.frame is not None:
            self._recorder.end(self, sys._getframe(1), error)


class PartRecorder:
    """The recordings of one run of a script, and what its user is told of them.

    path: of the script, as its code names it. folder: one for each recording is made in it. frame: in which the recorded
    part runs; None while nothing is recorded. progress, clear: as `SessionOptions` has them.
    """

    def __init__(
        self,
        path: str,
        folder: Path,
        options: PartOptions,
        *,
        also: Sequence[str] = (),
        steps: int | None = None,
        arguments: Sequence[str] = (),
        progress: Callable[[], None] | None = None,
        clear: Callable[[], None] | None = None,
    ) -> None:
        self.frame: FrameType | None = None
        self.watchers: list[PartWatcher] = []
        self.after = options.after
        self._path, self._name, self._folder, self._options = path, Path(path).name, folder, options
        self._also, self._steps, self._arguments = also, steps, tuple(arguments)
        self._progress, self._clear = progress, clear
        self._session: Any = None
        self._files: LineFiles | None = None
        self._recordings, self._said = 0, set[str]()
        self._process = os.getpid()

    def watch(self, parts: Sequence[Part]) -> list[PartWatcher]:
        """A watcher for each part."""
        self.watchers = [PartWatcher(self, part, self._options) for part in parts]
        return self.watchers

    def begin(self, watcher: PartWatcher, frame: FrameType, count: int) -> None:
        """A part begins in this frame, and is to be recorded; nothing where another is being recorded, or in a fork."""
        if self.frame is not None or os.getpid() != self._process:
            return
        if self._recordings == MAX_RECORDINGS:
            self.say_once(f"{MAX_RECORDINGS} recordings are the most of one run; what comes now is not recorded")
            return
        label, folder = self._label(watcher, count), self._folder / f"{self._recordings:02}"
        first, last = watcher.lines
        region = {"name": label, "first_line": first, "last_line": last}
        if watcher.loop is not None:
            region["iteration"] = count
        self.frame, self._recordings = frame, self._recordings + 1
        try:
            folder.mkdir()
            (folder / LABEL_FILE).write_text(label)
            self._files = LineFiles(folder)
            self._session = begin_session(
                self._path, frame.f_globals, frame, title=self._name, also=list(self._modules()), steps=self._steps,
                outermost=True, region=region, sink=self._files, arguments=self._arguments, progress=self._progress,
                before_output=self._clear,
            )  # fmt: skip
        except Exception as error:  # the script goes on
            self.frame = self._session = None
            self.say_once(f"{label}: not recorded: {str(error).removeprefix('gradbox: ')}")

    def end(self, watcher: PartWatcher, frame: FrameType, error: BaseException | None) -> None:
        """A part that may be the recorded one is over in this frame. error: by which."""
        if frame is self.frame and os.getpid() == self._process:
            self._end(error, lambda session: session.leave(frame, watcher.around))

    def _end(self, error: BaseException | None, leave: Callable[[Any], None] | None = None) -> None:
        session, self._session, self.frame = self._session, None, None
        try:
            if leave is not None:
                leave(session)
            session.end(error)
            if self._files is not None:
                first, *_, last = session.lines
                self._files.end(first, last)
        except Exception as fault:  # ours; the script goes on
            self.say_once(f"a recording could not be finished: {fault}")
        if self._clear is not None:
            self._clear()

    def finish(self) -> None:
        """The script is over: end what a generator that waits has left open, and tell what did not come."""
        if os.getpid() != self._process:
            return
        if self.frame is not None:
            self._end(None)
        for line in self._missing():
            self.say_once(line)

    def say_once(self, text: str) -> None:
        """Tell the user, on stderr."""
        if text not in self._said and os.getpid() == self._process:
            self._said.add(text)
            if self._clear is not None:
                self._clear()
            with contextlib.suppress(OSError, ValueError, AttributeError):  # a stderr that is closed, or none
                print(f"gradbox: {text}", file=sys.__stderr__, flush=True)

    def _label(self, watcher: PartWatcher, count: int) -> str:
        """What a recording is called."""
        if watcher.loop is not None:
            return f"iteration {count}"
        lines = watcher.lines if len(self.watchers) > 1 else self._options.lines or watcher.lines
        shown = f"lines {lines[0]}-{lines[1]}" if lines[0] < lines[1] else f"line {lines[0]}"
        return f"{shown}, time {count}" if self._options.iterations or self._options.after is not None else shown

    def _missing(self) -> Iterator[str]:
        """What was asked for and did not come, a sentence each."""
        options = self._options
        for watcher in self.watchers:
            loop, (first, last) = watcher.loop, watcher.lines
            what = f"the loop of line {loop}" if loop is not None else f"line {first}" if first == last else f"lines {first}-{last}"  # fmt: skip
            if not watcher.count:
                yield f"{what} of {self._name} never {'began an iteration' if loop is not None else 'ran'}"
            elif options.iterations and watcher.missed:
                numbers = ", ".join(map(str, watcher.missed))
                ran = (
                    f"{what} had {watcher.count}"
                    if loop is not None
                    else f"{what} ran {watcher.count} time{'s' * (watcher.count > 1)}"
                )
                yield f"iteration{'s' if len(watcher.missed) > 1 else ''} {numbers} never came: {ran}, counted from 0"
        came = [watcher for watcher in self.watchers if watcher.count and not watcher.failed]
        if options.after is not None and not self._recordings and came:
            yield f"--after {options.after!r} was never true while another iteration was to come"

    def _modules(self) -> Iterator[str]:
        """The files of imported modules that `--also` names."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            matches = any(fnmatch.fnmatchcase(name, glob) or name.startswith(glob + ".") for glob in self._also)
            if matches and isinstance(file, str) and file.endswith(".py") and file != self._path:
                yield file
