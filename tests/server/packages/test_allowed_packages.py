"""The packages that a host lets programs import: which he may name, what comes with them, and that they widen
nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from gradbox.language import policy
from gradbox.language.edits import apply_edits
from gradbox.language.paste import normalise_pasted_text
from gradbox.language.repairs import error_repairs
from server import allowed_packages
from server.allowed_packages import UNSUITABLE_PACKAGES, PackageError, allowed_modules, required_modules
from server.operating.settings_checks import check_settings
from server.pool import zygote
from server.settings import SettingError, Settings
from server.worker.package_data import DATA_FOLDERS
from tests.forks import prepared_zygotes
from tests.server.packages.hostile_packages import write_module
from tests.support.tracing import printed
from tests.support.workers import Workers

ROOT = Path(__file__).parents[3]

STAND_IN = {
    "pandas": "import helper_of_pandas\ndef read_csv(path):\n    with open(path) as file:\n        return file.read()\n",  # noqa: E501
    "pandas.io": "loaded_before_the_fork = True\n",
    "helper_of_pandas": "value = 42\n",
    "sklearn": "",
    "sklearn.datasets": "from pathlib import Path\ndef load_iris():\n"
    "    return (Path(__file__).parent / 'datasets/data/iris.csv').read_text()\n",
    "transformers": "def __getattr__(name):\n    import importlib\n"
    "    return importlib.import_module('transformers.models.' + name)\n",
    "transformers.models": "",
    "transformers.models.bert": "",
    "transformers.models.bert.modeling_bert": "width = 8\n",
    "not_allowed": "",
}
"""Packages of these names, written here: the real ones are tried in
tests/server/packages/test_crowded_environment.py."""


def refused(setting: str) -> str:
    with pytest.raises(SettingError, match="GRADBOX_PACKAGES ") as raised:
        check_settings(Settings({}, packages=setting))
    return str(raised.value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("", "is empty"),
        (" , ", "is empty"),
        ("gradbox-has-no-such-package", "which is not installed: pip install gradbox-has-no-such-package"),
        ("einops,subprocess", "'subprocess', which is a part of Python"),
        ("ctypes", "is a part of Python"),
        ("einops==0.8", "takes names of packages, without versions"),
        ("https://example.org/x.whl", "takes names of packages"),
        ("../server", "takes names of packages"),
        ("server", "it is a part of Gradbox"),
        ("redis", "a program here has no network"),
        ("celery", "a program here runs alone"),
    ],
)
def test_a_package_that_no_program_may_have_is_an_error_at_the_start(setting: str, words: str) -> None:
    assert words in refused(setting)


def test_every_unsuitable_package_is_refused_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowed_packages, "_is_installed", lambda _: True)
    names = [name for unsuitable in UNSUITABLE_PACKAGES.values() for name in unsuitable]
    assert len(names) > 20
    for name in names:
        with pytest.raises(PackageError, match="which no program may import"):
            allowed_modules(name)


def test_the_server_exits_with_one_line_for_a_forbidden_package() -> None:
    command = [sys.executable, "-m", "server", "serve", "--port", "1"]
    result = subprocess.run(
        command, cwd=ROOT, env={"GRADBOX_PACKAGES": "os", "PATH": ""}, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 2 and "GRADBOX_PACKAGES has 'os', which is a part of Python" in result.stderr
    assert "Traceback" not in result.stderr


def test_packages_go_by_their_names_for_pip_and_for_import() -> None:
    assert allowed_modules("Pillow, PyYAML") == allowed_modules("PIL yaml") == ["PIL", "yaml"]
    assert allowed_modules("torch,numpy") == allowed_modules("none") == []
    assert set(allowed_modules("auto")) <= {"einops", "tqdm"}


def test_what_a_package_requires_comes_with_it() -> None:
    needed = required_modules(["jinja2"])
    assert {"jinja2", "markupsafe"} <= needed and "babel" not in needed  # of an extra
    assert "pyyaml" in required_modules(["yaml"])  # the distribution, whose version a package may ask for


@pytest.fixture
def policy_as_before() -> Iterator[None]:
    before = [name for name in policy.DEFAULT_PACKAGES if name in policy.ALLOWED_MODULES]
    yield
    policy.allow_packages(before)


@pytest.mark.usefixtures("policy_as_before")
def test_what_needs_files_or_the_network_is_refused_though_its_package_is_allowed() -> None:
    source = (
        "from sklearn.datasets import fetch_openml, load_iris\nimport torchvision\n"
        "torchvision.datasets.MNIST('.')\ntorchvision.datasets.ImageFolder('.')\n"
    )
    assert [(r.line, r.key) for r in policy.parse_and_check_program(source)[1]] == [(1, "missing"), (2, "missing")]
    policy.allow_packages(["sklearn", "torchvision"])
    refusals = policy.parse_and_check_program(source)[1]
    assert [(r.line, r.key) for r in refusals] == [(1, "network"), (3, "network"), (4, "files")]
    assert [r.key for r in policy.parse_and_check_program("import einops, pandas")[1]] == ["missing", "missing"]


def test_a_refusal_names_the_package_and_the_lines_that_need_it() -> None:
    source = "import torch\nimport pandas as pd\ntable = pd.read_csv('a')\nx = 1\ny = (pd.\n     isna)(table)\nimport foo.bar\n"  # noqa: E501
    first, second = policy.parse_and_check_program(source)[1]
    assert (first.args["package"], first.args["lines"]) == ("pandas", [3, 5])
    assert (second.args["package"], second.args["lines"]) == ("foo", [])


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    folder = tmp_path_factory.mktemp("packages")
    for name, code in STAND_IN.items():
        is_package = any(other.startswith(f"{name}.") for other in STAND_IN)
        write_module(folder, f"{name}.__init__" if is_package and "." in name else name, code)
    for name in ("pandas", "helper_of_pandas"):
        metadata = folder / f"{name}-1.0.dist-info"
        metadata.mkdir()
        needs = "Requires-Dist: helper-of-pandas\n" if name == "pandas" else ""
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
        (metadata / "RECORD").write_text(f"{name}/__init__.py,,\n")
    data = folder / "sklearn" / DATA_FOLDERS["sklearn"][0]
    data.mkdir(parents=True)
    (data / "iris.csv").write_text("5.1,3.5\n")
    (data / "secret.py").write_text("")
    with (
        prepared_zygotes.unused(),
        patch.object(zygote, "PACKAGE_FOLDERS", [str(folder)]),
        pytest.MonkeyPatch.context() as m,
    ):
        m.syspath_prepend(str(folder))
        made = Workers(packages="pandas,sklearn,transformers")
        made.run("x = 1")
    yield made
    made.close()


def outcome(workers: Workers, source: str) -> str:
    """What a program prints, or how it ends."""
    trace = workers.run(source)
    error = trace.outcome.error
    return printed(trace.model_dump()) if error is None else f"{error.type}: {error.message}"


@pytest.mark.slow
def test_a_program_imports_an_allowed_package_with_what_that_requires(workers: Workers) -> None:
    source = "import pandas, pandas.io\nprint(pandas.helper_of_pandas.value, pandas.io.loaded_before_the_fork)\n"
    assert outcome(workers, source) == "42 True\n"
    assert "this server does not offer it" in outcome(workers, "import torchvision")
    assert "is not one of the modules" in outcome(workers, "import helper_of_pandas")
    assert "is not one of the modules" in outcome(workers, "import not_allowed")
    assert "this server does not offer it" in outcome(workers, "import einops")  # it is not in this setting


@pytest.mark.usefixtures("policy_as_before")
def test_with_pandas_a_missing_file_becomes_a_table_of_random_numbers() -> None:
    policy.allow_packages(["pandas"])

    def offered(source: str) -> list[tuple[str, str]]:
        pasted = normalise_pasted_text(source)
        message = "[Errno 2] No such file or directory: 'a.csv'"
        repairs = error_repairs(pasted, source, "FileNotFoundError", message, 2, True)
        return [
            (repair.key, apply_edits(pasted.source, repair.edits, repair.shape).split("\n")[-2]) for repair in repairs
        ]

    assert offered("import pandas as pd\ndf = pd.read_csv('a.csv')\n") == [
        ("table", "df = pd.DataFrame(np.random.randn(4, 4))")
    ]
    assert offered("import pandas\nprint((df := 1), pandas.read_csv('a.csv', sep=';'))\n") == [
        ("table", "print((df := 1), pandas.DataFrame(np.random.randn(4, 4)))")
    ]
    ((key, last),) = offered(
        "import pandas as pd\ndf = pd.read_csv('a.csv'); x = df.groupby('b')[['a']], df['c'], df[['a']]\n"
    )
    assert key == "columns" and "pd.DataFrame({column: np.random.randn(100) for column in ['c', 'a']})" in last
    assert offered("from pandas import read_csv\ndf = read_csv('a.csv')\n") == []


@pytest.mark.slow
def test_an_allowed_package_reads_the_files_of_the_program_alone(workers: Workers) -> None:
    read = "import pandas\nprint(pandas.read_csv({path!r}))\n"
    assert outcome(workers, "open('own.csv', 'w').write('1,2')\n" + read.format(path="own.csv")) == "1,2\n"
    for path in ("/etc/passwd", str(ROOT / "README.md"), "/proc/self/environ"):
        assert (
            outcome(workers, read.format(path=path))
            == f"FileNotFoundError: [Errno 2] No such file or directory: '{path}'"
        )


@pytest.mark.slow
def test_small_data_sets_of_a_package_are_among_the_files_of_a_run(workers: Workers) -> None:
    load = "import sklearn.datasets as d\nfrom pathlib import Path\n"
    assert outcome(workers, f"{load}print(d.load_iris())") == "5.1,3.5\n\n"
    beside = "Path(d.__file__).parent / 'datasets/data'"
    assert outcome(workers, f"{load}print([p.name for p in ({beside}).iterdir()])") == "['iris.csv']\n"
    assert outcome(workers, f"{load}({beside} / 'iris.csv').write_text('x')\nprint(d.load_iris())") in (
        "x\n", "PermissionError: [Errno 13] Permission denied: 'iris.csv'",
    )  # fmt: skip
    assert outcome(workers, f"{load}print(d.load_iris())") == "5.1,3.5\n\n"  # as it was, for the next program


@pytest.mark.slow
def test_a_lazy_package_has_the_parts_that_were_imported_before(workers: Workers) -> None:
    assert outcome(workers, "from transformers.models.bert import modeling_bert as m\nprint(m.width)") == "8\n"
    assert outcome(workers, "import transformers\ntransformers.mamba") == (
        "ModuleNotFoundError: No module named 'transformers.models.mamba'"
    )
