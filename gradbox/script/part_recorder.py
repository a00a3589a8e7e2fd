"""Records parts of a script while it runs: a session begins when a part begins that is to be recorded, and ends with
it.

Between two such parts nothing is installed; before the first, the recorder is not even imported.
"""

import contextlib
import fnmatch
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from gradbox.region import begin_session
from gradbox.script.script_parts import MAX_RECORDINGS, PartOptions, ScriptPart
from gradbox.script.trace_line_files import LABEL_FILE, TraceLineFiles
from gradbox.terminal.progress import ProgressLine


class PartWatcher:
    """What the code of one part calls: see `part_instrumentation.Watcher`.

    times_begun: how often the part has begun
    lines: the lines of the part
    enclosing_position: the position of the statement whose block contains it
    loop_line: the line of the loop whose iteration it is
    next_recorded: the count at which it is recorded next, -1 for none
    condition_failed: the expression of `--after` has raised
    """

    def __init__(self, recorder: "PartRecorder", part: ScriptPart, options: PartOptions) -> None:
        self.lines, self.times_begun = part.lines, 0
        self.loop_line = None if part.loop is None else part.loop.lineno
        self.enclosing_position = None if part.enclosing is None else (part.enclosing.lineno, part.enclosing.col_offset)
        self.next_recorded = -1
        self.condition_failed = self._condition_was_true = False
        self._recorder = recorder
        self._requested_iterations = sorted(set(options.iterations))
        if not self._requested_iterations and options.after is None:
            self._requested_iterations = [0]
        self.schedule_next_recording()

    @property
    def missed_iterations(self) -> list[int]:
        """The iterations that were asked for and did not happen."""
        return [n for n in self._requested_iterations if n >= self.times_begun]

    def schedule_next_recording(self) -> None:
        """Set the count at which the part is recorded next."""
        self.next_recorded = next((n for n in self._requested_iterations if n >= self.times_begun), -1)

    def on_part_begin(self) -> None:
        """Note that the part begins, in the caller."""
        count = self.times_begun
        self.times_begun = count + 1
        if count == self.next_recorded:
            self.schedule_next_recording()
            self._recorder.begin_recording(self, sys._getframe(1), count)

    def update_condition(self, value: Any) -> None:
        """Note that the part is over. If the value has become true, the next execution is recorded."""
        if bool(value) is not self._condition_was_true:
            self._condition_was_true = not self._condition_was_true
            if self._condition_was_true:
                self.next_recorded = self.times_begun

    def on_condition_error(self) -> None:
        """Note that the expression of `--after` raised."""
        if not self.condition_failed:
            self.condition_failed = True
            error, line = sys.exc_info()[1], self.loop_line or self.lines[0]
            self._recorder.print_once(
                f"--after {self._recorder.after!r}, evaluated for line {line}: {type(error).__name__}: {error}"
            )

    def __enter__(self) -> None:
        """Do nothing: `on_part_begin` is called next, at a position in the file."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._recorder.frame is not None:
            self._recorder.end_recording(self, sys._getframe(1), error)


class PartRecorder:
    """The recordings of one run of a script, and the messages to its user.

    path: the path of the script in its code
    folder: a subfolder is created in it for each recording
    own_folder: as in `SessionOptions`
    frame: the frame in which the recorded part runs; None while nothing is recorded
    """

    def __init__(
        self,
        path: str,
        folder: Path,
        options: PartOptions,
        *,
        also: Sequence[str] = (),
        steps: int | None = None,
        own_folder: Path | None = None,
        arguments: Sequence[str] = (),
        progress: ProgressLine | None = None,
    ) -> None:
        self.frame: FrameType | None = None
        self.watchers: list[PartWatcher] = []
        self.after = options.after
        self._path, self._script_name, self._folder, self._options = path, Path(path).name, folder, options
        self._own_folder = own_folder
        self._also, self._steps, self._arguments = also, steps, tuple(arguments)
        self._progress = ProgressLine(None, quiet=True) if progress is None else progress
        self._session: Any = None
        self._files: TraceLineFiles | None = None
        self._recording_count, self._messages_shown = 0, set[str]()
        self._process_id = os.getpid()

    def create_part_watchers(self, parts: Sequence[ScriptPart]) -> list[PartWatcher]:
        """A watcher for each part."""
        self.watchers = [PartWatcher(self, part, self._options) for part in parts]
        return self.watchers

    def begin_recording(self, watcher: PartWatcher, frame: FrameType, iteration: int) -> None:
        """Begin to record a part in this frame; do nothing if another part is being recorded, or in a forked
        process."""
        if self.frame is not None or not self.is_recording_process():
            return
        if self._recording_count == MAX_RECORDINGS:
            self.print_once(f"{MAX_RECORDINGS} recordings are the most of one run; what comes now is not recorded")
            return
        label = self._recording_label(watcher, iteration)
        first, last = watcher.lines
        region = {"name": label, "first_line": first, "last_line": last}
        if watcher.loop_line is not None:
            region["iteration"] = iteration
        self.begin_recording_region(label, region, frame)

    def is_recording_process(self) -> bool:
        """Whether this is the script's own process and not a fork of it."""
        return os.getpid() == self._process_id

    def begin_recording_region(
        self, label: str, region: dict[str, Any], frame: FrameType, follow_stack: bool = False
    ) -> Path | None:
        """Record from here on. Returns the folder of the recording, or None if recording fails, which is reported.

        label: the name of the recording
        region: as reported in the trace
        frame: the frame that runs
        follow_stack: the frame is torch's, and the program's frames that wait for it are followed
        """
        folder = self._folder / f"{self._recording_count:06}"
        self.frame, self._recording_count = frame, self._recording_count + 1
        try:
            folder.mkdir()
            (folder / LABEL_FILE).write_text(label)
            self._files = TraceLineFiles(folder)
            self._progress.begin_part(label)
            self._session = begin_session(
                self._path,
                self._module_namespace(frame),
                frame,
                follow_stack=follow_stack,
                title=self._script_name,
                also=list(self._imported_files_to_record()),
                steps=self._steps,
                module_is_outermost=True,
                region=region,
                sink=self._files,
                arguments=self._arguments,
                on_step=self._progress.count_step,
                before_output=self._progress.before_output,
                on_skipped_iteration=self._progress.count_iteration,
                own_folder=self._own_folder,
            )
        except Exception as error:  # the script goes on
            self.frame = self._session = None
            shutil.rmtree(folder, ignore_errors=True)
            self.print_once(f"{label}: not recorded: {str(error).removeprefix('gradbox: ')}")
            return None
        return folder

    def _module_namespace(self, frame: FrameType) -> dict[str, Any]:
        """The globals of the script's module.

        frame: the frame that runs
        """
        module = sys.modules.get("__main__")
        if frame.f_code.co_filename == self._path or module is None:
            return frame.f_globals
        return vars(module)

    def end_recording(self, watcher: PartWatcher, frame: FrameType, error: BaseException | None) -> None:
        """Note that a part, which may be the recorded one, is over in this frame.

        error: the exception that ended it
        """
        if frame is self.frame and self.is_recording_process():
            self._end_session(error, lambda session: session.stop_following_frame(frame, watcher.enclosing_position))

    def _end_session(self, error: BaseException | None, leave: Callable[[Any], None] | None = None) -> None:
        session, self._session, self.frame = self._session, None, None
        try:
            if leave is not None:
                leave(session)
            session.end(error)
            if self._files is not None:
                first, *_, last = session.lines
                self._files.write_header_and_outcome(first, last)
        except Exception as fault:  # ours; the script goes on
            self.print_once(f"a recording could not be finished: {fault}")
        self._progress.clear()
        if session.slow_recording_message:
            self.print_once(session.slow_recording_message)

    def finish_script(self) -> None:
        """After the script: end what a suspended generator has left open, and report what did not happen."""
        if not self.is_recording_process():
            return
        if self.frame is not None:
            self._end_session(None)
        for line in self._messages_of_missed_parts():
            self.print_once(line)

    def print_once(self, text: str) -> None:
        """Print a message to the user on stderr, once."""
        if text not in self._messages_shown and self.is_recording_process():
            self._messages_shown.add(text)
            self._progress.clear()
            with contextlib.suppress(OSError, ValueError, AttributeError):  # a stderr that is closed, or none
                print(f"gradbox: {text}", file=sys.__stderr__, flush=True)

    def _recording_label(self, watcher: PartWatcher, iteration: int) -> str:
        """The name of a recording."""
        if watcher.loop_line is not None:
            return f"iteration {iteration}"
        lines = watcher.lines if len(self.watchers) > 1 else self._options.lines or watcher.lines
        shown = f"lines {lines[0]}-{lines[1]}" if lines[0] < lines[1] else f"line {lines[0]}"
        return f"{shown}, time {iteration}" if self._options.iterations or self._options.after is not None else shown

    def _messages_of_missed_parts(self) -> Iterator[str]:
        """A sentence for each thing that was asked for and did not happen."""
        options = self._options
        for watcher in self.watchers:
            loop, (first, last) = watcher.loop_line, watcher.lines
            what = (
                f"the loop of line {loop}"
                if loop is not None
                else f"line {first}"
                if first == last
                else f"lines {first}-{last}"
            )
            if not watcher.times_begun:
                yield f"{what} of {self._script_name} never {'began an iteration' if loop is not None else 'ran'}"
            elif options.iterations and watcher.missed_iterations:
                numbers = ", ".join(map(str, watcher.missed_iterations))
                ran = (
                    f"{what} had {watcher.times_begun}"
                    if loop is not None
                    else f"{what} ran {watcher.times_begun} time{'s' * (watcher.times_begun > 1)}"
                )
                plural = "s" if len(watcher.missed_iterations) > 1 else ""
                yield f"iteration{plural} {numbers} never came: {ran}, counted from 0"
        came = [watcher for watcher in self.watchers if watcher.times_begun and not watcher.condition_failed]
        if options.after is not None and not self._recording_count and came:
            yield f"--after {options.after!r} was never true while another iteration was to come"

    def _imported_files_to_record(self) -> Iterator[str]:
        """The files of imported modules that `--also` names."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            matches = any(fnmatch.fnmatchcase(name, glob) or name.startswith(glob + ".") for glob in self._also)
            if matches and isinstance(file, str) and file.endswith(".py") and file != self._path:
                yield file
