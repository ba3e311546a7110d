"""Assignment 4 in Python, for `lab bench launch`: the same work as the lab binary's handout part, on torch.distributed."""
import os

import torch
import torch.distributed as dist

BATCH, IN, OUT, LR, SEED = 128, 64, 32, 0.5, 42
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.set_num_threads(max(1, (os.cpu_count() or 1) // size))


def weight():
    torch.manual_seed(SEED)
    return torch.randn(IN, OUT)


def batch():
    torch.manual_seed(SEED)
    return torch.randn(BATCH, IN), torch.randn(BATCH, OUT)


def report(prefix, actual, expected):
    diff = (actual - expected).abs()
    close = torch.allclose(actual, expected, rtol=1e-5, atol=1e-5)
    print(f"{prefix}[Rank {rank}] Tensors match: {close} | Max diff: {diff.max():.6e} | Mean diff: {diff.mean():.6e}", flush=True)


def step(begin, end, forward, w, micro_steps=1, average=False):
    w = w.clone().requires_grad_()
    optimizer = torch.optim.SGD([w], lr=LR)
    x, y = (part[begin:end] for part in batch())
    for micro_x, micro_y in zip(x.chunk(micro_steps), y.chunk(micro_steps)):
        (torch.nn.functional.mse_loss(forward(micro_x, w), micro_y) / micro_steps).backward()
    if average:
        dist.all_reduce(w.grad)
        w.grad /= size
    optimizer.step()
    return w.detach()


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.empty_like(x) for _ in range(size)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, dim=-1)

    @staticmethod
    def backward(ctx, grad):
        return grad.chunk(size, dim=-1)[rank].contiguous()


def main():
    if "LAB_STORE_FILE" in os.environ:
        dist.init_process_group("gloo", init_method="file://" + os.environ["LAB_STORE_FILE"] + ".python", rank=rank, world_size=size)
    else:
        dist.init_process_group("gloo")
    print(f"[Distributed Init] Rank {rank} initialized on N/A on CPU {rank}.", flush=True)
    dist.barrier()
    matmul = torch.matmul
    updated = torch.zeros(IN, OUT)
    if rank == 0:
        updated = step(0, BATCH, matmul, weight())
        report("", weight(), updated)
        report("", step(0, BATCH, matmul, weight(), micro_steps=4), updated)
    dist.broadcast(updated, src=0)
    share = BATCH // size
    report("[DataParallel]", step(rank * share, (rank + 1) * share, matmul, weight(), average=True), updated)
    columns = weight().chunk(size, dim=1)[rank].contiguous()
    shard = step(0, BATCH, lambda x, w: Gather.apply(matmul(x, w)), columns)
    shards = [torch.empty_like(shard) for _ in range(size)]
    dist.all_gather(shards, shard)
    report("[FullColumnParallel]", torch.cat(shards, dim=1), updated)
    dist.destroy_process_group()
    print(f"[Rank {rank}] done", flush=True)


main()
