"""The parts of optC's pipelines, each by itself: cuts, losses, a stage, which version of the weights a pass uses."""

from __future__ import annotations

import itertools

import torch
from torch.nn import functional as F

from drawn import rand, randn
from parts import Tensors, in_float64, int64, on_rank_zero
from saved_run import Case


def split_layers(case: Case) -> list[Tensors]:
    """The smallest possible cost of the costliest stage, by trying all ways to cut."""
    shapes, costs = case.first("input.shapes"), case.first("input.costs").clone()
    num_fixed = len(costs) - 12  # the rows before the 12 that are drawn
    for i in range(12):
        num_layers = int(shapes[num_fixed + i, 0])
        costs[num_fixed + i, :num_layers] = (rand((num_layers,), case.seed + i, torch.float64) * 30).floor() + 1
    largest = []
    for row, (num_layers, num_stages) in zip(costs.tolist(), shapes.tolist()):
        cuts = itertools.combinations(range(1, num_layers), num_stages - 1)
        bounds = ([0, *cut, num_layers] for cut in cuts)
        largest.append(min(max(sum(row[a:b]) for a, b in zip(bound, bound[1:])) for bound in bounds))
    results = {"input.costs": costs, "actual.faults": torch.zeros(len(costs), dtype=torch.int64)}
    if case.name == "SplitLayers":
        results["actual.largest"] = torch.tensor(largest, dtype=torch.float64)
    return on_rank_zero(results, case.size)


def micro_batches(case: Case) -> list[Tensors]:
    """[images, m - 1, i]: where micro-batch i of m begins, and its size."""
    begins = torch.full(case.shape("actual.begins"), -1)
    sizes = begins.clone()
    for images in range(begins.shape[0]):
        for m in range(1, begins.shape[1] + 1):
            for i, part in enumerate(torch.arange(images).tensor_split(m)):
                sizes[images, m - 1, i] = len(part)
                begins[images, m - 1, i] = part[0] if len(part) else -1
    counts = torch.arange(1, begins.shape[1] + 1).repeat(begins.shape[0], 1)
    return on_rank_zero({"actual.begins": begins, "actual.sizes": sizes, "actual.counts": counts}, case.size)


def micro_batch_loss(case: Case) -> list[Tensors]:
    """Each micro-batch's part of the batch's mean loss, and the gradient of their sum."""
    shape = case.shape("input.logits")
    logits, labels = randn(shape, case.seed, torch.float64) * 2, torch.arange(shape[0]) // 3
    sizes, leaf = case.first("input.sizes"), logits.clone().requires_grad_()
    losses = F.cross_entropy(leaf, labels, reduction="none") / shape[0]
    losses.sum().backward()
    parts = torch.stack([part.sum() for part in losses.detach().split(sizes.tolist())])
    return on_rank_zero({"input.logits": logits, "input.labels": labels, "actual.parts": parts,
                         "actual.logits.grad": leaf.grad}, case.size)


def stage(case: Case) -> list[Tensors]:
    """tanh(tanh(x first') second') of micro-batches that come back in another order, in the middle of a pipeline and at
    its end, where the output is the loss."""
    seeds = itertools.count(case.seed)

    def drawn(name: str, scale: float = 1) -> torch.Tensor:
        return randn(case.shape(name), next(seeds), torch.float64) * scale

    inputs = {"weight.first": drawn("weight.first", 0.4), "weight.second": drawn("weight.second", 0.2),
              "input.many": drawn("input.many")}
    num_inputs = len(case.names("input.x"))
    for i in range(num_inputs):
        inputs |= {f"input.{name}{i}": drawn(f"input.{name}{i}") for name in ("x", "output_grad")}
    first, second = (leaf.requires_grad_() for leaf in in_float64(inputs["weight.first"], inputs["weight.second"]))
    results: Tensors = {}
    for i in range(num_inputs):
        for place in ("middle", "last"):
            x = inputs[f"input.x{i}"].clone().requires_grad_()
            out = torch.tanh(torch.tanh(x @ first.T) @ second.T)
            out = out.square().sum() / 7 if place == "last" else out
            out.backward(inputs[f"input.output_grad{i}"] if place == "middle" else None)
            results |= {f"actual.{place}{i}.output": out.detach(), f"actual.{place}{i}.input.grad": x.grad}
    steps = case.first("input.steps")  # rows of micro-batch and 1 for forward, 0 for backward; twice
    num_live = (2 * steps[:, 1] - 1).cumsum(0).repeat(2)
    is_recomputed = case.name == "Recompute"
    results |= {"actual.first.grad": first.grad, "actual.second.grad": second.grad, "actual.num_live": num_live,
                "actual.num_calls": int64(2 * num_inputs * (2 if is_recomputed else 1)),
                "actual.num_outputs_with_a_graph": int64(0)}
    if is_recomputed:
        results["actual.bytes_held_beyond_input"] = int64(0)
    return on_rank_zero(inputs | results, case.size)


def most_kept(wanted: list[int], in_flight: int, per_update: int) -> dict[str, int]:
    """The most versions that a stage keeps during a forward pass, and after a backward pass. It keeps those in use, and
    from the one asked for last to the newest, as any of these may be asked for next."""
    most, newest = {"forward": 0, "backward": 0}, 0

    def note(kind: str, begun: int, done: int) -> None:
        kept = set(wanted[done:begun]) | set(range(wanted[begun - 1], newest + 1))
        most[kind] = max(most[kind], len(kept))

    for turn in range(len(wanted) + in_flight - 1):
        begun, done = min(turn + 1, len(wanted)), max(0, turn + 1 - in_flight)
        if turn < len(wanted):
            note("forward", begun, done)
        if turn + 1 >= in_flight:
            note("backward", begun, done + 1)
            newest += (done + 1) % per_update == 0
    return most


def weight_versions(case: Case) -> list[Tensors]:
    """Of stages [in flight, micro-batches per update]: which version each forward pass uses is given, and the backward
    pass uses the same one."""
    versions, stages = case.first("input.versions"), case.first("input.stages")
    most = [most_kept(wanted, *stage) for wanted, stage in zip(versions.tolist(), stages.tolist())]
    return on_rank_zero({"actual.forward": versions, "actual.backward": versions,
                         "actual.num_same": torch.full((len(stages),), versions.shape[1]),
                         "actual.most_during_forward": int64(*(of_stage["forward"] for of_stage in most)),
                         "actual.most_after_backward": int64(*(of_stage["backward"] for of_stage in most))}, case.size)


def version_table(case: Case) -> list[Tensors]:
    """[p - 1, s, i] or [p - 1, i]: the version that a forward pass uses, once the pipeline is full p - 1 - s or p - 1
    updates old; of 2BW [m - 1, i], one update old."""
    table = torch.full(case.shape("actual.versions"), -1)
    for p in range(1, table.shape[0] + 1):
        for i in range(table.shape[-1]):
            if case.name == "PipeDreamVersions":
                for s in range(p):
                    table[p - 1, s, i] = max(0, i - (p - 1 - s))
            else:
                table[p - 1, i] = max(0, i - (p - 1) if case.name == "VerticalSyncVersions" else i // p - 1)
    return on_rank_zero({"actual.versions": table}, case.size)
