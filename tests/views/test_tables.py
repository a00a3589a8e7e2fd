"""The tables by module and by parameter: what torch itself says of shapes, sizes, norms, gradients and who holds
what."""

import csv
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from gradbox.command import main, with_default_csv_tables
from gradbox.run import Run
from gradbox.terminal.run_text import load_sentences
from gradbox.terminal.table_text import csv_text, module_cells, parameter_cells, sorted_tables, table_lines, totals_text
from gradbox.wire.tables import RunTables
from tests.recordings.store import kept_document, kept_trace
from tests.support.explaining import call_page

ROOT = Path(__file__).parents[2]
NETS = ("transformer_block", "cnn_batch_norm", "two_optimizers", "weight_tying", "lstm", "gan_step", "ema")

TIED = """\
import torch
from torch import nn
torch.manual_seed(0)
class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.body = nn.Linear(32, 32)
        self.out = nn.Linear(32, 50, bias=False)
        self.out.weight = self.embed.weight
    def forward(self, x):
        return self.out(self.body(self.embed(x)).tanh())
net = Language()
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
for i in range(3):
    opt.zero_grad()
    net(torch.randint(50, (4,))).logsumexp(1).mean().backward()
    opt.step()
"""

FROZEN = """\
import torch
from torch import nn
torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
head, spare = nn.Linear(8, 2), nn.Linear(2, 2)
for p in backbone.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD([{"params": head.parameters()}, {"params": spare.parameters(), "lr": 0.5}], lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
for i in range(2):
    loss = head(backbone(torch.randn(4, 8))).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
"""

FORGOTTEN = """\
import torch
from torch import nn
torch.manual_seed(0)
body, head = nn.Linear(40, 40), nn.Linear(40, 3)
opt = torch.optim.Adam(body.parameters(), lr=0.01)
for i in range(3):
    opt.zero_grad()
    head(body(torch.randn(5, 40)).relu()).pow(2).mean().backward()
    opt.step()
"""

OWN = {"tied": TIED, "frozen": FROZEN, "forgotten": FORGOTTEN}


def tables_of(sources: list[str]) -> list[RunTables]:
    return [RunTables.model_validate(call_page("views/tables", kept_document(source))) for source in sources]


def told_by_torch(paths: list[Path]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.views.tables_truth", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_modules_are(expected: list[dict[str, Any]], tables: RunTables, name: str) -> None:
    shown = [row.model_dump(include=set(MODULE_FACTS)) for row in tables.modules]
    for row in expected:
        row["outputs"] = row["outputs"] if row["outputs"] is not None else "several"
    several = {(row["type"], str(row["inputs"])) for row in expected if row["outputs"] == "several"}
    for row in shown:
        if (row["type"], str(row["inputs"])) in several:
            row["outputs"] = "several"
    assert sorted(map(facts_text, shown)) == sorted(map(facts_text, expected)), name


MODULE_FACTS = ("type", "calls", "parameters", "own", "trainable", "inputs", "outputs")


def facts_text(row: dict[str, Any]) -> str:
    return str([row[field] for field in MODULE_FACTS])


def assert_parameters_are(expected: dict[str, Any], tables: RunTables, name: str) -> None:
    rows = {each: row for row in tables.parameters for each in (row.name, *row.also)}
    assert set(expected) <= set(rows), name
    for each, truth in expected.items():
        row = rows[each]
        held = [holder.model_dump(exclude={"optimizer"}) for holder in row.held_by]
        shown = {"shape": row.shape, "numbers": row.numbers, "requires_grad": row.requires_grad, "steps": row.steps,
                 "updated": row.updated, "held": held}  # fmt: skip
        assert shown == {field: truth[field] for field in shown}, f"{name}: {each}"
        assert row.weight_norm == pytest.approx(truth["weight_norm"], rel=1e-5), f"{name}: {each}"
        assert row.has_gradient == (truth["gradient_norm"] is not None), f"{name}: {each}"
        if row.has_gradient:
            assert row.gradient_norm == pytest.approx(truth["gradient_norm"], rel=1e-5, abs=1e-12), f"{name}: {each}"


def test_the_tables_say_what_torch_says(tmp_path: Path) -> None:
    paths = [ROOT / f"benchmarks/nets/{name}.py" for name in NETS]
    for name, source in OWN.items():
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(source)
    truths, tables = told_by_torch(paths), tables_of([path.read_text() for path in paths])
    assert len(truths) == len(tables) == len(NETS) + 3
    for path, truth, table in zip(paths, truths, tables, strict=True):
        assert truth["modules"] and truth["parameters"]
        assert_modules_are(truth["modules"], table, path.stem)
        assert_parameters_are(truth["parameters"], table, path.stem)
        assert table.whole


def test_tied_weights_are_one_row_and_count_once() -> None:
    (tables,) = tables_of([TIED])
    (tied,) = [row for row in tables.parameters if row.name == "net.embed.weight"]
    assert tied.also == ["net.out.weight"] and tied.fate == "updated" and (tied.steps, tied.updated) == (3, 3)
    by_path = {row.path: row for row in tables.modules}
    assert by_path["net.embed"].shared == by_path["net.out"].shared == 1600 and by_path["net.body"].shared == 0
    assert by_path["net"].parameters == tables.totals.parameters == 1600 + 32 * 32 + 32
    assert len(tables.parameters) == 3, "not the weight that the layer had for a moment"


def test_modules_are_named_by_the_modules_around_them() -> None:
    source = (
        "import torch\nfrom torch import nn\nclass Block(nn.Module):\n    def __init__(self):\n        "
        "super().__init__()\n"
        "        self.norm = nn.LayerNorm(2)\n    def forward(self, x):\n        return x + self.norm(x)\n"
        "def main():\n    net = nn.Sequential(Block(), Block())\n    for block in net:\n        block(torch.ones(1, "
        "2))\n"
        "    net(torch.ones(1, 2)).sum().backward()\nmain()\n"
    )
    tables = tables_of([source, source.replace("def main():\n", "if True:\n").replace("main()\n", "")])
    expected = ["net.0", "net.0.norm", "net.1", "net.1.norm", "net"]
    assert [[row.path for row in table.modules] for table in tables] == [expected, expected]
    assert tables[0].parameters[0].name == "net.0.norm.weight"


def test_what_became_of_each_parameter() -> None:
    frozen, forgotten = tables_of([FROZEN, FORGOTTEN])
    assert {row.name: row.fate for row in frozen.parameters} == {
        "spare.weight": "never_learns", "spare.bias": "never_learns",
        "head.weight": "updated", "head.bias": "updated",
        "backbone.0.weight": "frozen", "backbone.0.bias": "frozen",
        "backbone.2.weight": "frozen", "backbone.2.bias": "frozen",
    }  # fmt: skip
    assert [row.name for row in frozen.parameters][:3] == ["spare.weight", "spare.bias", "head.weight"], "worst first"
    assert [(row.name, row.fate) for row in forgotten.parameters] == [
        ("head.weight", "never_moved"),
        ("head.bias", "never_moved"),
        ("body.weight", "updated"),
        ("body.bias", "updated"),
    ]


def fates(source: str) -> dict[str | None, str]:
    (tables,) = tables_of([source])
    return {row.name: row.fate for row in tables.parameters}


def test_a_parameter_that_the_program_itself_changes_is_not_said_to_stay() -> None:
    by_hand = (
        "import torch\nlayer, teacher = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1).requires_grad_(False)\n"
        "for i in range(2):\n    layer(torch.ones(3, 2)).sum().backward()\n    with torch.no_grad():\n"
        "        for p, t in zip(layer.parameters(), teacher.parameters()):\n"
        "            p -= 0.1 * p.grad\n            t.lerp_(p, 0.1)\n            p.grad = None\n"
    )
    assert set(fates(by_hand).values()) == {"changed"}


def test_numbers_that_get_other_memory_or_lie_beside_others() -> None:
    assigned = (
        "import torch\nlayer = torch.nn.Linear(2, 1)\nfor i in range(2):\n    layer(torch.ones(3, "
        "2)).sum().backward()\n"
        "    for p in layer.parameters():\n        p.data = p.data - 0.1 * p.grad\n"
    )
    assert set(fates(assigned).values()) == {"changed"}
    beside = (
        "import torch\nlayer = torch.nn.Linear(2, 1)\nflat = torch.zeros(3)\n"
        "layer.weight.data, layer.bias.data = flat[:2].view(1, 2), flat[2:]\n"
        "opt = torch.optim.SGD([layer.bias], 0.1)\n"
        "for i in range(2):\n    opt.zero_grad()\n    layer(torch.ones(3, 2)).sum().backward()\n    opt.step()\n"
    )
    assert fates(beside) == {"layer.weight": "never_moved", "layer.bias": "updated"}


def test_an_optimizer_that_no_name_leads_to_is_known_by_its_step() -> None:
    hidden = (
        "import functools, torch\nlayer = torch.nn.Linear(2, 1)\n"
        "step = functools.partial(torch.optim.SGD([layer.weight], 0.0).step)\n"
        "layer(torch.ones(3, 2)).sum().backward()\nstep()\n"
    )
    assert fates(hidden) == {"layer.weight": "not_updated", "layer.bias": "never_moved"}


def test_an_unfinished_run_reports_no_parameter_that_never_learns() -> None:
    assert fates(FORGOTTEN + "raise ValueError\n") == {
        "head.weight": "in_no_optimizer",
        "head.bias": "in_no_optimizer",
        "body.weight": "updated",
        "body.bias": "updated",
    }
    (tables,) = tables_of([FROZEN + "1 / 0\n"])
    assert not tables.whole
    assert [row.fate for row in tables.parameters][:2] == ["no_gradient_seen"] * 2
    assert next(iter(table_lines(tables, load_sentences("en")))).startswith("Of this run only a part was recorded")


def test_only_recorded_steps_of_a_long_loop_count() -> None:
    (tables,) = tables_of([FORGOTTEN.replace("range(3)", "range(400)")])
    body = next(row for row in tables.parameters if row.name == "body.weight")
    assert not tables.whole and 0 < body.updated == body.steps < 400
    assert {row.fate for row in tables.parameters} == {"updated", "in_no_optimizer"}


def test_a_gradient_that_is_gone_when_its_statement_is_over_is_not_said_to_be_none() -> None:
    source = (
        "import torch\nlayer = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(layer.parameters(), 0.1)\n"
        "for i in range(2):\n    layer(torch.ones(3, 2)).sum().backward(); opt.step(), opt.zero_grad()\n"
    )
    (tables,) = tables_of([source])
    assert [(row.has_gradient, row.gradient_norm, row.updated) for row in tables.parameters] == [(None, None, 2)] * 2


def test_norms_of_what_is_not_finite() -> None:
    source = (
        "import torch\nsmall, large = torch.nn.Linear(2, 1), torch.nn.Linear(50, 50)\n"
        "for layer in (small, large):\n    layer.weight.data[0, 0] = float('nan')\n"
    )
    (tables,) = tables_of([source])
    norms = {row.name: row.weight_norm for row in tables.parameters}
    assert norms["small.weight"] == {"$f": "nan"} and norms["large.weight"] is None and norms["large.bias"] is not None


def test_of_more_parameters_than_a_list_has_items_the_rest_is_known_and_never_said_to_be_in_no_optimizer() -> None:
    head = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
    known = (
        head
        + "net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(120)])\nopt = torch.optim.SGD(net.parameters(), 0.1)\n"
        "net(torch.ones(1, 1)).sum().backward()\nopt.step()\n"
    )
    other = (  # leaves of a class of their own, which the trace does not name beyond the list's items
        head + "class Own(torch.Tensor):\n    pass\nnet = nn.Linear(1, 1)\n"
        "ws = [torch.ones(1).as_subclass(Own).requires_grad_() for _ in range(210)]\n"
        "opt = torch.optim.SGD([*ws, *net.parameters()], 0.1)\nnet(torch.ones(1, 1)).sum().backward()\nopt.step()\n"
    )
    tables, partly = tables_of([known, other])
    assert len(tables.parameters) == 240 and all(row.held_by for row in tables.parameters)
    assert {row.fate for row in tables.parameters} <= {"updated", "not_updated"}
    fates = {row.name: row.fate for row in partly.parameters}
    assert {fates["net.weight"], fates["net.bias"]} <= {"updated", "unknown"}


def test_the_text_has_both_tables_in_either_language() -> None:
    (tables,) = tables_of([TIED])
    lines = list(table_lines(tables, load_sentences("en")))
    assert lines[0].split() == [
        "module",
        "class",
        "calls",
        "in",
        "out",
        "numbers",
        "own",
        "trainable",
        "operations",
        "kept",
    ]
    assert lines[1].split()[:4] == ["net", "Language", "3", "(4,)"] and lines[2].startswith("  net.embed  Embedding")
    assert "1,600 (1,600 shared)" in lines[2] and lines[5].startswith("Parameters: 2,656 numbers, 2,656 trainable.")
    assert lines[7].split()[0] == "parameter" and lines[8].startswith("net.embed.weight = net.out.weight  (50, 32)")
    assert lines[8].endswith("3 of 3  updated") and "opt group 0, lr 0.01" in lines[8]
    chinese = list(table_lines(tables, load_sentences("zh")))
    assert chinese[0].startswith("模块") and len(chinese) == len(lines) and "已更新" in chinese[8]
    by_size = sorted_tables(tables, "kept").modules
    assert [row.kept for row in by_size] == sorted((row.kept for row in by_size), reverse=True)


def test_csv_has_every_fact() -> None:
    (tables,) = tables_of([FROZEN])
    first, second = csv_text(tables).split("\n\n")
    modules, parameters = (list(csv.DictReader(io.StringIO(text))) for text in (first, second))
    assert [row["path"] for row in modules] == [row.path for row in tables.modules]
    assert modules[0]["inputs"] == "4x8" and modules[0]["trainable"] == "0"
    assert [float(row["weight_norm"]) for row in parameters] == [row.weight_norm for row in tables.parameters]
    assert parameters[0]["gradient_norm"] == "" and parameters[0]["has_gradient"] == "false"
    assert (parameters[0]["optimizer"], parameters[0]["group"], parameters[0]["lr"]) == ("opt", "1", "0.25")
    assert csv_text(tables, ["parameters"]) == second


class TableReader(HTMLParser):
    """The rows of tables, each a list of the texts of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._is_in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._is_in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tables_of_a_notebook_have_what_the_terminal_has(language: str) -> None:
    run = Run(json.dumps(kept_trace(FORGOTTEN)).encode(), "run", language=language)
    words = load_sentences(language)
    for sort in (None, "kept", "weight"):
        reader = TableReader()
        reader.feed(run.tables_html(sort))
        tables = sorted_tables(run.tables, sort)
        assert reader.rows == [*module_cells(tables, words), *parameter_cells(tables, words)]
        text = re.sub(r"  +", "  ", run.tables_text(sort))
        for row in reader.rows:
            assert re.sub(r"  +", "  ", "  ".join(row)).strip() in text
        assert totals_text(tables, words) in run.tables_html(sort)


def test_names_in_a_table_for_a_notebook_are_no_markup() -> None:
    source = "import torch\nnet = {'<b>': torch.nn.Linear(1, 1)}\nnet['<b>'](torch.ones(1))\n"
    shown = Run(json.dumps(kept_trace(source)).encode(), "run").tables_html()
    assert "&lt;b&gt;" in shown and "<b>" not in shown


def test_csv_does_not_take_the_script_for_its_table() -> None:
    assert with_default_csv_tables(["summary", "--csv", "a.py", "--csv", "x"]) == [
        "summary",
        "--csv=both",
        "a.py",
        "--csv",
        "x",
    ]
    for arguments in (
        ["summary", "--csv", "modules", "a.py"],
        ["summary", "--sort", "kept", "a.py", "--csv", "out.csv"],
        ["summary", "--json", "a.py", "--csv"],
    ):
        assert with_default_csv_tables(arguments) == arguments


def test_the_command_prints_the_tables_of_a_trace(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(kept_trace(FORGOTTEN)))
    run = Run(path.read_bytes(), "run")
    assert [row.path for row in run.modules()] == ["body", "head"]
    assert run.parameters()[0].fate == "never_moved"
    assert main(["summary", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("run: ") and "never moved: a gradient, but in no optimizer" in text
    assert main(["summary", "--json", "--sort", "numbers", str(path)]) == 0
    shown = RunTables.model_validate_json(capsys.readouterr().out)
    assert shown.parameters[0].name == "body.weight" and sorted_tables(run.tables, "numbers") == shown
    assert main(["summary", "--csv", "modules", str(path)]) == 0
    assert capsys.readouterr().out == csv_text(run.tables, ["modules"])
    assert main(["summary", str(ROOT / "package.json")]) == 2
