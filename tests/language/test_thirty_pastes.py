"""Thirty things that people paste, each as it stood where it was copied: ten errors, notebooks and sessions, lines for
a terminal, prose, a forum's page, a change, CUDA, and programs whose imports are not here. Each gets an answer of its
own kind."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gradbox.language.edits import apply_edits
from gradbox.language.paste import normalise_pasted_text
from gradbox.language.policy import parse_and_check_program
from gradbox.language.repairs import refusals_with_repairs
from gradbox.wire.program import Refusal


@dataclass(frozen=True)
class Paste:
    """key: `program` for one that is run, else why it is not
    holds: texts of the program that is made of it
    facts: what the refusal has to name
    repair: the key of an offer
    lines: that need a package that is not here
    """

    text: str
    key: str
    holds: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    repair: str = ""
    lines: tuple[int, ...] = ()


NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Week 3: why is `.grad` None?\n", "Run all cells."]},
            {
                "cell_type": "code",
                "metadata": {},
                "execution_count": 4,
                "outputs": [],
                "source": ["%matplotlib inline\n", "import torch\n", "w = torch.randn(3, requires_grad=True)\n"],
            },
            {
                "cell_type": "code",
                "metadata": {},
                "execution_count": 5,
                "source": "h = w * 2\nh.sum().backward()\nh.grad",
                "outputs": [
                    {
                        "output_type": "stream",
                        "name": "stderr",
                        "text": ["UserWarning: The .grad attribute of a Tensor"],
                    }
                ],
            },
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)

PASTES = {
    # ten errors
    "error_of_a_script_with_a_shell_prompt": Paste(
        """(venv) anna@gpu07:~/thesis$ python3 finetune.py --lr 3e-4 --epochs 2
epoch 0 step 0 loss 2.3071
Traceback (most recent call last):
  File "/home/anna/thesis/finetune.py", line 118, in <module>
    train(model, loader)
  File "/home/anna/thesis/finetune.py", line 91, in train
    loss.backward()
  File "/home/anna/venv/lib/python3.12/site-packages/torch/_tensor.py", line 647, in backward
    torch.autograd.backward(
RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.
""",  # noqa: E501
        "traceback",
        facts={"type": "RuntimeError", "at": 91, "file": "/home/anna/thesis/finetune.py", "code": "loss.backward()"},
    ),
    "error_from_a_log_with_times": Paste(
        """2026-11-20 14:02:11,512 INFO step 400 loss 0.91
2026-11-20 14:02:12,004 ERROR Traceback (most recent call last):
  File "/srv/jobs/worker.py", line 33, in run
    out = head(features)
  File "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)
""",
        "traceback",
        facts={"type": "RuntimeError", "at": 33, "code": "out = head(features)"},
    ),
    "last_line_alone": Paste(
        "ValueError: Expected input batch_size (64) to match target batch_size (63).",
        "traceback",
        facts={"type": "ValueError", "error": "Expected input batch_size (64) to match target batch_size (63)."},
    ),
    "message_without_a_type": Paste(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "question",
    ),
    "error_in_a_quoted_mail": Paste(
        """> Traceback (most recent call last):
>   File "main.py", line 7, in <module>
>     y[0] = 1.
> RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.
""",
        "traceback",
        facts={"type": "RuntimeError", "at": 7},
    ),
    "two_errors_in_a_chain": Paste(
        """Traceback (most recent call last):
  File "/home/k/data.py", line 20, in __getitem__
    return self.cache[i]
KeyError: 3

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/k/run.py", line 5, in <module>
    x = ds[3]
  File "/home/k/data.py", line 22, in __getitem__
    return torch.tensor(self.rows[i])
ValueError: expected sequence of length 4 at dim 1 (got 3)
""",
        "traceback",
        facts={"type": "ValueError", "file": "/home/k/data.py", "at": 22},
    ),
    "error_of_a_colab_cell": Paste(
        """---------------------------------------------------------------------------
IndexError                                Traceback (most recent call last)
/tmp/ipython-input-3141592653.py in <cell line: 0>()
      2 idx = torch.tensor([0, 11])
      3 emb = nn.Embedding(10, 4)
----> 4 emb(idx).sum().backward()

2 frames
/usr/local/lib/python3.12/dist-packages/torch/nn/functional.py in embedding(input, weight, padding_idx)
   2549         # remove once script supports set_grad_enabled
-> 2551     return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)

IndexError: index out of range in self
""",
        "traceback",
        facts={"type": "IndexError", "at": 4},
    ),
    "error_in_a_fence_with_words": Paste(
        """Hi all, I get this since I upgraded:

```
Traceback (most recent call last):
  File "ppo.py", line 210, in update
    loss.backward()
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [64, 1]], which is output 0 of AsStridedBackward0, is at version 2; expected version 1 instead.
```

Any idea? Thanks!
""",  # noqa: E501
        "traceback",
        facts={"type": "RuntimeError", "at": 210},
    ),
    "error_from_pytest": Paste(
        """    def test_loss():
        x = torch.ones(2, 3)
>       loss.backward()

tests/test_loss.py:14:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
E       RuntimeError: grad can be implicitly created only for scalar outputs

tests/test_loss.py:14: RuntimeError
=========================== short test summary info ============================
FAILED tests/test_loss.py::test_loss - RuntimeError: grad can be implicitly created only for scalar outputs
""",
        "traceback",
        facts={"type": "RuntimeError", "error": "grad can be implicitly created only for scalar outputs"},
    ),
    "error_of_a_rank_of_torchrun": Paste(
        """[rank1]: Traceback (most recent call last):
[rank1]:   File "/data/ddp.py", line 57, in <module>
[rank1]:     out = model(x)
[rank1]: RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!
""",
        "traceback",
        facts={"type": "RuntimeError", "at": 57},
    ),
    # notebooks and sessions
    "notebook": Paste(NOTEBOOK, "program", holds=("w = torch.randn(3, requires_grad=True)", "h.sum().backward()")),
    "ipython_session": Paste(
        """In [11]: import torch

In [12]: a = torch.arange(4.)

In [13]: for i in range(2):
    ...:     a[i] += 10
    ...:

In [14]: a
Out[14]: tensor([10., 11.,  2.,  3.])
""",
        "program",
        holds=("a = torch.arange(4.)", "    a[i] += 10"),
    ),
    "python_session_from_a_manual": Paste(
        """>>> x = torch.empty(3, 4)
>>> x.t_().shape
torch.Size([4, 3])
>>> with torch.no_grad():
...     x.zero_()
...
tensor([[0., 0., 0.],
""",
        "program",
        holds=("x = torch.empty(3, 4)", "    x.zero_()"),
    ),
    "cells_of_a_notebook_copied_as_text": Paste(
        """[1]
import torch
v = torch.ones(2, requires_grad=True)
[2]
!nvidia-smi
v.detach().add_(1)
""",
        "program",
        holds=("v = torch.ones(2, requires_grad=True)", "v.detach().add_(1)"),
    ),
    # lines for a terminal
    "pip": Paste(
        "pip3 install --upgrade torch torchvision --index-url https://download.pytorch.org/whl/cu126",
        "install",
        facts={"packages": "torch torchvision", "here": "torch", "absent": "torchvision"},
    ),
    "conda": Paste(
        "$ conda install pytorch pytorch-cuda=12.4 -c pytorch -c nvidia",
        "install",
        facts={"packages": "pytorch pytorch-cuda"},
    ),
    "uv": Paste("uv pip install einops lightning", "install", facts={"packages": "einops lightning"}),
    # prose
    "question": Paste(
        "whats the difference between detach() and with torch.no_grad() when i update weights by hand?", "question"
    ),
    "question_in_chinese": Paste(
        "为什么 loss.backward() 之后 x.grad 还是 None？我已经设置了 requires_grad=True", "question"
    ),
    "sentence_of_a_tutorial": Paste(
        "Gradients accumulate: calling backward twice adds the second gradient to the first, so zero them between "
        "steps.",
        "question",
    ),
    # a page and a change
    "html_of_a_forum": Paste(
        """<div class="post"><p>Why does this change <code>a</code>?</p>
<pre><code class="lang-python">import torch
a = torch.zeros(3)
b = a[1:]
b.fill_(7)      # &lt;- here
print(a)
</code></pre><p>I expected a copy.</p></div>""",
        "program",
        holds=("b = a[1:]", "b.fill_(7)"),
    ),
    "part_of_a_change": Paste(
        """diff --git a/net.py b/net.py
index 3f1a..9bc2 100644
--- a/net.py
+++ b/net.py
@@ -31,7 +31,7 @@ class Net(nn.Module):
     def forward(self, x):
-        x = F.relu(self.fc1(x), inplace=True)
+        x = F.relu(self.fc1(x))
         return self.fc2(x)
""",
        "diff",
    ),
    # CUDA: it is a program, and what to do about the device is known once it has run
    "cuda_method": Paste(
        "import torch\nnet = torch.nn.Linear(4, 2).cuda()\nout = net(torch.randn(8, "
        "4).cuda())\nout.mean().backward()\n",
        "program",
        holds=("net = torch.nn.Linear(4, 2).cuda()",),
    ),
    "cuda_with_amp": Paste(
        "scaler = torch.amp.GradScaler('cuda')\nwith torch.autocast('cuda', dtype=torch.float16):\n"
        "    y = torch.ones(2, 2, device='cuda:0') @ torch.ones(2, 2, device='cuda:0')\n",
        "program",
        holds=("import torch", "with torch.autocast('cuda', dtype=torch.float16):"),
    ),
    "cuda_default_device": Paste(
        "import torch\ntorch.set_default_device('cuda')\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\n",
        "program",
        holds=("torch.set_default_device('cuda')",),
    ),
    # imports that are not here
    "table": Paste(
        "import torch\nimport pandas as pd\ndf = pd.read_csv('titanic.csv')\nx = torch.tensor(df[['age', "
        "'fare']].values).float()\n"
        "y = torch.tensor(df['survived'].values)\n",
        "missing",
        facts={"package": "pandas"},
        repair="columns",
        lines=(3,),
    ),
    "pictures": Paste(
        "import torch\nfrom torchvision import datasets, transforms\n"
        "tf = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.13,), (0.31,))])\n"
        "train = datasets.MNIST('data', train=True, download=True, transform=tf)\n"
        "for x, y in torch.utils.data.DataLoader(train, batch_size=32):\n    break\n",
        "missing",
        facts={"package": "torchvision"},
        repair="pictures",
        lines=(3, 4),
    ),
    "language_model": Paste(
        "from transformers import AutoTokenizer, AutoModelForCausalLM\ntok = AutoTokenizer.from_pretrained('gpt2')\n"
        "model = AutoModelForCausalLM.from_pretrained('gpt2')\nloss = model(**tok('hi', "
        "return_tensors='pt')).logits.sum()\n",
        "missing",
        facts={"package": "transformers"},
        lines=(2, 3),
    ),
    "metrics_nobody_uses": Paste(
        "import torch, wandb\nfrom sklearn.metrics import f1_score\nx = torch.ones(2, requires_grad=True)\n(x ** "
        "2).sum().backward()\n",
        "missing",
        facts={"package": "wandb"},
        repair="unused",
    ),
    "picture_of_my_own": Paste(
        "import numpy as np, torch\nfrom torchvision import transforms\n"
        "to_tensor = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])\n"
        "x = to_tensor(np.zeros((8, 8, 1), dtype=np.uint8))\nprint(x.shape)\n",
        "missing",
        facts={"package": "torchvision"},
        repair="transforms",
        lines=(3,),
    ),
}


def answered(text: str) -> tuple[str, list[Refusal]]:
    """The program that a text is made into, and the refusals with their offers, as a run has them."""
    pasted = normalise_pasted_text(text)
    refusals = [pasted.other] if pasted.other is not None else parse_and_check_program(pasted.source, pasted.nodes)[1]
    return pasted.source, refusals_with_repairs(pasted, text, refusals)


def test_there_are_thirty_pastes() -> None:
    assert len(PASTES) == 30


@pytest.mark.parametrize("name", PASTES)
def test_each_paste_gets_the_right_kind_of_answer(name: str) -> None:
    paste = PASTES[name]
    source, refusals = answered(paste.text)
    keys = [refusal.key for refusal in refusals]
    assert "syntax" not in keys, refusals
    if paste.key == "program":
        assert not refusals and all(f"\n{text}" in f"\n{source}" for text in paste.holds), source
        return
    assert keys and keys[0] == paste.key, (keys, source)
    assert {key: refusals[0].args.get(key) for key in paste.facts} == paste.facts
    offers = [repair.key for refusal in refusals for repair in refusal.repairs]
    assert (paste.repair in offers) if paste.repair else not offers
    if paste.lines:
        assert tuple(refusals[0].args["lines"]) == paste.lines


def run_with_offer(name: str) -> dict[str, Any]:
    """The names of the program that an offer makes of a paste, after it has run in plain Python."""
    paste = PASTES[name]
    source, refusals = answered(paste.text)
    repair = next(repair for refusal in refusals for repair in refusal.repairs if repair.key == paste.repair)
    program = normalise_pasted_text(apply_edits(source, repair.edits, repair.shape)).source
    assert parse_and_check_program(program)[1] == []
    namespace: dict[str, Any] = {}
    exec(compile(program, name, "exec"), namespace)
    return namespace


def test_a_table_with_named_columns_becomes_arrays_of_these_names() -> None:
    names = run_with_offer("table")
    assert names["x"].shape == (100, 2) and names["y"].shape == (100,)
    assert list(names["df"]) == ["survived", "age", "fare"] and names["x"].dtype.is_floating_point


def test_transforms_become_functions_that_do_the_same() -> None:
    names = run_with_offer("picture_of_my_own")
    assert names["x"].shape == (1, 8, 8) and names["x"].unique().tolist() == [-1.0]  # (0 / 255 - 0.5) / 0.5
    picture = names["np"].arange(12, dtype="uint8").reshape(2, 2, 3)
    assert names["array_to_tensor"]()(picture)[1, 0, 1].item() == pytest.approx(4 / 255)
    grey = names["array_to_tensor"]()(picture[:, :, 0].astype("float64"))
    assert grey.shape == (1, 2, 2) and grey.dtype == names["torch"].float64 and grey[0, 1, 1].item() == 9.0


def test_only_unused_imports_are_left_out() -> None:
    assert run_with_offer("metrics_nobody_uses")["x"].grad.tolist() == [2.0, 2.0]
    source, refusals = answered("import torch, wandb\nimport pandas\nprint(pandas)\n")
    (repair,) = [repair for refusal in refusals for repair in refusal.repairs]
    assert apply_edits(source, repair.edits) == "import torch\nimport pandas\nprint(pandas)\n"


TABLE = "import torch\nimport pandas as pd\ndf = pd.read_csv('a.csv')\n"


@pytest.mark.parametrize(
    "use",
    [
        "x = torch.tensor(df['a'].values)\nprint(len(df))\n",
        "x = df.groupby('a')['b'].mean()\n",
        "x = df['a'].str.len()\n",
        "for name in df:\n    print(df[name])\n",
        "df[['a', 'b']] = 0\n",
    ],
)
def test_a_table_used_beyond_its_columns_gets_no_repair(use: str) -> None:
    assert [repair.key for refusal in answered(TABLE + use)[1] for repair in refusal.repairs] == []


def test_statements_that_show_a_table_are_left_out() -> None:
    source, refusals = answered(f"{TABLE}print(df.head())\ndf.info()\nx = torch.tensor(df['a'].to_numpy('float32'))\n")
    (repair,) = [repair for refusal in refusals for repair in refusal.repairs]
    program = apply_edits(source, repair.edits, "7")
    assert "# print(df.head())\n# df.info()\nx = torch.tensor(df['a'].astype('float32'))\n" in program
    assert "np.random.randn(7)" in program and repair.args == {"columns": "a"}
