"""SIGINT for a script: Ctrl-C sends it to the script's process and to this one, `kill` and an editor's stop button to
this one alone.

The script's process notes each signal that it gets in a file, so that none is sent a second time.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

RECEIVED_SIGNALS_FILE = "signals"
WAIT_SECONDS = 0.2
"""A signal that was sent to both processes has been noted by then."""


def log_received_signals_to_file(folder: Path) -> None:
    """In the script's process: from now on each signal that Python handles is a byte of the file, its number."""
    file = os.open(folder / RECEIVED_SIGNALS_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o600)
    signal.set_wakeup_fd(file, warn_on_full_buffer=False)


def restore_default_sigint() -> None:
    """In the script's process, before it begins: SIGINT does what it does in any program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextlib.contextmanager
def sigint_ignored() -> Iterator[None]:
    """SIGINT does not end this process, where a script is started and waited for."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def sigint_forwarded(process: subprocess.Popen[bytes], folder: Path) -> Iterator[None]:
    """SIGINT that another process sends to this one alone goes to the script. Within `sigint_ignored`."""
    if not hasattr(signal, "sigwaitinfo"):  # macOS
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=forward_missed_sigints_until, args=(process, folder / RECEIVED_SIGNALS_FILE, ended), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        if thread.ident is not None and thread.is_alive():
            signal.pthread_kill(thread.ident, signal.SIGINT)
        thread.join()


def forward_missed_sigints_until(process: subprocess.Popen[bytes], notes: Path, ended: threading.Event) -> None:
    """Wait for SIGINT until `ended`, and pass on what the script has not got itself."""
    noted_count = 0
    while True:
        sent = signal.sigwaitinfo({signal.SIGINT})
        if ended.is_set():
            return
        time.sleep(WAIT_SECONDS)
        is_from_process = sent.si_code <= 0  # the terminal's are the kernel's
        if is_from_process and count_received_sigints(notes) == noted_count:
            process.send_signal(signal.SIGINT)
            time.sleep(WAIT_SECONDS)
        noted_count = count_received_sigints(notes)


def count_received_sigints(notes: Path) -> int:
    """How often the script's process has got SIGINT."""
    try:
        return notes.read_bytes().count(signal.SIGINT)
    except FileNotFoundError:
        return 0
