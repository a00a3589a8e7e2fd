"""The hosts that all processes of one run of the tests share: of zygotes, assemblers, servers, and programs."""

from tests.forks import fork_host, forked_assemblers, forked_server, prepared_zygotes


def sockets() -> dict[str, str]:
    """By variable of the environment, the name of each host's socket. Begins to start the hosts."""
    hosts = fork_host.RECORDER, fork_host.PLAIN, fork_host.COMMAND, forked_assemblers.HOST
    return {
        prepared_zygotes.HOST: prepared_zygotes.host(),
        forked_server.HOST: forked_server.host(),
        fork_host.TORCH: fork_host.torch_host(),
        **{host.variable: host.name for host in hosts},
    }
