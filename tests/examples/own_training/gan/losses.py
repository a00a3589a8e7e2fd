import torch
from torch.nn.functional import binary_cross_entropy_with_logits


def critic_loss(critic, real, fake):
    ones, zeros = torch.ones(len(real), 1), torch.zeros(len(fake), 1)
    of_real = binary_cross_entropy_with_logits(critic(real), ones)
    return of_real + binary_cross_entropy_with_logits(critic(fake), zeros)


def generator_loss(critic, fake):
    return binary_cross_entropy_with_logits(critic(fake), torch.ones(len(fake), 1))
