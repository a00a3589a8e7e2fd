"""The server's log: one event a line, as JSON unless it goes to a terminal. By default it holds no program's source."""

import logging
import sys
import traceback
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from gradbox.wire.api import Job
from server.pool.executions import ExecutionResult

MAX_ENTRIES, MAX_LENGTH = 20, 300
"""The most warnings and errors on the status page, and the most characters of each."""

SETTING_WARNING = "setting warning"

event_log: Any = structlog.get_logger("gradbox")


@dataclass(frozen=True)
class LogEntry:
    """A warning or an error.

    at: the time in ISO 8601
    """

    at: str
    level: str
    text: str


class RecentLogHandler(logging.Handler):
    """Keeps the latest warnings and errors. Of an exception it keeps the type and the line but not the message."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.entries: deque[LogEntry] = deque(maxlen=MAX_ENTRIES)

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict) and record.msg.get("event") == SETTING_WARNING:
            return  # the status page checks the settings itself
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")
        self.entries.append(LogEntry(at, record.levelname.lower(), format_record(record)[:MAX_LENGTH]))


recent_log_entries = RecentLogHandler()


def format_record(record: logging.LogRecord) -> str:
    """Format a record as one line."""
    if isinstance(record.msg, dict):
        facts = {name: value for name, value in record.msg.items() if name not in ("logger", "level", "timestamp")}
        text = " ".join([str(facts.pop("event", "")), *(f"{name}={value}" for name, value in facts.items())])
    else:
        text = record.getMessage().strip().partition("\n")[0]
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        frames = traceback.extract_tb(error.__traceback__)
        text += f" ({type(error).__name__}" + (f" at {frames[-1].filename}:{frames[-1].lineno})" if frames else ")")
    return text


def configure_logging() -> None:
    """Configure structlog, and the standard loggers below `gradbox`, to write the same format."""
    shared: list[Any] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    terminal = sys.stderr.isatty()
    renderer: Any = structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = logging.StreamHandler()
    last = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info, renderer]
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    logger = logging.getLogger("gradbox")
    logger.handlers, logger.propagate = [handler, recent_log_entries], False
    logger.setLevel(logging.INFO)


def log_setting_warning(setting: str, why: str) -> None:
    """Log that a setting's value is probably unintended."""
    event_log.warning(SETTING_WARNING, setting=setting, why=why)


def capture_uvicorn_errors() -> None:
    """Keep uvicorn's errors too. Call this after uvicorn has configured its loggers."""
    logging.getLogger("uvicorn.error").addHandler(recent_log_entries)


def log_finished_run(job: Job, result: ExecutionResult, log_text: bool) -> None:
    """Log the end of a run.

    log_text: whether to log the program's source
    """
    facts: dict[str, Any] = {"status": result.status, "seconds": round(result.seconds, 4), "bytes": len(result.body)}
    if result.limit is not None:
        facts["limit"] = result.limit
    event_log.info(
        "run", device=job.device, size=len(job.source), **facts, **({"program": job.source} if log_text else {})
    )
