"""a9_collectives: each collective's meaning, and the Transformer block as torch.nn's TransformerEncoderLayer."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import nn

from drawn import exact_values, generator, linear_uniform, randn
from parts import Tensors, chunk, function_results, gradients
from saved_run import Case, Rule

SEED = 42  # of a run without --seed

# The offset of each case's data from the seed.
OFFSETS = {"BroadcastFromLast": 1, "BroadcastStrided": 2, "BroadcastLarge": 3, "AllReduceInt64": 4,
           "AllReduceStrided": 5, "AllReduceLarge": 6, "AllGatherStrided": 7, "AllGatherLarge": 8,
           "ReduceScatterStrided": 9, "ReduceScatterLarge": 10, "AllToAllHeads": 11, "AllToAllSequence": 12,
           "AllToAllStrided": 13, "AllToAllLarge": 14, "Broadcast": 15, "AllReduce": 16, "AllGather": 17,
           "ReduceScatter": 18, "AllToAll": 18, "BroadcastBinomial": 20, "BroadcastChain": 22,
           "AllReduceRecursiveDoubling": 20, "AllReduceRing": 20, "AllReduceRingSegmented": 25,
           "AllReduceRabenseifner": 20, "AllReduceDirect": 20,
           "AllGatherRing": 20, "AllGatherRecursiveDoubling": 20, "AllGatherBruck": 20, "AllGatherDirect": 20,
           "ReduceScatterRing": 21, "ReduceScatterRecursiveHalving": 21, "AllToAllPairwise": 23, "AllToAllBruck": 24}
# Of an all-to-all: the dimension that is scattered, and the one that is gathered. The others': 0 and 0.
DIMS = {"AllToAllHeads": (2, 1), "AllToAllSequence": (1, 2), "AllToAllStrided": (2, 0), "AllToAllPairwise": (0, 2),
        "AllToAllBruck": (0, 2)}
FROM_RANK_ZERO = {"Broadcast", "BroadcastLarge"}  # the other broadcasts: from the last rank

# The handout's numbers, used with the default seed: how a rank's tensor is made.
HANDOUT: dict[str, Callable[[int, int], list[float]]] = {
    "Broadcast": lambda rank, size: [10 * (rank + 1)],
    "AllReduce": lambda rank, size: [rank + 1],
    "AllGather": lambda rank, size: [rank, rank + 10],
    "ReduceScatter": lambda rank, size: [rank * size + i for i in range(size)],
    "AllToAll": lambda rank, size: [rank * size + i for i in range(size)],
}


def draw_input(case: Case, rank: int) -> torch.Tensor:
    """The rank's tensor, before anything is sent."""
    like = case.first("input.x")
    if case.seed == SEED and case.name in HANDOUT:
        return torch.tensor(HANDOUT[case.name](rank, case.size), dtype=torch.float32)
    x = exact_values(like.shape, like.dtype, case.seed + OFFSETS[case.name], rank)
    return x + (1 << 57) + rank if case.name == "AllReduceInt64" else x  # more than float64 can represent


def poisoned(x: torch.Tensor) -> torch.Tensor:
    """What no result may contain."""
    return torch.full_like(x, float("nan") if x.is_floating_point() else torch.iinfo(x.dtype).min)


def collective(case: Case, in_place: bool,
               meaning: Callable[[list[torch.Tensor]], list[torch.Tensor]]) -> list[Tensors]:
    """Each rank's input and result. In place: the input is the result afterwards, otherwise it stays as it is."""
    xs = [draw_input(case, rank) for rank in range(case.size)]
    outs = meaning(xs)
    return [{"input.x": x, "actual.out": out, "actual.x": out if in_place else x} for x, out in zip(xs, outs)]


def broadcast(case: Case) -> list[Tensors]:
    src = 0 if case.name in FROM_RANK_ZERO else case.size - 1
    results = collective(case, True, lambda xs: [xs[src]] * case.size)
    for rank, own in enumerate(results):
        if rank != src:
            own["input.x"] = poisoned(own["input.x"])
    return results


def all_reduce(case: Case) -> list[Tensors]:
    return collective(case, True, lambda xs: [torch.stack(xs).sum(0)] * case.size)


def all_gather(case: Case) -> list[Tensors]:
    return collective(case, False, lambda xs: [torch.cat(xs)] * case.size)


def reduce_scatter(case: Case) -> list[Tensors]:
    return collective(case, False, lambda xs: list(torch.stack(xs).sum(0).chunk(case.size)))


def exchanged(xs: list[torch.Tensor], scatter_dim: int, gather_dim: int) -> list[torch.Tensor]:
    """Rank r gets part r of each rank's tensor, one after the other."""
    return [torch.cat([chunk(x, scatter_dim, rank, len(xs)) for x in xs], gather_dim) for rank in range(len(xs))]


def all_to_all(case: Case) -> list[Tensors]:
    return collective(case, False, lambda xs: exchanged(xs, *DIMS.get(case.name, (0, 0))))


def parallel_functions(case: Case) -> list[Tensors]:
    """f: one x that all ranks use. g: the sum of all ranks' x, of which each rank uses the same. all_to_all: from
    shards of the sequence to shards of the heads."""
    def drawn(name: str, offset: int) -> list[torch.Tensor]:
        return [exact_values(case.shape(f"input.{name}"), torch.float32, case.seed + offset, rank)
                for rank in range(case.size)]

    f_x, f_grads = drawn("f.x", 0)[0].requires_grad_(), drawn("f.grad_out", 1)
    f_outs = [f_x.clone() for _ in f_grads]
    g_xs, g_grad = [x.requires_grad_() for x in drawn("g.x", 2)], drawn("g.grad_out", 3)[0]
    g_out = torch.stack(g_xs).sum(0)
    xs, grads = [x.requires_grad_() for x in drawn("all_to_all.x", 4)], drawn("all_to_all.grad_out", 5)
    outs = exchanged(xs, 2, 1)
    results = [
        function_results([f_x] * case.size, f_outs, f_grads, gradients(f_outs, f_grads, [f_x]) * case.size, "f."),
        function_results(g_xs, [g_out] * case.size, [g_grad] * case.size, gradients([g_out], [g_grad], g_xs), "g."),
        function_results(xs, outs, grads, gradients(outs, grads, xs), "all_to_all.")]
    return [f | g | exchange for f, g, exchange in zip(*results)]


# --- the Transformer block: x [B, S, D], weights [out, in] ---

QKV = ["q_proj", "k_proj", "v_proj"]
LINEAR = [*QKV, "o_proj", "fc1", "fc1_bias", "fc2", "fc2_bias"]
NORMS = ["ln1_weight", "ln1_bias", "ln2_weight", "ln2_bias"]
SPLIT_DIMS = {"q_proj": 0, "k_proj": 0, "v_proj": 0, "fc1": 0, "fc1_bias": 0, "o_proj": 1, "fc2": 1}


def draw_weights(case: Case) -> Tensors:
    """All linear layers from one generator, in order; norms away from 1 and 0, q and k twice as large."""
    draws, dtype = generator(case.seed), case.first("weight.fc1").dtype
    weights = {}
    for name in LINEAR:
        fan_in = case.shape("weight.fc2" if name.startswith("fc2") else "weight.fc1")[1]
        weights[name] = linear_uniform(case.shape(f"weight.{name}"), fan_in, draws, dtype)
    for offset, name in enumerate(NORMS):
        noise = randn(case.shape(f"weight.{name}"), case.seed + 1 + offset, dtype)
        weights[name] = (1 if name.endswith("weight") else 0) + 0.5 * noise
    for name in ("q_proj", "k_proj"):
        weights[name] = weights[name] * 2
    return weights


def encoder_layer(weights: Tensors, num_heads: int) -> nn.TransformerEncoderLayer:
    """torch.nn's layer with these weights, in float64; it has biases of q, k, v and o, here 0."""
    d_ff, d_model = weights["fc1"].shape
    layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout=0.0, activation="relu", batch_first=True,
                                       norm_first=True, dtype=torch.float64)
    named = {"self_attn.in_proj_weight": torch.cat([weights[name] for name in QKV]),
             "self_attn.in_proj_bias": torch.zeros(3 * d_model), "self_attn.out_proj.weight": weights["o_proj"],
             "self_attn.out_proj.bias": torch.zeros(d_model), "linear1.weight": weights["fc1"],
             "linear1.bias": weights["fc1_bias"], "linear2.weight": weights["fc2"], "linear2.bias": weights["fc2_bias"],
             "norm1.weight": weights["ln1_weight"], "norm1.bias": weights["ln1_bias"],
             "norm2.weight": weights["ln2_weight"], "norm2.bias": weights["ln2_bias"]}
    layer.load_state_dict(named)
    return layer


def weight_gradients(layer: nn.TransformerEncoderLayer) -> Tensors:
    """By the lab's names."""
    attention = layer.self_attn
    named = dict(zip(QKV, attention.in_proj_weight.grad.chunk(3)))
    return named | {"o_proj": attention.out_proj.weight.grad, "fc1": layer.linear1.weight.grad,
                    "fc1_bias": layer.linear1.bias.grad, "fc2": layer.linear2.weight.grad,
                    "fc2_bias": layer.linear2.bias.grad, "ln1_weight": layer.norm1.weight.grad,
                    "ln1_bias": layer.norm1.bias.grad, "ln2_weight": layer.norm2.weight.grad,
                    "ln2_bias": layer.norm2.bias.grad}


def shards(whole: Tensors, rank: int, size: int) -> Tensors:
    """A rank's shards of what is split; the rest whole, if it is there."""
    return {f"{name}_shard" if name in SPLIT_DIMS else name:
            chunk(tensor, SPLIT_DIMS[name], rank, size) if name in SPLIT_DIMS else tensor
            for name, tensor in whole.items()}


def draw_whole(case: Case, offset: int) -> torch.Tensor:
    """[B, S, D] of all ranks together."""
    shape = case.shape("input.x") if case.has("input.x") else case.shape("input.x_shard")
    if not case.has("input.x"):
        shape = (shape[0], shape[1] * case.size, shape[2])
    return randn(shape, case.seed + offset, case.first("weight.fc1").dtype)


def block(case: Case, head_dim: int) -> list[Tensors]:
    """The whole block in one process, and each rank's part of it: of the weights with tensor parallelism, of the
    sequence with Ulysses."""
    weights, x, grad_out = draw_weights(case), draw_whole(case, 5), draw_whole(case, 6)
    layer, leaf = encoder_layer(weights, x.shape[2] // head_dim), x.double().requires_grad_()
    out = layer(leaf)
    out.backward(grad_out.double())
    out, x_grad = out.detach().to(x.dtype), leaf.grad.to(x.dtype)
    grads = {name: grad.to(x.dtype) for name, grad in weight_gradients(layer).items()}
    drawn = {f"weight.{name}": tensor for name, tensor in weights.items()}

    def results_of(rank: int) -> Tensors:
        if case.name == "OwnCollectives":
            return {"input.x": x, "input.x_shard": chunk(x, 1, rank, case.size), "actual.tensor_parallel": out,
                    "actual.ulysses": chunk(out, 1, rank, case.size)}
        by_sequence = case.name.startswith("Ulysses")
        own = functools.partial(chunk, dim=1, rank=rank, size=case.size) if by_sequence else torch.clone
        own_weights = dict if by_sequence else functools.partial(shards, rank=rank, size=case.size)
        x_name = "x_shard" if by_sequence else "x"
        results = {f"input.{x_name}": own(x), "actual.out": own(out)}
        if not case.name.endswith("Grad"):
            return results | {f"actual.{x_name}": own(x)} | {
                f"actual.{name}": tensor for name, tensor in own_weights(weights).items()}
        return results | {"input.grad_out": own(grad_out), f"actual.{x_name}.grad": own(x_grad)} | {
            f"actual.{name}.grad": grad for name, grad in own_weights(grads).items()}

    return [drawn | results_of(rank) for rank in range(case.size)]


def shards_alone(case: Case) -> list[Tensors]:
    weights = draw_weights(case)
    split = {name: weights[name] for name in SPLIT_DIMS}
    return [{f"weight.{name}": tensor for name, tensor in weights.items()}
            | {f"actual.{name}": tensor for name, tensor in shards(split, rank, case.size).items()}
            for rank in range(case.size)]


def drawn_cases(collective: str) -> str:
    """A pattern for the cases of one collective, of a plain run: those whose seeds are known."""
    return "|".join(name for name in OFFSETS if name.startswith(collective))


RULES = [
    Rule("TensorParallel|Ulysses", lambda case: block(case, head_dim=8)),
    Rule("TensorParallelShards", shards_alone),
    Rule("TensorParallel(8|Grad)|Ulysses(8|Grad)|OwnCollectives", lambda case: block(case, head_dim=3)),
    Rule("ParallelFunctions", parallel_functions, exact=True),
    Rule(drawn_cases("Broadcast"), broadcast, exact=True),
    Rule(drawn_cases("AllReduce"), all_reduce, exact=True),
    Rule(drawn_cases("AllGather"), all_gather, exact=True),
    Rule(drawn_cases("ReduceScatter"), reduce_scatter, exact=True),
    Rule(drawn_cases("AllToAll"), all_to_all, exact=True),
]
