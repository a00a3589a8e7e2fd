"""Texts that people paste, as they paste them, and what each has to be taken for.

`program`: it is run, and this stands in it. Else the key of the refusal, and facts that it has to name.
"""

import json
from typing import Any, NamedTuple


class PastedText(NamedTuple):
    """key: `program`, or why it is not run
    holds: texts of the program
    facts: of the refusal
    notices: their kinds
    """

    text: str
    key: str
    holds: tuple[str, ...] = ()
    facts: dict[str, Any] = {}
    notices: tuple[str, ...] = ()


IN_PLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [16, 8]], which is output 0 of SigmoidBackward0, is at version 1; expected version 0 instead. "
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True)."
)
SCALAR = "RuntimeError: grad can be implicitly created only for scalar outputs"

PLAIN = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 42, in <module>
    loss.backward()
  File "/usr/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
  File "/usr/lib/python3.11/site-packages/torch/autograd/__init__.py", line 347, in backward
    _engine_run_backward(
{IN_PLACE}
"""

WITH_MARKS = f"""Traceback (most recent call last):
  File "C:\\Users\\me\\nets\\train.py", line 12, in <module>
    main()
    ~~~~^^
  File "C:\\Users\\me\\nets\\train.py", line 9, in main
    losses.backward()
    ~~~~~~~~~~~~~~~^^
  File "C:\\Python313\\Lib\\site-packages\\torch\\_tensor.py", line 648, in backward
    torch.autograd.backward(
    ~~~~~~~~~~~~~~~~~~~~~~~^
        self, gradient, retain_graph, create_graph, inputs=inputs
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    )
    ^
{SCALAR}
"""

IPYTHON = """---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[7], line 3
      1 x = torch.ones(3, requires_grad=True)
      2 y = x * 2
----> 3 y.backward()

File ~/miniconda3/lib/python3.11/site-packages/torch/_tensor.py:581, in Tensor.backward(self, gradient)
    571 if has_torch_function_unary(self):
--> 581     torch.autograd.backward(
    582         self, gradient, retain_graph, create_graph, inputs=inputs
    583     )

RuntimeError: grad can be implicitly created only for scalar outputs
"""

OLD_NOTEBOOK = """---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-12-a1b2c3d4> in <module>()
      4 for epoch in range(3):
      5     loss = criterion(net(x), y)
----> 6     loss.backward()
      7     optimizer.step()

/usr/local/lib/python3.6/dist-packages/torch/tensor.py in backward(self, gradient, retain_graph, create_graph)
    100                 products. Defaults to ``False``.
    101         \"\"\"
--> 102         torch.autograd.backward(self, gradient, retain_graph, create_graph)

RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they have
already been freed). Specify retain_graph=True if you need to backward through the graph a second time.
"""

CHAINED = """Traceback (most recent call last):
  File "data.py", line 5, in load
    return cache[name]
KeyError: 'train'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 20, in <module>
    x = load("train")
  File "data.py", line 8, in load
    return model(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x10 and 5x2)
"""

OF_A_RANK = f"""[rank0]: Traceback (most recent call last):
[rank0]:   File "/workspace/train.py", line 88, in <module>
[rank0]:     loss.backward()
[rank0]:   File "/opt/conda/lib/python3.10/site-packages/torch/_tensor.py", line 525, in backward
[rank0]:     torch.autograd.backward(
[rank0]: {SCALAR}
"""

COLOURED = (
    "\x1b[0;31m---------------------------------------------------------------------------\x1b[0m\n"
    "\x1b[0;31mRuntimeError\x1b[0m                              Traceback (most recent call last)\n"
    "\x1b[0;32m<ipython-input-4-ab12>\x1b[0m in \x1b[0;36m<module>\x1b[0;34m\x1b[0m\n"
    "\x1b[0;32m----> 1\x1b[0;31m \x1b[0mloss\x1b[0m\x1b[0;34m.\x1b[0mbackward\x1b[0m\x1b[0;34m(\x1b[0m\x1b[0;34m)\x1b[0m\n"
    f"\x1b[0;31mRuntimeError\x1b[0m: {SCALAR.removeprefix('RuntimeError: ')}\n"
)

OF_PYTEST = """    def test_step():
        net = torch.nn.Linear(2, 1)
>       loss = net(torch.ones(3, 4)).sum()

test_net.py:7:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
E   RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x4 and 2x1)

/usr/lib/python3/dist-packages/torch/nn/modules/linear.py:125: RuntimeError
"""

WITH_WORDS = f"""Hi all, I get this error when I call backward on my loss, what am I doing wrong?

{PLAIN}
Thanks in advance!
"""

TAIL = """  File "train.py", line 31, in train
    optimizer.step()
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["## Train"]},
            {
                "cell_type": "code",
                "source": ["!pip install torch\n", "import torch\n", "w = torch.ones(2, requires_grad=True)"],
                "outputs": [],
            },
            {"cell_type": "code", "source": ["w = w - 0.1 * w"], "outputs": []},
        ],
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
    }
)

PROMPTS = """In [1]: import torch

In [2]: x = torch.ones(3, requires_grad=True)

In [3]: y = (x * 2).sum()
   ...: y.backward()

In [4]: x.grad
Out[4]: tensor([2., 2., 2.])
"""

SESSION = """>>> import torch
>>> a = torch.zeros(2)
>>> b = a.view(2)
>>> b[0] = 1
>>> a
tensor([1., 0.])
"""

FORUM = """<p>I don&#39;t understand why <code>x.grad</code> is <code>None</code>:</p>
<pre><code class="lang-python">import torch
x = torch.ones(3, requires_grad=True) * 2
if x.sum() &gt; 0:
    x.sum().backward()
print(x.grad)
</code></pre>
<p>Any idea?</p>
"""

ENTITIES = """import torch
x = torch.ones(3)
if x.sum() &gt; 0 and x.sum() &lt; 9:
    print(&quot;between&quot;)
"""

CHANGE = """diff --git a/net.py b/net.py
index 1234567..89abcde 100644
--- a/net.py
+++ b/net.py
@@ -1,4 +1,4 @@
 import torch
 x = torch.ones(2, requires_grad=True)
-y = x.data * 2
+y = x * 2
 y.sum().backward()
"""

PART_OF_A_CHANGE = """@@ -10,6 +10,7 @@ class Net(nn.Module):
     def forward(self, x):
         h = self.encoder(x)
-        return self.head(h)
+        h = h.detach()
+        return self.head(h)
     def loss(self, x, y):
"""

FENCED = """Here is the smallest program that shows it:

```python
import torch
x = torch.ones(2, requires_grad=True)
x.add_(1)
```

It raises. Why?
"""

UNFENCED = """Hello everybody,
I am trying to train the smallest possible net and its weights never change.

import torch
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.ones(4, 2)).mean()
    loss.backward()

What did I forget in the loop?
Thanks!
"""

PROGRAM_WITH_ITS_ERROR = f"""import torch
x = torch.ones(3, requires_grad=True)
(x * 2).backward()

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    (x * 2).backward()
{SCALAR}
"""

NUMBERED = "1  import torch\n2  x = torch.ones(2)\n3  x.add_(1)\n"
INDENTED = "    import torch\n    x = torch.ones(2)\n    x.add_(1)\n"
TABS = "import torch\nfor k in range(2):\n        x = torch.ones(2)\n\ty = x + k\n"

CUDA = """import torch
x = torch.ones(3, requires_grad=True).cuda()
y = x * 2
y.sum().backward()
print(x.grad)
"""

TRACEBACKS: dict[str, PastedText] = {
    "plain": PastedText(PLAIN, "traceback", facts={"type": "RuntimeError", "at": 42, "code": "loss.backward()",
                                                   "file": "/home/me/train.py", "error": IN_PLACE[14:]}),
    "with_marks": PastedText(WITH_MARKS, "traceback", facts={"at": 9, "code": "losses.backward()"}),
    "ipython": PastedText(IPYTHON, "traceback", facts={"at": 3, "code": "y.backward()", "type": "RuntimeError"}),
    "old_notebook": PastedText(OLD_NOTEBOOK, "traceback", facts={"at": 6, "code": "loss.backward()"}),
    "chained": PastedText(CHAINED, "traceback", facts={"at": 8, "file": "data.py",
                                                       "error": "mat1 and mat2 shapes cannot be multiplied (4x10 and 5x2)"}),
    "of_a_rank": PastedText(OF_A_RANK, "traceback", facts={"at": 88, "code": "loss.backward()"}),
    "coloured": PastedText(COLOURED, "traceback", facts={"error": SCALAR[14:], "at": 1}),
    "of_pytest": PastedText(OF_PYTEST, "traceback",
                            facts={"error": "mat1 and mat2 shapes cannot be multiplied (3x4 and 2x1)"}),
    "with_words": PastedText(WITH_WORDS, "traceback", facts={"at": 42, "type": "RuntimeError"}),
    "tail": PastedText(TAIL, "traceback", facts={"at": 31, "code": "optimizer.step()"}),
    "last_line": PastedText(SCALAR, "traceback", facts={"type": "RuntimeError", "error": SCALAR[14:]}),
    "named_error": PastedText("RuntimeError: CUDA", "traceback", facts={"type": "RuntimeError"}),
    "warning": PastedText(
        "train.py:3: UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed.",
        "traceback", facts={"type": "UserWarning"}),
    "out_of_memory": PastedText(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 14.75 "
        "GiB",
        "traceback", facts={"type": "OutOfMemoryError"}),
}  # fmt: skip

OTHER_TEXTS: dict[str, PastedText] = {
    "pip": PastedText("pip install torch transformers", "install", facts={"packages": "torch transformers"}),
    "bang_pip": PastedText("!pip install -q einops==0.8", "install", facts={"packages": "einops"}),
    "pip_with_index": PastedText("pip3 install torch torchvision --index-url https://wheels.example.org/cu121",
                                 "install", facts={"packages": "torch torchvision"}),
    "conda": PastedText("conda install pytorch torchvision -c pytorch", "install",
                        facts={"packages": "pytorch torchvision"}),
    "conda_environment": PastedText("conda activate torch\npip install -r requirements.txt", "install"),
    "requirements": PastedText("torch==2.1.0\nnumpy>=1.24\ntqdm\n", "install", facts={"packages": "torch numpy tqdm"}),
    "shell": PastedText("cd nets\npython train.py --lr 0.1", "shell"),
    "question": PastedText("why is my loss not going down even though loss.backward() runs without error?", "question"),
    "question_in_chinese": PastedText("为什么 loss.backward() 之后 x.grad 是 None？", "question"),
    "chinese_name": PastedText("为什么梯度是None", "question"),
    "two_words": PastedText("clone or detach", "question"),
    "versus": PastedText("torch.clone vs detach", "question"),
    "short_question": PastedText("x.grad is None", "question"),
    "paragraph": PastedText(
        "I have a model with two heads. When I train the second one, the first one's weights change as well.\n"
        "I froze them with requires_grad, but it does not help. How can I find out which line moves them?", "question"),
    "paragraph_in_chinese": PastedText(
        "我在训练一个两层的网络，第一层的权重一直不变。\n我已经检查过优化器，里面有所有参数。请问是哪里断开了？", "question"),
    "part_of_a_change": PastedText(PART_OF_A_CHANGE, "diff"),
    "message_without_its_type": PastedText("element 0 of tensors does not require grad and does not have a grad_fn",
                                           "question"),
}  # fmt: skip

PROGRAMS: dict[str, PastedText] = {
    "notebook": PastedText(NOTEBOOK, "program", ("w = torch.ones(2, requires_grad=True)", "w = w - 0.1 * w"),
                           notices=("magic", "notebook")),
    "notebook_prompts": PastedText(PROMPTS, "program", ("y.backward()",), notices=("prompts",)),
    "session": PastedText(SESSION, "program", ("b[0] = 1",), notices=("prompts",)),
    "forum": PastedText(FORUM, "program", ("if x.sum() > 0:", "print(x.grad)"), notices=("html",)),
    "entities": PastedText(ENTITIES, "program", ('print("between")',), notices=("html",)),
    "change": PastedText(CHANGE, "program", ("y = x * 2",), notices=("diff",)),
    "fenced": PastedText(FENCED, "program", ("x.add_(1)",), notices=("fences",)),
    "unfenced": PastedText(UNFENCED, "program", ("loss.backward()",), notices=("around",)),
    "with_its_error": PastedText(PROGRAM_WITH_ITS_ERROR, "program", ("(x * 2).backward()",), notices=("around",)),
    "numbered": PastedText(NUMBERED, "program", ("x.add_(1)",), notices=("listing",)),
    "indented": PastedText(INDENTED, "program", ("x.add_(1)",), notices=("indentation",)),
    "tabs": PastedText(TABS, "program", ("y = x + k",), notices=("tabs",)),
    "cuda": PastedText(CUDA, "program", (".cuda()",)),
    "install_before_it": PastedText("pip install torch\nimport torch\nx = torch.ones(2)\n", "program",
                                    ("x = torch.ones(2)",), notices=("around",)),
    "magic_before_it": PastedText("%matplotlib inline\nimport torch\nx = torch.ones(2)\n", "program",
                                  ("x = torch.ones(2)",), notices=("magic",)),
    "transformers": PastedText("from transformers import AutoModel\nmodel = AutoModel.from_pretrained('gpt2')\n",
                               "program", ("AutoModel",)),
    "pandas": PastedText("import pandas as pd\nimport torch\ndf = pd.read_csv('a.csv')\nx = torch.tensor(df.values)\n",
                         "program", ("read_csv",)),
    "sklearn": PastedText("from sklearn.datasets import make_moons\nX, y = make_moons(100)\n", "program", ("make_moons",)),
    "torchvision": PastedText("from torchvision import datasets, transforms\n"
                              "d = datasets.MNIST('.', transform=transforms.ToTensor())\n", "program", ("MNIST",)),
}  # fmt: skip

MISTAKES: dict[str, tuple[str, int]] = {
    "open_bracket": ("import torch\nx = torch.ones(2\ny = x * 2\n", 2),
    "no_colon": ("import torch\nfor k in range(3)\n    x = torch.ones(k)\n", 2),
    "no_colon_after_if": ("x = None\nif x is None\n    x = 1\n", 2),
    "print_of_python_2": ("import torch\nx = torch.ones(2)\nprint x\n", 3),
    "print_of_words": ('x = 1\nprint "the loss of this epoch is", x\n', 2),
    "misspelt_import": ("improt torch\n", 1),
    "misspelt_import_with_more": ("improt torch\nx = torch.ones(2)\nprint(x)\n", 1),
    "misspelt_return": ("def f(x):\n    retrun x\n", 2),
    "misspelt_from": ("form torch import nn\nnet = nn.Linear(2, 2)\n", 1),
    "assignment_in_condition": ("x = 1\nif x = 1:\n    print(x)\n", 2),
    "indentation": ("def f(x):\nreturn x\n", 2),
    "missing_comma": ("import torch\nx = torch.tensor([1. 2.])\n", 2),
    "one_line": ("x = torch.ones(3", 1),
    "one_call": ("print(x", 1),
    "keyword_as_name": ("import torch\nlambda = 0.1\nx = torch.ones(2) * lambda\n", 2),
    "else_without_if": ("x = 1\nelse:\n    x = 2\n", 2),
    "unfinished_string": ("x = 'abc\nprint(x)\n", 1),
    "class_without_colon": ("import torch\nclass Net(torch.nn.Module)\n    pass\n", 2),
    "comment_and_mistake": ("# this trains the net for ten epochs\nx = = 2\n", 2),
    "chinese_comment_and_mistake": ("# 训练一个网络\nx = (1\n", 2),
    "chinese_string_and_mistake": ("print('损失函数的值是', 1\n", 1),
}
"""Programs with a mistake, and the line at which Python has to be heard."""
