"""Network namespaces as machines of their own, each on a link to this one that can be cut."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass


class NotPermitted(Exception):
    """This machine lacks what a cluster takes."""


def network() -> str:
    """The first three numbers of the addresses of this process's hosts."""
    return f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"


def gateway() -> str:
    """This machine's address on all links."""
    return f"{network()}.1"


@dataclass(frozen=True)
class Host:
    """A namespace.

    number: 1 to 200, by which its address and its link are named
    """

    number: int

    @property
    def name(self) -> str:
        return f"gradbox-{os.getpid()}-{self.number}"

    @property
    def link(self) -> str:
        """The name of this machine's end, at most 15 characters."""
        return f"gb{os.getpid()}w{self.number}"

    def command(self, words: list[str]) -> list[str]:
        """Run there; the process is the one that is started, and has no other above it."""
        return ["ip", "netns", "exec", self.name, *words]

    def cut(self) -> None:
        """Drop all traffic in and out, without an error to either side."""
        ip("-n", self.name, "link", "set", "eth0", "down")

    def heal(self) -> None:
        ip("-n", self.name, "link", "set", "eth0", "up")

    def create(self) -> None:
        """Make it and its link. Raises NotPermitted."""
        ip("netns", "add", self.name)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ends = f"{network()}.1", f"{network()}.{self.number + 1}"
        ip("addr", "add", ends[0], "peer", ends[1], "dev", self.link)
        ip("link", "set", self.link, "up")
        ip("-n", self.name, "addr", "add", ends[1], "peer", ends[0], "dev", "eth0")
        ip("-n", self.name, "link", "set", "lo", "up")
        ip("-n", self.name, "link", "set", "eth0", "up")

    def remove(self) -> None:
        """Remove what there is of it."""
        for words in (("link", "del", self.link), ("netns", "del", self.name)):
            with suppress(NotPermitted):
                ip(*words)


def ip(*words: str) -> None:
    """Do what `ip` does. Raises NotPermitted where it can't."""
    if shutil.which("ip") is None:
        raise NotPermitted("there is no ip on this machine (the package iproute2)")
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"ip {' '.join(words)}: {done.stderr.strip() or done.returncode}"
        raise NotPermitted(f"workers need network namespaces, which take root and CAP_NET_ADMIN ({why})")


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """So many, removed at the end. Raises NotPermitted."""
    with ExitStack() as ending:
        made = [Host(number) for number in range(1, count + 1)]
        for host in made:
            ending.callback(host.remove)
            host.create()
        yield made
