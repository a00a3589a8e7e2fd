# A loop that is longer than anybody looks at, with a write that matters near its end.
import torch
w = torch.tensor([1.0], requires_grad=True)
marks = torch.zeros(4)
for turn in range(200):
    loss = (w * 2).sum()
    loss.backward()
    if turn == 150:
        marks[1] = turn
    w.grad = None
print(turn, loss, marks)
