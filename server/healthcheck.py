"""`python -m server.healthcheck PORT`: whether a server on this machine answers; what the image's health check runs."""

import http.client
import sys

from server.settings import Settings

PATIENCE = 4.0
"""Seconds, less than the health check itself has."""


def responds(port: int, host: str) -> bool:
    """host: a name that the server answers to."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(not responds(int(sys.argv[1]), Settings().hosts.split(",")[0].strip()))
