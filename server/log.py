"""The server's log: one event a line, as JSON where no terminal reads it. Programs' texts are left out by default."""

import logging
import sys
from typing import Any

import structlog

from server.pool.runs import Result
from server.wire.api import Job

events: Any = structlog.get_logger("gradbox")


def configure() -> None:
    """Have our events, and what the modules log in the standard way, come out in one shape."""
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
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)


def ran(job: Job, result: Result, text: bool) -> None:
    """A run is over. text: whether its program may be written down."""
    facts: dict[str, Any] = {"status": result.status, "seconds": round(result.seconds, 4), "bytes": len(result.body)}
    if result.limit is not None:
        facts["limit"] = result.limit
    events.info("run", device=job.device, size=len(job.source), **facts, **({"program": job.source} if text else {}))
