"""How many machines so many runs a day need, what they cost, and what is full first: a model over measured figures.

`python -m benchmarks.scale_model` prints the tables of docs/scale.md; `--write` puts them there. The figures are those of
benchmarks/scale_measured.json, which benchmarks/scale_measure.py measures: run it on a machine of your own and pass
`--measured FILE`. Every assumption is an option, like `--busiest-hour 0.2`.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "benchmarks/scale_measured.json"
PAGE = ROOT / "docs/scale.md"
BEGIN, END = "<!-- the tables of benchmarks/scale_model.py -->", "<!-- their end -->"
DAY, HOUR = 86_400, 3600


def assumption(default: float, meaning: str) -> float:
    value: float = field(default=default, metadata={"meaning": meaning})
    return value


@dataclass(frozen=True)
class Assumptions:
    """What is not measured. Shares are of 1, prices are in dollars a month."""

    busiest_hour: float = assumption(0.12, "share of a day's runs that come in its busiest hour")
    burst: float = assumption(3, "how much higher the rate is within that hour for some minutes: lessons begin")
    utilization: float = assumption(0.5, "share of the processors that a peak may use")
    cached: float = assumption(0.25, "share of runs that the cache or another run answers")
    nets: float = assumption(0.2, "share of runs as costly as whole models with a training loop (benchmarks/nets)")
    at_limit: float = assumption(0.01, "share of runs that go on until the processor limit")
    limit_seconds: float = assumption(5, "that limit, GRADBOX_CPU, in seconds")
    saved: float = assumption(0.05, "share of runs that are saved")
    visits: float = assumption(0.125, "start pages a run: a visitor runs eight programs")
    new_browsers: float = assumption(0.05, "browsers a run that have no scripts and styles in their cache yet")
    links: float = assumption(0.5, "permalinks and embeds opened, a run")
    pictures: float = assumption(0.2, "pictures asked for, a run")
    drawn: float = assumption(0.2, "share of pictures that are not in the cache")
    processor_price: float = assumption(15, "a processor with 4 GB of memory")
    storage_price: float = assumption(0.1, "a GB of storage of the database")
    traffic_price: float = assumption(0.05, "a GB that is sent")


@dataclass(frozen=True)
class Costs:
    """Of one run on average: seconds of processor time, and bytes. From the measured figures and the shares."""

    worker: float
    web: float
    saved_bytes: float
    sent_bytes: float


@dataclass(frozen=True)
class Demand:
    """What so many runs a day need. peak: runs a second that are really run. Processors are for the peak."""

    runs: int
    peak: float
    worker_processors: float
    web_processors: float
    stored_gb: float
    sent_gb: float


def run_seconds(measured: dict[str, Any], part: str, assumed: Assumptions) -> float:
    """Processor seconds of a run that is really run. part: workers, or web, which includes the helpers."""
    names = ("workers",) if part == "workers" else ("web", "helpers")
    small = sum(usual_load(measured)["processor_ms"][name] for name in names) / 1000
    nets = sum(measured["nets"]["processor_ms"][name] for name in names) / 1000
    limit = assumed.limit_seconds if part == "workers" else nets
    return float(small * (1 - assumed.nets - assumed.at_limit) + nets * assumed.nets + limit * assumed.at_limit)


def usual_load(measured: dict[str, Any]) -> dict[str, Any]:
    """The figures of runs by a few users: with one, what a server does besides counts too much."""
    rows: list[dict[str, Any]] = sorted(measured["runs"], key=lambda row: int(row["users"]))
    return rows[len(rows) // 2]


def page_seconds(measured: dict[str, Any], name: str) -> float:
    """Processor seconds of a request."""
    cost = measured["pages"][name]["processor_ms"]
    return float(cost["web"] + cost["helpers"]) / 1000


def costs(measured: dict[str, Any], assumed: Assumptions) -> Costs:
    """What a run that a visitor asks for costs on average, with the pages around it."""
    ran, pages = 1 - assumed.cached, measured["pages"]
    web = (
        ran * run_seconds(measured, "web", assumed)
        + assumed.visits * page_seconds(measured, "start page")
        + assumed.links * (page_seconds(measured, "embed") + page_seconds(measured, "trace of a saved program"))
        + assumed.pictures * assumed.drawn * page_seconds(measured, "picture, drawn")
        + assumed.pictures * (1 - assumed.drawn) * page_seconds(measured, "picture, from the cache")
    )
    share = assumed.nets
    trace = (
        measured["scenarios"]["compressed_bytes"]["mean"] * (1 - share)
        + measured["nets"]["compressed_bytes"]["mean"] * share
    )
    sent = (
        trace
        + assumed.visits * pages["first load"]["page"]
        + assumed.new_browsers * pages["first load"]["scripts_and_styles"]
        + assumed.links * (pages["embed"]["bytes"] + pages["trace of a saved program"]["bytes"])
        + assumed.pictures * pages["picture, drawn"]["bytes"]
    )
    stored = saved_bytes(measured, "scenarios") * (1 - share) + saved_bytes(measured, "nets") * share
    return Costs(ran * run_seconds(measured, "workers", assumed), web, assumed.saved * stored, sent)


def saved_bytes(measured: dict[str, Any], kind: str) -> float:
    """Bytes of a saved program in the larger of both databases."""
    databases = measured["saved" if kind == "scenarios" else "saved nets"]
    return float(max(row["database_bytes"] for row in databases.values() if row))


def demand(runs: int, each: Costs, assumed: Assumptions) -> Demand:
    """What so many runs a day need; storage is that of a year."""
    asked = runs * assumed.busiest_hour / HOUR * assumed.burst
    return Demand(
        runs=runs,
        peak=asked * (1 - assumed.cached),
        worker_processors=asked * each.worker / assumed.utilization,
        web_processors=asked * each.web / assumed.utilization,
        stored_gb=runs * each.saved_bytes * 365 / 1e9,
        sent_gb=runs * each.sent_bytes * 30 / 1e9,
    )


@dataclass(frozen=True)
class Plan:
    """machines: how many of how many processors, by what they do."""

    machines: dict[str, tuple[int, int]]
    database_gb: float

    @property
    def processors(self) -> int:
        return sum(count * size for count, size in self.machines.values())


def plan(need: Demand) -> Plan:
    """The machines. One with 2, 4 or 8 processors, where that is enough; else those of a cluster, two of each at least."""
    together = need.worker_processors + need.web_processors
    for size in (2, 4, 8):
        if together <= size:
            return Plan({"everything": (1, size)}, need.stored_gb)
    return Plan(
        {
            "web": (max(2, math.ceil(need.web_processors / 4)), 4),
            "workers": (max(2, math.ceil(need.worker_processors / 8)), 8),
            "PostgreSQL": (1, 4),
            "Redis": (1, 2),
        },
        need.stored_gb,
    )


def monthly_cost(chosen: Plan, need: Demand, assumed: Assumptions) -> float:
    """Dollars a month, with the storage of one year."""
    return (
        chosen.processors * assumed.processor_price
        + need.stored_gb * assumed.storage_price
        + need.sent_gb * assumed.traffic_price
    )


def first_full(measured: dict[str, Any], each: Costs, assumed: Assumptions) -> list[tuple[str, float, str]]:
    """(what, runs a day that it bears, what to change then), the first that is full first, for one machine of 2 processors."""
    peak_per_run = assumed.busiest_hour / HOUR * assumed.burst
    save = sum(measured["saved"]["sqlite"]["processor_ms"][name] for name in ("web",)) / 1000
    rows = [
        (
            "the workers' share of 2 processors",
            2 * assumed.utilization * each.worker / (each.worker + each.web) / (peak_per_run * each.worker),
            "more processors up to 8 (GRADBOX_WORKERS), then machines for workers (GRADBOX_QUEUE_URL)",
        ),
        (
            "the web process, which is one processor's",
            assumed.utilization / (peak_per_run * each.web),
            "a second web process behind the proxy; embeds and pictures from a CDN",
        ),
        (
            "10 GB of saved programs within a year",
            10e9 / (each.saved_bytes * 365),
            "a higher GRADBOX_QUOTA; PostgreSQL; traces in object storage",
        ),
        (
            "SQLite, at a tenth of the saves that one process can make",
            0.1 / (peak_per_run * assumed.saved * save),
            "PostgreSQL (DATABASE_URL)",
        ),
        (
            "a line of 100 Mbit/s",
            assumed.utilization * 100e6 / 8 / (peak_per_run * each.sent_bytes),
            "a CDN for scripts, embeds and pictures, which answers most of these bytes",
        ),
    ]
    return sorted(rows, key=lambda row: row[1])


def predictions(measured: dict[str, Any]) -> Iterator[tuple[str, float, float, str]]:
    """(what, predicted, measured, unit): what the model says of points that it does not take its figures from."""
    few, crowd = usual_load(measured), max(measured["runs"], key=lambda row: int(row["users"]))
    cost = sum(few["processor_ms"].values()) / 1000
    used = crowd["runs_per_second"] * sum(crowd["processor_ms"].values()) / 1000
    yield (
        f"runs/s of {crowd['users']} users, from the cost of a run of {few['users']} users "
        f"and the {used:.2f} processors that the server got",
        used / cost,
        crowd["runs_per_second"],
        "runs/s",
    )
    yield (
        f"median wait of {crowd['users']} users who always wait, from the rate (Little's law)",
        crowd["users"] / crowd["runs_per_second"] * 1000,
        crowd["p50_ms"],
        "ms",
    )
    nets, scenarios = measured["nets"], measured["scenarios"]
    overhead = saved_bytes(measured, "scenarios") - scenarios["compressed_bytes"]["mean"]
    yield (
        "bytes of a saved net, from its trace and what a scenario takes besides its own",
        nets["compressed_bytes"]["mean"] + overhead,
        saved_bytes(measured, "nets"),
        "bytes",
    )


def number(value: float) -> str:
    """Two or three digits that count: 0.42, 7.3, 84, 12,000."""
    if value == 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return (
        f"{round(value, digits):,.{digits}f}"
        if digits
        else f"{round(value, -max(0, math.floor(math.log10(value)) - 1)):,.0f}"
    )


def tables(measured: dict[str, Any], assumed: Assumptions, runs: list[int]) -> str:
    """The tables in Markdown."""
    each = costs(measured, assumed)
    lines = ["### Assumptions", "", "| option | value | |", "|---|---|---|"]
    for row in dataclasses.fields(assumed):
        lines.append(
            f"| `--{row.name.replace('_', '-')}` | {getattr(assumed, row.name):g} | {row.metadata['meaning']} |"
        )
    lines += ["", "### One run, with the pages around it", "", "| | |", "|---|---|"]
    lines += [
        f"| processor time of workers | {each.worker * 1000:.0f} ms |",
        f"| processor time of the web process and its helpers | {each.web * 1000:.0f} ms |",
        f"| bytes stored | {number(each.saved_bytes)} |",
        f"| bytes sent | {number(each.sent_bytes)} |",
    ]
    lines += ["", "### Machines", ""]
    needs = [demand(count, each, assumed) for count in runs]
    plans = [plan(need) for need in needs]
    lines.append("| runs a day | " + " | ".join(f"{need.runs:,}" for need in needs) + " |")
    lines.append("|---|" + "---|" * len(needs))
    for name, cells in (
        ("runs a second at the peak", [number(need.peak) for need in needs]),
        ("processors for workers, at the peak", [number(need.worker_processors) for need in needs]),
        ("processors for the web, at the peak", [number(need.web_processors) for need in needs]),
        ("machines", [describe(chosen) for chosen in plans]),
        ("stored within a year", [f"{number(need.stored_gb)} GB" for need in needs]),
        ("sent in a month", [f"{number(need.sent_gb)} GB" for need in needs]),
        (
            "dollars a month",
            [number(monthly_cost(chosen, need, assumed)) for chosen, need in zip(plans, needs, strict=True)],
        ),
    ):
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "### What is full first, on one machine with 2 processors",
        "",
        "| what | bears runs a day | then |",
        "|---|---|---|",
    ]
    lines += [f"| {what} | {number(bears)} | {then} |" for what, bears, then in first_full(measured, each, assumed)]
    lines += [
        "",
        "### The model against what was measured",
        "",
        "| what | predicted | measured | off by |",
        "|---|---|---|---|",
    ]
    for what, predicted, found, unit in predictions(measured):
        lines.append(f"| {what} | {number(predicted)} {unit} | {number(found)} {unit} | {predicted / found - 1:+.0%} |")
    return "\n".join(lines) + "\n"


def describe(chosen: Plan) -> str:
    return ", ".join(
        f"{name}: {count} × {size} processors" if name != "everything" else f"{count} with {size} processors"
        for name, (count, size) in chosen.machines.items()
    )


def page_with(tables_text: str, page: str) -> str:
    """The page with these tables in the place of those that it has. Raises ValueError where it has no place for them."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the page has no place for the tables: {BEGIN}")
    return f"{before}{BEGIN}\n\n{tables_text}\n{END}{after}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.scale_model", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measured", type=Path, default=MEASURED, help="figures of benchmarks/scale_measure.py")
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 10_000, 1_000_000], help="runs a day")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/scale.md")
    for row in dataclasses.fields(Assumptions):
        option = f"--{row.name.replace('_', '-')}"
        parser.add_argument(
            option, type=float, default=row.default, help=f"{row.metadata['meaning']} (default %(default)s)"
        )
    options = parser.parse_args(arguments)
    assumed = Assumptions(**{row.name: getattr(options, row.name) for row in dataclasses.fields(Assumptions)})
    text = tables(json.loads(options.measured.read_text()), assumed, options.runs)
    if options.write:
        PAGE.write_text(page_with(text, PAGE.read_text()))
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
