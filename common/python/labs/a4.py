"""a4_data_tensor: one training step in four ways, and the functions and layers that they are made of."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from drawn import exact_values, generator, randn
from parts import Tensors, chunk, function_results, gradients, in_float64, on_rank_zero
from saved_run import Case, Rule

SEED = 42  # of a run without --seed

LEARNING_RATE = 0.5


def training_step(case: Case) -> list[Tensors]:
    """W - lr * dLoss/dW of the mean squared error of X W, on the whole batch; the same whichever way it is split."""
    num_inputs, num_outputs = case.shape("weight.W")
    batch_size = case.shape("input.inputs")[0]
    weight, draws = randn((num_inputs, num_outputs), case.seed), generator(case.seed)
    inputs, targets = (torch.randn(batch_size, width, generator=draws) for width in (num_inputs, num_outputs))
    x, y, w = in_float64(inputs, targets, weight)
    optimizer = torch.optim.SGD([w.requires_grad_()], lr=LEARNING_RATE)
    F.mse_loss(x @ w, y).backward()
    optimizer.step()
    results = {"input.inputs": inputs, "input.targets": targets, "weight.W": weight}
    updated = w.detach().float()
    if case.name == "Baseline":
        results |= {"actual.initial": weight, "actual.updated": updated}
    else:
        results |= {"actual.W": updated}
    is_alone = case.name in ("Baseline", "Accumulation")
    return on_rank_zero(results, case.size) if is_alone else [results] * case.size


def broadcast_parallel(case: Case) -> list[Tensors]:
    """One x, which all ranks use: its gradient is the sum of theirs."""
    shape, ranks = case.shape("input.x"), range(case.size)
    x = exact_values(shape, torch.float32, case.seed).requires_grad_()
    grads = [exact_values(shape, torch.float32, case.seed + 1, rank) for rank in ranks]
    outs = [x.clone() for _ in ranks]
    x_grad, = gradients(outs, grads, [x])
    return function_results([x] * case.size, outs, grads, [x_grad] * case.size)


def gather_parallel(case: Case) -> list[Tensors]:
    """All ranks' parts joined along the last dimension: each part's gradient is its part of the whole's."""
    shape = case.shape("input.x")
    parts = [exact_values(shape, torch.float32, case.seed, rank).requires_grad_() for rank in range(case.size)]
    whole = torch.cat(parts, -1)
    grad = exact_values(whole.shape, torch.float32, case.seed + 1)
    return function_results(parts, [whole] * case.size, [grad] * case.size, gradients([whole], [grad], parts))


def small(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Integers from -2 to 2 in float32."""
    return exact_values(shape, torch.float16, seed).float()


def layer(case: Case, rank_parts: dict[str, int], with_bias: bool) -> list[Tensors]:
    """out = x W + bias in one process; of each tensor named in `rank_parts` a rank has its part along that dimension,
    and of its gradient."""
    num_inputs, num_outputs = case.shape("weight.W")
    batch_size = case.shape("input.grad_out")[0]
    x, w = small((batch_size, num_inputs), case.seed), small((num_inputs, num_outputs), case.seed + 1)
    bias, grad_out = small((num_outputs,), case.seed + 3), small((batch_size, num_outputs), case.seed + 4)
    leaves = {"x_shard" if "x_shard" in rank_parts else "x": x, "W": w} | ({"bias": bias} if with_bias else {})
    for leaf in leaves.values():
        leaf.requires_grad_()
    out = x @ w + bias if with_bias else x @ w
    grads = dict(zip(leaves, gradients([out], [grad_out], list(leaves.values()))))
    drawn = {"input.x": x, "input.grad_out": grad_out, "weight.W": w} | ({"weight.bias": bias} if with_bias else {})
    return [drawn | ({"input.x_shard": chunk(x, 1, rank, case.size)} if "x_shard" in rank_parts else {})
            | {"actual.out": out} | parts_of(leaves, grads, rank_parts, rank, case.size) for rank in range(case.size)]


def parts_of(leaves: Tensors, grads: Tensors, rank_parts: dict[str, int], rank: int, size: int) -> Tensors:
    """A rank's parts of the leaves, which may not change, and of their gradients."""
    def own(name: str, tensor: torch.Tensor) -> torch.Tensor:
        return chunk(tensor.detach(), rank_parts[name], rank, size) if name in rank_parts else tensor.detach()

    return ({f"actual.{name}": own(name, leaf) for name, leaf in leaves.items()}
            | {f"actual.{name}.grad": own(name, grad) for name, grad in grads.items()})


def column_row(case: Case) -> list[Tensors]:
    """relu(x W1) W2: W1 by columns, W2 by rows."""
    num_inputs, num_hidden = case.shape("weight.W1")
    batch_size = case.shape("input.x")[0]
    x, w1 = small((batch_size, num_inputs), case.seed), small((num_inputs, num_hidden), case.seed + 1)
    w2, grad_out = small((num_hidden, num_inputs), case.seed + 2), small((batch_size, num_inputs), case.seed + 5)
    leaves = {"x": x.requires_grad_(), "W1": w1.requires_grad_(), "W2": w2.requires_grad_()}
    out = torch.relu(x @ w1) @ w2
    grads = dict(zip(leaves, gradients([out], [grad_out], list(leaves.values()))))
    drawn = {"input.x": x, "input.grad_out": grad_out, "weight.W1": w1, "weight.W2": w2, "actual.out": out}
    return [drawn | parts_of(leaves, grads, {"W1": 1, "W2": 0}, rank, case.size) for rank in range(case.size)]


RULES = [
    Rule("Baseline|Accumulation|DataParallel|FullColumnParallel", training_step),
    Rule("BroadcastParallel", broadcast_parallel, exact=True),
    Rule("GatherParallel", gather_parallel, exact=True),
    Rule("InputGrad", lambda case: layer(case, {"W": 1}, with_bias=False), exact=True),
    Rule("Bias", lambda case: layer(case, {"W": 1, "bias": 0}, with_bias=True), exact=True),
    Rule("RowParallel", lambda case: layer(case, {"W": 0, "x_shard": 1}, with_bias=True), exact=True),
    Rule("ColumnRow", column_row, exact=True),
]
