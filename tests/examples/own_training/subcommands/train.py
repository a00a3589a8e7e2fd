import argparse

import jobs

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
fit = commands.add_parser("fit")
fit.add_argument("--lr", type=float, default=0.1)
fit.set_defaults(run=jobs.fit)
check = commands.add_parser("check")
check.set_defaults(run=jobs.check)
if __name__ == "__main__":
    options = parser.parse_args()
    options.run(options)
