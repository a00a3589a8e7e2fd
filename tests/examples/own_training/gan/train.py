import torch
from losses import critic_loss, generator_loss

torch.manual_seed(0)
generator = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
critic = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.LeakyReLU(0.2), torch.nn.Linear(8, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=0.01)
of_critic = torch.optim.Adam(critic.parameters(), lr=0.01)
for k in range(3):
    real, fake = torch.randn(8, 2) + 3, generator(torch.randn(8, 2))
    of_critic.zero_grad()
    loss_of_critic = critic_loss(critic, real, fake.detach())  # mistake backward_twice: loss_of_critic = critic_loss(critic, real, fake)
    loss_of_critic.backward()
    of_critic.step()
    of_generator.zero_grad()
    loss_of_generator = generator_loss(critic, fake)
    loss_of_generator.backward()
    of_generator.step()
    print(k, round(loss_of_critic.item(), 4), round(loss_of_generator.item(), 4))
