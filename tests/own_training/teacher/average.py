import torch


@torch.no_grad()
def update_average(teacher, student, decay):
    for slow, fast in zip(teacher.parameters(), student.parameters(), strict=True):
        slow.mul_(decay).add_(fast, alpha=1 - decay)  # mistake rebound_loop: slow = slow * decay + fast * (1 - decay)
