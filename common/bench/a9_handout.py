"""Assignment 9's collectives in Python, as its handout describes them: torch.distributed's send and recv alone. Each rank
is the twin (common/bench/twin.h) of one of bench_collectives, which starts it:
a9_handout.py FOLDER NAME RANK SIZE"""
import resource
import socket
import sys
import time

import torch
import torch.distributed as dist

folder, name, rank, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
others = [other for other in range(size) if other != rank]


def broadcast(tensor):
    if rank != 0:
        dist.recv(tensor, 0)
        return tensor
    for other in others:
        dist.send(tensor, other)
    return tensor


def allreduce(tensor):
    if rank != 0:
        dist.send(tensor, 0)
        return broadcast(tensor)
    theirs = torch.empty_like(tensor)
    for other in others:
        dist.recv(theirs, other)
        tensor += theirs
    return broadcast(tensor)


def allgather(tensor):
    parts = torch.empty((size, tensor.numel()))
    if rank != 0:
        dist.send(tensor, 0)
        return broadcast(parts.view(-1))
    parts[0] = tensor
    for other in others:
        dist.recv(parts[other], other)
    return broadcast(parts.view(-1))


def reduce_scatter(tensor):
    parts = tensor.view(size, -1)
    mine = parts[rank].clone()
    theirs = torch.empty_like(mine)
    for other in others:
        if rank < other:
            dist.send(parts[other], other)
        dist.recv(theirs, other)
        if rank > other:
            dist.send(parts[other], other)
        mine += theirs
    return mine


def all_to_all(tensor):
    parts = tensor.view(size, -1)
    result = torch.empty_like(parts)
    result[rank] = parts[rank]
    requests = [dist.isend(parts[other], other) for other in others]
    requests += [dist.irecv(result[other], other) for other in others]
    for request in requests:
        request.wait()
    return result.view(-1)


collectives = {run.__name__: run for run in (broadcast, allreduce, allgather, reduce_scatter, all_to_all)}


def values(of_rank, count):
    """Integers whose sum over 64 ranks is exact."""
    return ((torch.arange(count) * 37 + of_rank * 11) % 127 - 63).float()


def expected(collective, count):
    inputs = [values(of_rank, count) for of_rank in range(size)]
    if collective == "broadcast":
        return inputs[0]
    if collective == "allgather":
        return torch.cat(inputs)
    if collective == "all_to_all":
        return torch.cat([each.view(size, -1)[rank] for each in inputs])
    total = sum(inputs)
    return total if collective == "allreduce" else total.view(size, -1)[rank]


def context_switches():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_nvcsw + used.ru_nivcsw


def answer(collective, num_bytes, calls):
    run, count = collectives[collective], num_bytes // 4
    if collective == "allgather":
        count //= size
    if calls == 0:
        wrong = (run(values(rank, count)) != expected(collective, count)).sum()
        dist.all_reduce(wrong)
        return f"0 {wrong.item()} 0"
    tensor = torch.zeros(count)
    dist.barrier()
    switches = context_switches()
    start = time.perf_counter()
    for _ in range(calls):
        run(tensor)
    seconds = (time.perf_counter() - start) / calls
    return f"{seconds:.9e} 0 {(context_switches() - switches) / calls}"


torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{folder}/{name}.store", rank=rank, world_size=size)
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(f"{folder}/{name}.{rank}")
    stream = connection.makefile("rw")
    print(f"Python, PyTorch {torch.__version__}", file=stream, flush=True)
    for line in stream:
        collective, num_bytes, calls = line.split()
        print(answer(collective, int(num_bytes), int(calls)), file=stream, flush=True)
