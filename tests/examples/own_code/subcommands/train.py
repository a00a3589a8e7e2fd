import argparse

import jobs

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
for name in ("train", "test"):
    command = commands.add_parser(name)
    command.add_argument("--lr", type=float, default=0.1)
    command.add_argument("--rounds", type=int, default=4)
    command.set_defaults(run=getattr(jobs, name))

if __name__ == "__main__":
    options = parser.parse_args()
    options.run(options)
