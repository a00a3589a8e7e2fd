"""Anchors, IoU, matching, box encoding, non-maximum suppression: the pieces of a detector."""
import torch
from torch import nn


def anchors(h, w, sizes, ratios):
    cy, cx = torch.meshgrid((torch.arange(h) + 0.5) / h, (torch.arange(w) + 0.5) / w, indexing="ij")
    whs = torch.tensor([[s * r ** 0.5, s / r ** 0.5] for s in sizes for r in ratios])
    centers = torch.stack([cx, cy], -1).view(-1, 1, 2)
    return torch.cat([centers - whs / 2, centers + whs / 2], -1).view(-1, 4)


def box_iou(a, b):
    area = lambda t: (t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1])
    inter = (torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])).clamp(min=0).prod(-1)
    return inter / (area(a)[:, None] + area(b) - inter)


def corner_to_center(b):
    return torch.cat([(b[:, :2] + b[:, 2:]) / 2, b[:, 2:] - b[:, :2]], 1)


def encode(anchor, gt):
    a, g = corner_to_center(anchor), corner_to_center(gt)
    return torch.cat([10 * (g[:, :2] - a[:, :2]) / a[:, 2:], 5 * torch.log(1e-6 + g[:, 2:] / a[:, 2:])], 1)


def nms(boxes, scores, threshold):
    order, keep = scores.argsort(descending=True), []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i].reshape(-1, 4), boxes[order[1:]]).reshape(-1)
        order = order[1:][iou <= threshold]
    return keep


torch.manual_seed(0)
A = anchors(3, 3, [0.4], [1.0, 2.0])
gt = torch.tensor([[0.1, 0.1, 0.5, 0.5], [0.55, 0.2, 0.9, 0.88]])
iou = box_iou(A, gt)
best, assigned = iou.max(1)
assigned[best < 0.3] = -1
for j in range(len(gt)):
    assigned[iou[:, j].argmax()] = j
positive = assigned >= 0
print(A.shape, positive.sum(), encode(A[positive], gt[assigned[positive]]).shape)
head = nn.Conv2d(4, 2 * (4 + 3), 3, padding=1)
pred = head(torch.randn(1, 4, 3, 3)).permute(0, 2, 3, 1).reshape(-1, 7)
loss = nn.functional.smooth_l1_loss(pred[positive, :4], encode(A[positive], gt[assigned[positive]])) + nn.functional.cross_entropy(pred[:, 4:], (assigned + 1).clamp(max=2))
loss.backward()
print(f"{loss.item():.4f}", nms(A, pred[:, 5].detach(), 0.4)[:4])
