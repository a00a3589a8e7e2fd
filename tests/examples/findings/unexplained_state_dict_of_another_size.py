# unexplained_error: weight model saved
import torch
saved = torch.nn.Linear(3, 2)
model = torch.nn.Linear(4, 2)
model.load_state_dict(saved.state_dict())  # cause
