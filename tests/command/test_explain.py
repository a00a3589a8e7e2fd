"""Findings on the server and in the terminal: the same functions as on the page, with validated replies."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.forks.forked_server import run_command
from tests.sharing.test_saved_programs import saved, visiting
from tests.support.databases import DatabaseFactory

pytest_plugins = ["tests.support.databases"]

ROOT = Path(__file__).parents[2]
PROGRAM = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n"
FIELDS = ["kind", "severity", "line", "lines", "step", "names", "text", "fixes", "offers"]

pytestmark = pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    with visiting(new_database("sqlite"), picture_limit="1000/minute") as client:
        yield client


def test_a_saved_program_has_its_findings(client: TestClient) -> None:
    program = saved(client, source=PROGRAM)
    answer = client.get("/api/findings", params={"id": program.id})
    assert answer.status_code == 200
    [finding] = answer.json()["findings"]
    assert (finding["kind"], finding["severity"], finding["line"]) == ("saved_overwritten", "error", 4)
    assert finding["lines"] == [3, 4, 5] and finding["names"] == ["y"] and "`y`" in finding["text"]
    chinese = client.get("/api/findings", params={"id": program.id, "lang": "zh"}).json()["findings"]
    assert chinese[0]["text"] != finding["text"] and "`y`" in chinese[0]["text"]


def test_a_program_without_an_address_has_no_findings(client: TestClient) -> None:
    assert client.get("/api/findings", params={"id": "7kd5h2n9xt"}).status_code == 404


def test_a_reply_has_at_most_the_first_hundred_findings(client: TestClient) -> None:
    source = "import torch\nw = torch.zeros(9)\n" + "w[[0, 1]][0] = 1\n" * 300
    findings = client.post("/api/runs", json={"source": source, "explain": True}).json()["findings"]
    assert len(findings) == 100 and [finding["line"] for finding in findings] == list(range(3, 103))


def test_a_run_is_explained_on_request(client: TestClient) -> None:
    plain = client.post("/api/runs", json={"source": PROGRAM}).json()
    explained = client.post("/api/runs", json={"source": PROGRAM, "explain": True, "language": "zh"}).json()
    findings = explained.pop("findings")
    assert "findings" not in plain and explained["steps"] == plain["steps"]
    assert [finding["kind"] for finding in findings] == ["saved_overwritten"]
    assert "反向传播" in findings[0]["text"]


def test_a_run_that_has_nothing_to_explain_has_no_findings(client: TestClient) -> None:
    answer = client.post("/api/runs", json={"source": "x = 1\n", "explain": True})
    assert answer.status_code == 200 and answer.json()["findings"] == []


def test_the_terminal_prints_a_line_for_each_file(tmp_path: Path) -> None:
    files = [tmp_path / "wrong.py", tmp_path / "right.py"]
    files[0].write_text(PROGRAM)
    files[1].write_text("import torch\nx = torch.ones(2)\n")
    done = run_command("explain", "--json", *map(str, files))
    assert (done.returncode, done.stderr) == (0, "")
    wrong, right = (json.loads(line)["findings"] for line in done.stdout.splitlines())
    assert list(wrong[0]) == FIELDS and right == []
    assert (wrong[0]["kind"], wrong[0]["line"], wrong[0]["lines"], wrong[0]["fixes"]) == (
        "saved_overwritten",
        4,
        [3, 4, 5],
        [],
    )


def test_the_terminal_shows_the_lines_for_reading(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(PROGRAM)
    done = run_command("explain", str(tmp_path / "wrong.py"))
    assert (
        "error[saved_overwritten]: Line 4 overwrote numbers that backward still needs: exp had saved y." in done.stdout
    )
    assert "   3 | y = x.exp()" in done.stdout and "<- cause" in done.stdout
    assert "\x1b[" not in done.stdout


@pytest.mark.slow
def test_the_terminal_compares_gradients_with_finite_differences(tmp_path: Path) -> None:
    file = tmp_path / "cut.py"
    file.write_text(
        "import torch\nx = torch.tensor([0., 1.], requires_grad=True)\nw = torch.tensor([1., 2.], requires_grad=True)\n"
        "torch.autograd.grad((torch.relu(x) * w.detach()).sum(), (x, w), allow_unused=True)\n"
    )
    result = run_command("explain", "--check-gradients", "--json", str(file))
    check = json.loads(result.stdout)["gradients"]["check"]
    assert {leaf["name"]: leaf["verdict"] for leaf in check["leaves"]} == {"x": "kink", "w": "cut"}
    text = run_command("explain", "--check-gradients", "--language", "zh", str(file)).stdout
    assert "w[1]：损失随它变化，斜率是 1，却没有梯度到来" in text
    plain = run_command("explain", "--check-gradients", str(file)).stdout
    assert "relu on line 4 has an input exactly where its slope jumps." in plain and "cut off" in plain
