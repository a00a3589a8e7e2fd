"""A character LSTM that learns a sentence and writes on from a letter."""
import torch
import torch.nn as nn

text = "hello pytorch, hello autograd"
chars = sorted(set(text))
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for ch, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join(itos[i] for i in l)
data = torch.tensor(encode(text), dtype=torch.long)
x, y = data[:-1].unsqueeze(0), data[1:].unsqueeze(0)


class CharLSTM(nn.Module):
    def __init__(self, vocab, embed=8, hidden=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, embed)
        self.lstm = nn.LSTM(embed, hidden, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, idx, state=None):
        out, state = self.lstm(self.embed(idx), state)
        return self.head(out), state


torch.manual_seed(42)
model = CharLSTM(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for step in range(15):
    logits, _ = model(x)
    loss = nn.functional.cross_entropy(logits.view(-1, len(chars)), y.view(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 5 == 4:
        print(step, f"{loss.item():.4f}")
model.eval()
with torch.no_grad():
    idx, state, out = torch.tensor([[stoi["h"]]]), None, ["h"]
    for _ in range(8):
        logits, state = model(idx, state)
        probs = torch.softmax(logits[:, -1], dim=-1)
        idx = torch.multinomial(probs, 1)
        out.append(itos[idx.item()])
print("".join(out))
