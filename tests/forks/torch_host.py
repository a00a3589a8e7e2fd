"""The process that imports torch once and forks the hosts that tests.forks.fork_host asks for, of which none imports it
anew.

`python -m tests.forks.torch_host FD PARENT`: FD is a listening Unix socket, PARENT the pid of who starts it. A
connection brings one message, the name of a host's module, and the host's listening socket; the host ends with this
process, and this one with its parent.
"""

import gc
import importlib
import os
import socket
import sys
from contextlib import suppress

import torch
import torch._dynamo

from tests.forks import prepared_modules
from tests.forks.host_sockets import CHECK_INTERVAL, reap_children


def main() -> None:
    """Fork a host for each connection, until the parent has ended."""
    listener, parent = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    listener.settimeout(CHECK_INTERVAL)
    while os.getppid() == parent:
        with suppress(TimeoutError):
            connection, host = listener.accept()[0], os.getpid()
            if os.fork() == 0:
                listener.close()
                become_host(connection, host)
            connection.close()
        reap_children()


def become_host(connection: socket.socket, parent: int) -> None:
    """Have the module that the connection names serve at the socket that comes with it. Does not return."""
    try:
        module, (listener, *_), _, _ = socket.recv_fds(connection, 100, 1)
        connection.close()
        host_module = importlib.import_module(module.decode())
        prepared_modules.prepare()
        host_module.main(listener, parent)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
