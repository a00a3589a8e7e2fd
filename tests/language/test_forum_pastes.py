"""More of what people paste into the box: reports of test runners and trainers, mails, commands with a program inside,
printed output, other languages, halves of programs. None of what is no program is answered with Python's `invalid
syntax`."""

import json
from typing import Any

import pytest

from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import parse_and_check_program

PROGRAM = "import torch\nw = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * 3).sum().backward()\nprint(w.grad)"

OTHERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "colab_ansi": (
        "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m\n"
        "\x1b[0;31mRuntimeError\x1b[0m                              Traceback (most recent call last)\n"
        "\x1b[0;32m<ipython-input-14-3c1d5f2a>\x1b[0m in \x1b[0;36m<cell line: 0>\x1b[0;34m()\x1b[0m\n"
        "\x1b[1;32m      2\x1b[0m \x1b[0;32mfor\x1b[0m \x1b[0mx\x1b[0m\x1b[0;34m,\x1b[0m \x1b[0my\x1b[0m "
        "\x1b[0;32min\x1b[0m \x1b[0mloader\x1b[0m\x1b[0;34m:\x1b[0m\n"
        "\x1b[1;32m      3\x1b[0m     \x1b[0mloss\x1b[0m \x1b[0;34m=\x1b[0m "
        "\x1b[0mcriterion\x1b[0m\x1b[0;34m(\x1b[0m\x1b[0mmodel\x1b[0m\x1b[0;34m(\x1b[0m\x1b[0mx\x1b[0m\x1b[0;34m)\x1b[0m\x1b[0;34m,\x1b[0m \x1b[0my\x1b[0m\x1b[0;34m)\x1b[0m\n"
        "\x1b[0;32m----> 4\x1b[0;31m     \x1b[0mloss\x1b[0m\x1b[0;34m.\x1b[0m\x1b[0mbackward\x1b[0m\x1b[0;34m(\x1b[0m\x1b[0;34m)\x1b[0m\n"
        "\x1b[0m\n"
        "\x1b[0;31mRuntimeError\x1b[0m: element 0 of tensors does not require grad and does not have a grad_fn\n",
        "traceback",
        {"at": 4},
    ),
    "pytest": (
        "============================= test session starts ==============================\n"
        "platform linux -- Python 3.12.3, pytest-8.2.0\n"
        "collected 3 items\n"
        "\n"
        "tests/test_model.py .F.                                                  [100%]\n"
        "\n"
        "=================================== FAILURES ===================================\n"
        "______________________________ test_forward_shape ______________________________\n"
        "\n"
        "    def test_forward_shape():\n"
        "        net = Net(10)\n"
        ">       out = net(torch.randn(4, 12))\n"
        "\n"
        "tests/test_model.py:14: \n"
        "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _\n"
        "nets/model.py:22: in forward\n"
        "    return self.fc(x)\n"
        "E       RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x12 and 10x5)\n"
        "\n"
        "/usr/lib/python3.12/site-packages/torch/nn/modules/linear.py:125: RuntimeError\n"
        "=========================== short test summary info ============================\n"
        "FAILED tests/test_model.py::test_forward_shape - RuntimeError: mat1 and mat2 shapes cannot be multiplied "
        "(4x12 and 10x5)\n"
        "========================= 1 failed, 2 passed in 1.21s ==========================\n",
        "traceback",
        {"type": "RuntimeError"},
    ),
    "lightning": (
        "GPU available: False, used: False\n"
        "TPU available: False, using: 0 TPU cores\n"
        "\n"
        "  | Name  | Type   | Params | Mode \n"
        "-----------------------------------------\n"
        "0 | net   | Linear | 11     | train\n"
        "-----------------------------------------\n"
        "Epoch 0:   0%|          | 0/32 [00:00<?, ?it/s]Traceback (most recent call last):\n"
        '  File "/home/k/proj/train_lit.py", line 57, in <module>\n'
        "    trainer.fit(model, loader)\n"
        '  File "/home/k/.venv/lib/python3.11/site-packages/lightning/pytorch/trainer/trainer.py", line 543, in fit\n'
        "    call._call_and_handle_interrupt(\n"
        '  File "/home/k/proj/train_lit.py", line 31, in training_step\n'
        "    loss = F.cross_entropy(logits, y.float())\n"
        '  File "/home/k/.venv/lib/python3.11/site-packages/torch/nn/functional.py", line 3104, in cross_entropy\n'
        "    return torch._C._nn.cross_entropy_loss(\n"
        "RuntimeError: expected scalar type Long but found Float\n",
        "traceback",
        {"at": 31},
    ),
    "conda": (
        "conda create -n torch python=3.11 pytorch torchvision pytorch-cuda=12.1 -c pytorch -c nvidia -y",
        "install",
        {"packages": "pytorch torchvision pytorch-cuda"},
    ),
    "nvidia_smi": (
        "!nvidia-smi\n"
        "Tue Mar  3 10:20:11 2026\n"
        "+-----------------------------------------------------------------------------------------+\n"
        "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
        "|-----------------------------------------+------------------------+----------------------+\n"
        "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
        "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
        "|=========================================+========================+======================|\n"
        "|   0  Tesla T4                       Off |   00000000:00:04.0 Off |                    0 |\n"
        "| N/A   36C    P8              9W /   70W |       0MiB /  15360MiB |      0%      Default |\n"
        "+-----------------------------------------+------------------------+----------------------+\n",
        "output",
        {},
    ),
    "r_code": (
        "library(torch)\n"
        "x <- torch_tensor(c(1, 2, 3), requires_grad = TRUE)\n"
        "y <- (x * 2)$sum()\n"
        "y$backward()\n"
        "x$grad\n",
        "language",
        {"language": "R"},
    ),
    "cpp": (
        "#include <torch/torch.h>\n"
        "int main() {\n"
        "  torch::Tensor t = torch::rand({2, 3});\n"
        "  std::cout << t << std::endl;\n"
        "}\n",
        "language",
        {"language": "C++"},
    ),
    "chinese_question": (
        "请问一下，我训练的时候 loss 一直是 nan，学习率已经调到 1e-5 了，还是不行，这是什么原因？",
        "question",
        {},
    ),
    "conda_list": (
        "# packages in environment at /opt/conda:\n"
        "#\n"
        "# Name                    Version                   Build  Channel\n"
        "numpy                     1.26.4          py311h64a7726_0    conda-forge\n"
        "pytorch                   2.3.0           py3.11_cuda12.1_cudnn8.9.2_0    pytorch\n",
        "output",
        {},
    ),
    "collect_env": (
        "PyTorch version: 2.3.0+cu121\n"
        "Is debug build: False\n"
        "CUDA used to build PyTorch: 12.1\n"
        "OS: Ubuntu 22.04.4 LTS (x86_64)\n"
        "Python version: 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] (64-bit runtime)\n",
        "output",
        {},
    ),
    "log": (
        "Epoch 1/10\n"
        "[Train] loss: 2.3026 acc: 0.1012\n"
        "[Valid] loss: 2.3026 acc: 0.0998\n"
        "Epoch 2/10\n"
        "[Train] loss: 2.3026 acc: 0.0987\n",
        "output",
        {},
    ),
    "model_repr": (
        "Sequential(\n"
        "  (0): Linear(in_features=4, out_features=8, bias=True)\n"
        "  (1): ReLU()\n"
        "  (2): Linear(in_features=8, out_features=2, bias=True)\n"
        ")\n",
        "output",
        {},
    ),
    "url": (
        "https://discuss.pytorch.org/t/why-is-grad-none/12345",
        "question",
        {},
    ),
}

QUOTED = "\n".join(
    f"> {line}".rstrip()
    for line in ["Hi,", "why is the gradient doubled?", "", *PROGRAM.split("\n"), "", "Thanks, Ben"]
)
MAIL = f"On Tue, 3 Mar 2026 at 10:14, Ben <ben@example.org> wrote:\n{QUOTED}\n"
HEREDOC = f"$ python3 - <<'EOF'\n{PROGRAM}\nEOF\n"
WRITTEN = f"cat > train.py << EOF\n{PROGRAM}\nEOF\npython train.py\n"
COMMAND = 'python -c "import torch; x = torch.ones(2); print(x, \\"sum\\", x.sum())"\n'
FENCES = (
    "You need three things.\n\n1. Install it:\n\n```bash\npip install torch\n```\n\n2. Make it:\n\n```python\nimport "
    "torch\n"
    "w = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * 3).sum().backward()\n```\n\n3. Look:\n\n"
    "```python\nprint(w.grad)\n```\n\nOutput:\n\n```\ntensor([6., 6.])\n```\n"
)
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [],
                "source": [f"{line}\r\n" for line in PROGRAM.split("\n")]}], "nbformat": 4, "nbformat_minor": 5},
    indent=1,
).replace("\n", "\r\n")  # fmt: skip
HTML = (
    '<p>My <code>w.grad</code> is doubled.</p>\n<pre class="lang-py s-code-block"><code class="hljs language-python">'
    '<span class="hljs-keyword">import</span> torch\nw = torch.ones(<span class="hljs-number">2</span>, requires_grad=True)\n'
    "for _ in range(2):\n    (w * 3).sum().backward()\nprint(w.grad)\n</code></pre>"
)
GIST = (
    "--- a/train.py\n+++ b/train.py\n@@ -1,4 +1,5 @@\n import torch\n w = torch.ones(2, requires_grad=True)\n"
    "-for _ in range(1):\n+for _ in range(2):\n     (w * 3).sum().backward()\n+print(w.grad)\n"
)
DOCTEST = "    Examples::\n\n" + "\n".join(
    f"        {'...' if line.startswith(' ') else '>>>'} {line}" for line in PROGRAM.split("\n")
) + "\n        tensor([6., 6.])\n"  # fmt: skip
TABS = PROGRAM.replace("    ", "\t") + "\n"

PROGRAMS = {
    "mail": MAIL, "heredoc": HEREDOC, "written_by_cat": WRITTEN, "fences": FENCES, "notebook_with_crlf": NOTEBOOK, "html": HTML,
    "gist": GIST, "doctest": DOCTEST, "tabs": TABS,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_paste_that_is_not_a_program_is_classified(name: str) -> None:
    text, key, facts = OTHERS[name]
    other = normalise_pasted_text(text).other
    assert other is not None and other.key == key
    assert facts.items() <= other.args.items()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_inside_a_paste_is_extracted(name: str) -> None:
    pasted = normalise_pasted_text(PROGRAMS[name])
    assert pasted.other is None
    assert [line for line in pasted.source.expandtabs(4).split("\n") if line.strip()] == PROGRAM.split("\n")
    assert parse_and_check_program(pasted.source)[1] == []


def test_a_command_has_its_program_in_quotes() -> None:
    pasted = normalise_pasted_text(COMMAND)
    assert pasted.source == 'import torch; x = torch.ones(2); print(x, "sum", x.sum())' and pasted.lines == [1]


@pytest.mark.parametrize(
    ("text", "kind", "args"),
    [
        (
            "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return "
            "x\n",
            "uncalled",
            {"name": "Net"},
        ),
        ("import torch\n\n\ndef f(x):\n    return x * 2\n", "uncalled", {"name": "f"}),
        ("import torch\nimport torch.nn as nn\n", "imports", {}),
    ],
)
def test_a_program_that_calls_nothing_says_so(text: str, kind: str, args: dict[str, str]) -> None:
    notices = normalise_pasted_text(text).notices
    assert [(notice.kind, notice.args) for notice in notices] == [(kind, args)]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x\nprint(f(1))",
        "import torch\nx = torch.ones(1)",
        "class A:\n    pass\nA()",
        '"""Only words."""',
    ],
)
def test_a_program_that_does_something_has_no_such_notice(text: str) -> None:
    assert not {"uncalled", "imports"} & {notice.kind for notice in normalise_pasted_text(text).notices}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch\nx = torch.ones(2)\nprint x\n", "Missing parentheses in call to 'print'"),
        ("import torch\nx = torch．ones（2）\n", "invalid character"),
        (
            "import torch\nclass Net(torch.nn.Module):\ndef __init__(self):\nsuper().__init__()\n",
            "expected an indented block",
        ),
        ("import torch\nx = torch.ones(2)\nif x.sum() > 0 && True:\n    print(x)\n", "invalid syntax"),
        ("import torch\nfor epoch in range(3)\n    loss = step()\n", "expected ':'"),
    ],
)
def test_a_program_with_a_mistake_keeps_pythons_own_words(text: str, words: str) -> None:
    pasted = normalise_pasted_text(text)
    assert pasted.other is None
    (refusal, *_) = parse_and_check_program(pasted.source)[1]
    assert refusal.key == "syntax" and words in refusal.message
