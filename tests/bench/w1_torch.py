# SPDX-License-Identifier: MIT
"""w1_torch.py queue|train BATCHES [cpu|cuda] - do W1 a and f by PyTorch on two cores or a GPU, and print the seconds.

The same work as libclient/examples/w1_queue.c (a) and w1_train.c, after two warm-up rounds, as (a) has there.
"""
import sys
import time

import torch

torch.set_num_threads(2)
torch.manual_seed(1)
device = sys.argv[3] if len(sys.argv) > 3 else "cpu"


def finish():
    if device == "cuda":
        torch.cuda.synchronize()


def queue(times):
    begin = time.perf_counter()
    for _ in range(times):
        a = torch.randn(1000, 1000, device=device)
        torch.mm(a, a)
    finish()
    return time.perf_counter() - begin


def train(batches):
    net = torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.ReLU(),
        torch.nn.Linear(2048, 512), torch.nn.ReLU(),
        torch.nn.Linear(512, 1)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    target = torch.ones(1024, 1, device=device)
    begin = time.perf_counter()
    for _ in range(batches):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(torch.randn(1024, 512, device=device)), target)
        loss.backward()
        optimizer.step()
        loss.item()
    return time.perf_counter() - begin


if sys.argv[1] == "queue":
    queue(2)
    print(queue(10))
else:
    train(2)
    print(train(int(sys.argv[2])))
