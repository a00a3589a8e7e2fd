"""A transport that closes a connection once its client has taken everything, and drops what is left when it is aborted.

A socket that is closed belongs to the kernel: what its client has not read lies there, half a megabyte a connection,
outside of every limit of the server.
"""

import array
import asyncio
import fcntl
import socket
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Any

RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class LingeringTransport(asyncio.Transport):
    """A connection's transport.

    close_when_taken: is called when it is closed while its client has not taken everything; it has to call
        `end_if_lingering` or `abort` until it is closed. lingers: whether it waits for its client at all.
        written_bytes: all that were written.
    """

    def __init__(self, transport: asyncio.Transport, close_when_taken: Callable[[], None]) -> None:
        super().__init__()
        self._transport, self._close_when_taken = transport, close_when_taken
        self._is_lingering = False
        self.lingers = True
        self.written_bytes = 0

    @property
    def kernel_bytes(self) -> int:
        """Bytes that the kernel holds because the client has not acknowledged them."""
        count = array.array("i", [0])
        try:
            fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, count)
        except (OSError, ValueError):  # it is closed, or the system can't say
            return 0
        return count[0]

    @property
    def unsent_bytes(self) -> int:
        """Bytes that the client has not acknowledged, wherever they are."""
        return self._transport.get_write_buffer_size() + self.kernel_bytes

    @property
    def has_failed(self) -> bool:
        """Whether the client has reset the connection."""
        try:
            return bool(self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        except OSError:
            return True

    def close(self) -> None:
        """Write no more, and close the connection when the client has taken everything."""
        if self.is_closing():
            return
        if not self.lingers or not self.unsent_bytes:
            self._transport.close()
            return
        self._is_lingering = True
        self._transport.pause_reading()
        self.end_if_lingering()
        self._close_when_taken()

    def end_if_lingering(self) -> None:
        """Where it only waits for its client, tell it that no more comes, and close the connection once it has
        everything."""
        if self._is_lingering and not self.unsent_bytes:
            self._transport.close()
        elif self._is_lingering and not self._transport.get_write_buffer_size():
            with suppress(OSError):  # the client has gone
                self._transport.write_eof()

    def abort(self) -> None:
        """Close the connection, and have the kernel drop what the client has not taken."""
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._is_lingering or self._transport.is_closing()

    def resume_reading(self) -> None:
        if not self._is_lingering:
            self._transport.resume_reading()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def write(self, data: Any) -> None:
        if not self._is_lingering:
            self.written_bytes += len(data)
            self._transport.write(data)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    @property
    def _socket(self) -> socket.socket:
        found: socket.socket = self._transport.get_extra_info("socket")
        return found
