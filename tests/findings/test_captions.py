"""What the sentence of a step says, and what it leaves out."""

import re

import pytest

from tests.recordings.store import kept_trace
from tests.support.explaining import call_page

SOURCE = """\
import torch
from torch import nn
class LM(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.out = nn.Linear(d, v, bias=False)
        self.out.weight = self.emb.weight
a = LM(5, 3)
loss = a.out(a.emb(torch.tensor([1]))).sum()
print(loss.item())
x = torch.zeros(2)
x += 1
print(loss.grad)
b = a
for p in [x]:
    pass
for t in [x]:
    t.mul_(2).add_(1)
t3 = torch.zeros(3)
s1 = t3[1:]
t3[1] = 2.
s1.unsqueeze_(0)
"""


def test_captions_use_the_names_of_the_program() -> None:
    by_line = sentences_by_line(SOURCE, "en")
    assert "self.out.weight is another name for the tensor self.emb.weight." in by_line[8]
    assert "a is a new LM." in by_line[9] and not any("another name" in text for text in by_line[9])
    assert not any("No gradient flows back" in text for text in by_line[11])
    assert not any("version" in text for text in by_line[13]), "nothing saved expects a version of x"
    assert "loss.grad is None." in by_line[14]
    assert "b is another name for the LM a." in by_line[15]
    written = [text for text in by_line[19] if " is now " in text]
    assert written and all(text.startswith("t ") for text in written), "not p, which names it as well"
    assert "t3[1] is now 2. s1 reads the same memory, so s1[0] is 2 too." in by_line[22], "a name is no uid"
    assert any(text.startswith("s1 ") for text in by_line[23])


WALK = """\
import torch
a = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
c = a.detach()
c[0] = 8.0
s = c[1:]
s.mul_(2)
y = a * a
z = y.sum()
z.backward()
(a * 3).sum().backward()
n = c.numpy()
a.grad = None
del s
n[1] = 5
opt = torch.optim.SGD([a], lr=0.5, momentum=0.9)
(a * 2).sum().backward()
opt.step()
with torch.no_grad():
    q = a * 2
xs = [a]
xs.append(q)
i = 3
i = 4
def f(x):
    return x * 2
r = f(q)
print(r)
try:
    q.reshape(7)
except RuntimeError:
    pass
"""
SAID = {
    2: ["a is a new tensor of 3 numbers, in memory of its own."],
    3: ["c is a new tensor that reads the same memory as a."],
    4: ["c[0] is now 8. a reads the same memory, so a[0] is 8 too."],
    5: ["s is a new tensor that reads 2 of the 3 numbers of c, in the same memory."],
    6: ["s is now [4, 8]. a and c read the same memory, so they have changed too."],
    7: ["Mul keeps a for backward."],
    9: [
        "Backward is at Sum. It sends one gradient to Mul.",
        "Backward is at Mul. It sends 2 gradients to a, where they add up.",
        "The gradient has arrived: a.grad was None and is now [16, 8, 16].",
        "Backward is done. It brought a gradient to a.grad.",
    ],
    10: ["The gradient has arrived and is added: a.grad was [16, 8, 16] and is now [19, 11, 19]."],
    11: ["n is a NumPy array that reads the same memory as c."],
    12: ["a.grad is None again."],
    13: ["The name s is gone, and so is its tensor."],
    14: ["n[1] is now 5. a and c read the same memory, so they have changed too."],
    17: ["opt.step() moved a from [8, 5, 8] to [7, 4, 7] and made one tensor of its own."],
    18: ["From here on autograd records nothing: grad mode is off."],
    20: ["xs is a new list of one item."],
    21: ["xs now holds 2 items; before, 1."],
    22: ["i is 3."],
    23: ["i is now 4."],
    26: ["f() begins. Inside, x is q.", "r is the name of a tensor of 3 numbers that had none."],
    25: ["f() is done and returns a tensor of 3 numbers."],
    27: ["This line prints tensor([28., 16., 28.])"],
    29: ["This raises an exception, and the program catches it."],
}


def sentences_by_line(source: str, language: str) -> dict[int, list[str]]:
    recorded = kept_trace(source)
    by_line: dict[int, list[str]] = {}
    for step, texts in zip(
        recorded["steps"], call_page("findings/captions", recorded, [language])[language], strict=True
    ):
        by_line.setdefault(step["line"], []).extend(texts)
    return by_line


@pytest.mark.parametrize("first", ["pass", "assert True", "x: int", "for i in []:\n    pass"])
def test_a_first_statement_that_changes_nothing_is_said_to_change_nothing(first: str) -> None:
    assert sentences_by_line(f"{first}\n", "en")[1] == ["Nothing changes in memory or in the graph."]


def test_an_end_that_frees_nothing_says_so() -> None:
    assert sentences_by_line("# nothing\n", "en")[1] == ["There is no statement here to step through."]
    assert sentences_by_line("# nothing\n", "zh")[1] == ["这里没有可以单步执行的语句。"]


STALE = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\n"


def test_a_saved_value_of_another_version_is_an_error_only_where_a_backward_fails_for_it() -> None:
    unneeded = " ".join(sentences_by_line(STALE, "en")[4])
    assert "A backward through Exp would raise an error." in unneeded and "will raise" not in unneeded
    needed = " ".join(sentences_by_line(f"{STALE}y.sum().backward()\n", "en")[4])
    assert "Backward through Exp will raise an error." in needed
    caught = f"{STALE}try:\n    y.sum().backward()\nexcept RuntimeError:\n    pass\n"
    assert "Backward through Exp will raise an error." in " ".join(sentences_by_line(caught, "en")[4])


def test_each_kind_of_step_has_its_plain_sentence() -> None:
    said = sentences_by_line(WALK, "en")
    missing = {line: (text, said[line]) for line, texts in SAID.items() for text in texts if text not in said[line]}
    assert missing == {}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_has_a_uid_a_hole_or_a_mark_of_its_own(language: str) -> None:
    texts = [text for texts in sentences_by_line(WALK, language).values() for text in texts]
    assert len(texts) > 30
    assert [text for text in texts if re.search(r"[{}`⟦⟧]|undefined|\b[tscn]\d+\b|\bmat1\b|\bself\b", text)] == []


def test_chinese_sentences_have_blanks_around_names_only() -> None:
    said = sentences_by_line(WALK, "zh")
    assert "c[0] 现在是 8。a 读的是同一块内存，所以 a[0] 也是 8。" in said[4]
    assert "s 现在是 [4, 8]。a 和 c 读的是同一块内存，所以它们也变了。" in said[6]
