"""What the sentence of a step says, and what it leaves out."""

import json
import subprocess

from tests.explaining import NODE, ROOT
from tests.tracing import trace

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
    recorded = trace(SOURCE)
    command = [*NODE, str(ROOT / "tests/captions.mjs")]
    done = subprocess.run(command, input=json.dumps(recorded), capture_output=True, text=True, cwd=ROOT, check=True)
    by_line: dict[int, list[str]] = {}
    for step, texts in zip(recorded["steps"], json.loads(done.stdout), strict=True):
        by_line.setdefault(step["line"], []).extend(texts)
    assert "self.out.weight is another name for the tensor self.emb.weight." in by_line[8]
    assert "a is a new LM." in by_line[9] and not any("another name" in text for text in by_line[9])
    assert not any("No gradient flows back" in text for text in by_line[11])
    assert not any("version counter" in text for text in by_line[13]), "nothing saved expects a version of x"
    assert "loss.grad is None." in by_line[14]
    assert "b is another name for a LM." in by_line[15]
    written = [text for text in by_line[19] if text.startswith("Writes ")]
    assert written and all("through t." in text for text in written), "not p, which names it as well"
    assert "Writes one element of t3. Also changed through shared memory: s1." in by_line[22], "a name is no uid"
    assert any(text.startswith("s1 ") for text in by_line[23])
