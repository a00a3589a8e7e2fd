"""`python -m tests.chaos_cluster [--seconds 120] [--users 50]`: all disruptions to one cluster. Exit status 1 where
something does not hold."""

import argparse
import os
import signal
import sys
import time

from tests.chaos.server_state import log_errors
from tests.chaos_cluster.cluster import WORKERS, start_cluster
from tests.chaos_cluster.disruptions import disrupt_all
from tests.chaos_cluster.hosts import NotPermitted
from tests.chaos_cluster.report import faults, lines
from tests.chaos_cluster.users import missing, pressing


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=120, help="how long users press Run; longer where the disruptions take it"
    )
    parser.add_argument("--users", type=int, default=50, help="half of them at each of two web processes")
    parser.add_argument("--at-once", type=int, default=2, help="programs that a worker runs at the same time")
    arguments = parser.parse_args()
    try:
        with start_cluster(arguments.at_once) as cluster:
            ports = [web.port for web in cluster.webs]
            say(f"{arguments.users} users, 2 web processes, {WORKERS} workers in network namespaces, Redis, PostgreSQL")
            began = time.monotonic()
            with pressing(ports, arguments.users) as presses:
                disruptions = disrupt_all(cluster, arguments.seconds, say)
            took = time.monotonic() - began
            for line in lines(presses, disruptions, took):
                say(line)
            lacking = missing(ports, presses.saved)
            say(f"{len(presses.saved)} programs saved, opened at both web processes: {len(lacking)} missing")
            found = faults(presses, disruptions, lacking)
            for part in cluster.parts:
                for line in log_errors(part.log()):
                    say(line)
    except NotPermitted as error:
        say(f"nothing was tried: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; all of it is ended and removed")
        return 130
    say(f"load of the machine {os.getloadavg()[0]:.1f}; " + ("all of it held" if not found else "BROKEN:"))
    for line in found:
        say(f"  {line}")
    return 1 if found else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all of it is ended, too
    sys.exit(main())
