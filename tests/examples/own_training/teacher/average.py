import torch


@torch.no_grad()  # mistake graph_grows at +3: @torch.enable_grad()
def update_average(teacher, student, decay):
    for slow, fast in zip(teacher.parameters(), student.parameters(), strict=True):
        slow.mul_(decay).add_(fast, alpha=1 - decay)
