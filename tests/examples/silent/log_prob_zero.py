# nonfinite at 5: probs
import torch
logits = torch.tensor([200.0, 0.0, -200.0], requires_grad=True)
probs = torch.softmax(logits, 0)
entropy = -(probs * probs.log()).sum()
entropy.backward()
print(entropy, logits.grad)
