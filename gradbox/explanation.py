"""`gradbox.explain`: says why what runs inside failed, or what is wrong with it though it did not."""

import sys
from types import FrameType, TracebackType
from typing import Any

from gradbox.region import watch


class explain(watch):  # noqa: N801 like `watch`
    """Record what runs inside, and print what there is to say of it: `with gradbox.explain(): loss.backward()`.

    It takes the arguments of `watch`. The exception, if there is one, goes on. findings: what was said, as
    `Run.findings` gives it; empty before the end.
    """

    findings: list[Any]

    SHOWS = False

    def _begin(self, frame: FrameType) -> None:
        self.findings = []
        super()._begin(frame)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        super().__exit__(kind, error, at)
        if self._is_part_of_recording:
            return
        try:
            self.findings = self.run.findings()
            text = self.run.explain()
        except (RuntimeError, OSError) as failure:
            text = f"gradbox: {self.run.summary()} It could not be explained: {failure}"
        print(text, file=sys.stderr)
