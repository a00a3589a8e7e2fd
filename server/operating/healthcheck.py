"""`python -m server.operating.healthcheck PORT`: the image's health check. Exits with 0 if the server on this machine
answers."""

import http.client
import sys

from server.settings import Settings

TIMEOUT = 4.0
"""Seconds; less than the timeout of the health check itself."""


def is_server_healthy(port: int, host: str) -> bool:
    """Return whether /healthz answers with 200.

    host: one of GRADBOX_HOSTS
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not is_server_healthy(int(sys.argv[1]), Settings().hosts.split(",")[0].strip()))
