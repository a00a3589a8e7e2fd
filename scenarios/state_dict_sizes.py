import torch

old = torch.nn.Linear(3, 2)
new = torch.nn.Linear(3, 5)
saved = old.state_dict()
print({name: tuple(value.shape) for name, value in saved.items()})

print(old.load_state_dict(saved))
new.load_state_dict(saved)
