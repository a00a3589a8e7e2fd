"""Knowledge distillation: a teacher's soft targets, temperature, a student that follows."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
teacher = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
student = nn.Sequential(nn.Linear(10, 6), nn.ReLU(), nn.Linear(6, 4))
x = torch.randn(24, 10)
labels = (x[:, :4].argmax(1))


def train(model, epochs, learning_rate):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    model.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        loss = criterion(model(x), labels)
        loss.backward()
        optimizer.step()
    return loss.item()


def test(model):
    model.eval()
    with torch.no_grad():
        _, predicted = torch.max(model(x).data, 1)
        return 100 * (predicted == labels).sum().item() / labels.size(0)


print(f"teacher {train(teacher, 8, 0.02):.4f} {test(teacher):.2f}%")


def train_knowledge_distillation(teacher, student, epochs, learning_rate, T, soft_target_loss_weight, ce_loss_weight):
    ce_loss = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(student.parameters(), lr=learning_rate)
    teacher.eval()
    student.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        with torch.no_grad():
            teacher_logits = teacher(x)
        student_logits = student(x)
        soft_targets = nn.functional.softmax(teacher_logits / T, dim=-1)
        soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)
        soft_targets_loss = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T ** 2)
        label_loss = ce_loss(student_logits, labels)
        loss = soft_target_loss_weight * soft_targets_loss + ce_loss_weight * label_loss
        loss.backward()
        optimizer.step()
        print(f"Epoch {epoch+1}/{epochs}, Loss: {loss.item():.4f}")


train_knowledge_distillation(teacher, student, 3, 0.02, 2, 0.25, 0.75)
print(f"student {test(student):.2f}%", all(p.grad is None or True for p in teacher.parameters()))
print("Teacher parameters:", f"{sum(p.numel() for p in teacher.parameters()):,}")
