"""vae_sequence_parallel: modules on whole pictures, of which each rank has some columns; attention among all positions;
the autoencoder; and the picture that the lab decodes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import torch

from drawn import generator, linear_uniform, mixed, name_checksum, randn
from labs import vae_model as model
from parts import Tensors, in_float64
from read_saved import read_saved
from saved_run import Case, Rule

SEED = 2  # of a run without --seed

Module = Callable[[Tensors, torch.Tensor], torch.Tensor]

CHECKPOINT = Path(__file__).resolve().parents[3] / "vae_sequence_parallel" / "checkpoint" / "small.safetensors"

# --- what is drawn ---

MEANS = {"GroupNormMean10": 10, "GroupNormMean100": 100, "GroupNormMean1000": 1000, "GroupNormMean1000Gradient": 1000}
DEVIATIONS = {"GroupNormEpsilon": 1e-3, "GroupNormOneValue": 0.1}


def draw_picture(shape: tuple[int, ...], seed: int, dtype: torch.dtype, mean: float = 0,
                 deviation: float = 1) -> torch.Tensor:
    """[B, C, H, W]: noise on a ramp along the width, with slopes 1 2 3 1 2 3 ... of the channels."""
    slopes = (torch.arange(shape[1], dtype=torch.float64) % 3 + 1).reshape(-1, 1, 1)
    picture = 0.5 * randn(shape, seed, torch.float64) + slopes * torch.linspace(-1, 1, shape[3], dtype=torch.float64)
    return (picture * (deviation / picture.std()) + mean).to(dtype)


def draw_weights(shapes: dict[str, tuple[int, ...]], seed: int, dtype: torch.dtype) -> Tensors:
    """Each by a generator of its name's: convolutions as nn.Conv2d does, the rest around 1, or 0 for a norm's bias."""
    weights = {}
    for name, shape in shapes.items():
        draws = generator(mixed(seed ^ name_checksum(name)))
        is_bias = name.endswith(".bias")
        of_weight = shapes.get(name[:-len("bias")] + "weight", ()) if is_bias else shape
        if len(of_weight) == 4:
            weights[name] = linear_uniform(shape, math.prod(of_weight[1:]), draws, dtype)
        else:
            weights[name] = (0 if is_bias else 1) + 0.5 * torch.randn(shape, generator=draws, dtype=dtype)
    return weights


def draw_saved_weights(case: Case) -> Tensors:
    names = case.names("weight.")
    dtype = case.first(f"weight.{names[0]}").dtype if names else torch.float32
    return draw_weights({name: case.shape(f"weight.{name}") for name in names}, case.seed + 1, dtype)


# --- modules that take a picture ---

def worlds(case: Case) -> list[list[int]]:
    """The ranks that share a picture: all, or the even and the odd ones."""
    ranks = list(range(case.size))
    return [ranks[::2], ranks[1::2]][:case.size] if case.name.endswith("Subgroups") else [ranks]


def columns(whole: torch.Tensor, widths: list[int], dim: int = 3) -> list[torch.Tensor]:
    return list(whole.split(widths, dim))


def conv_options(case: Case) -> dict[str, int]:
    padding = {"Conv2dNoPadding": 0, "Conv2dWidePadding": 2, "Conv2dStride2Kernel7": 0}
    return {"stride": 2 if "Stride2" in case.name else 1,
            "padding": padding.get(case.name, case.shape("weight.weight")[2] // 2)}


def conv_widths(widths: list[int], kernel: int, stride: int, padding: int) -> list[int]:
    """An output column belongs to the rank that has the column below the kernel's centre, or the nearest to it."""
    owners = [rank for rank, width in enumerate(widths) for _ in range(width)]
    num_outputs = (len(owners) + 2 * padding - kernel) // stride + 1
    centres = [min(max(i * stride - padding + kernel // 2, 0), len(owners) - 1) for i in range(num_outputs)]
    return [sum(owners[centre] == rank for centre in centres) for rank in range(len(widths))]


def convolution(case: Case) -> list[Tensors]:
    options, kernel = conv_options(case), case.shape("weight.weight")[2]
    return module(case, lambda w, x: model.convolution(w, x, **options),
                  lambda widths: conv_widths(widths, kernel, **options))


def group_norm(case: Case) -> list[Tensors]:
    groups_of_channels = re.fullmatch(r"GroupNorm_(\d+)of\d+", case.name)
    num_groups = int(groups_of_channels[1]) if groups_of_channels else 4
    results = module(case, lambda w, x: model.group_norm(w, x, num_groups), list)
    return [own | {"actual.x": own["input.x"]} for own in results]


def norm_same_everywhere(case: Case) -> list[Tensors]:
    """All ranks have the same first column: their outputs for it may not differ by a bit."""
    results = []
    for own in module(case, lambda w, x: model.group_norm(w, x, 4), list):
        column = randn((*own["input.x"].shape[:3], 1), case.seed + 3, torch.float64)
        kept = {name: tensor for name, tensor in own.items() if not name.startswith("actual.")}
        kept["input.x"] = torch.cat([column, own["input.x"][..., 1:]], 3)
        results.append(kept | {"actual.first_column": torch.zeros_like(column)})
    return results


def heads_of(case: Case) -> int:
    return 8 if "8Heads" in case.name else 1


def module(case: Case, forward: Module, out_widths: Callable[[list[int]], list[int]]) -> list[Tensors]:
    """A module on the whole picture, and its gradients if the case has any; of both each rank has its columns."""
    results: list[Tensors] = [{} for _ in range(case.size)]
    for ranks in worlds(case):
        widths = case.ranks[ranks[0]]["input.widths"].tolist()
        for rank, own in zip(ranks, module_on_ranks(case, forward, widths, out_widths(widths))):
            results[rank] = own
    return results


def module_on_ranks(case: Case, forward: Module, widths: list[int], out_widths: list[int]) -> list[Tensors]:
    like = case.first("input.x")
    mean = MEANS.get(case.name, 1 if re.fullmatch("Conv2d.*Gradient", case.name) else 0)
    x = draw_picture((*like.shape[:3], sum(widths)), case.seed, like.dtype, mean, DEVIATIONS.get(case.name, 1))
    weights = draw_saved_weights(case)
    leaves = {name: leaf.requires_grad_() for name, leaf in zip(weights, in_float64(*weights.values()))}
    x_leaf = x.double().requires_grad_()
    out = forward(leaves, x_leaf)
    whole = {"input.x": columns(x, widths), "actual.out": columns(out.detach().to(x.dtype), out_widths)}
    everywhere = {"input.widths": torch.tensor(widths), "actual.widths": torch.tensor(out_widths)}
    everywhere |= {f"weight.{name}": tensor for name, tensor in weights.items()}
    if case.has("input.grad_out"):
        num_positions = out.numel() // out.shape[1]
        grad_out = (1 + out.detach() + randn(out.shape, case.seed + 2, x.dtype).double()) / num_positions
        out.backward(grad_out)
        whole |= {"input.grad_out": columns(grad_out.to(x.dtype), out_widths),
                  "actual.x.grad": columns(x_leaf.grad.to(x.dtype), widths)}
        everywhere |= {f"actual.{name}.grad": leaf.grad.to(x.dtype) for name, leaf in leaves.items()
                       if not re.fullmatch(r"(.*[.])?k[.]bias", name)}  # a bias of all keys changes no softmax
    return [everywhere | {name: parts[i] for name, parts in whole.items()} for i in range(len(widths))]


def doubled(widths: list[int]) -> list[int]:
    return [2 * width for width in widths]


# --- attention among all positions: q, k, v [B, heads, N, D], of which a rank has some positions ---

def draw_attention(case: Case, lengths: list[int]) -> Tensors:
    """q, k, v and grad_out of all ranks."""
    batch, num_heads, _, head_channels = case.shape("input.q")
    whole = {}
    for offset, name in enumerate(["q", "k", "v", "grad_out"]):
        is_large = "LargeScores" in case.name and name in ("q", "k")
        shape = (batch, num_heads, head_channels, sum(lengths))
        whole[name] = draw_picture(shape, case.seed + offset, case.first("input.q").dtype, 20 if is_large else 0,
                                   0.1 if is_large and name == "k" else 1).transpose(2, 3).contiguous()
    if "AlternatingScores" in case.name:  # 800 or -200 by the key's rank, and 900 less of every second key
        of_ranks = torch.tensor([800.0 if rank % 2 == 0 else -200.0 for rank in range(len(lengths))])
        of_keys = of_ranks.double().repeat_interleave(torch.tensor(lengths)) - 900.0 * (torch.arange(sum(lengths)) % 2)
        whole["q"][..., 0] = 16
        whole["k"][..., 0] = of_keys * (math.sqrt(head_channels) / 16)
    return whole


def attention(case: Case) -> list[Tensors]:
    lengths = case.first("input.lengths").tolist()
    whole = draw_attention(case, lengths)
    q, k, v = (leaf.requires_grad_() for leaf in in_float64(*(whole[name] for name in "qkv")))
    out = model.attention(q, k, v)
    drawn = ["q", "k", "v"]
    results = {f"actual.{name}": whole[name] for name in drawn} | {"actual.out": out.detach()}
    if case.has("input.grad_out"):
        drawn.append("grad_out")
        out.backward(whole["grad_out"].double())
        results |= {f"actual.{name}.grad": leaf.grad for name, leaf in (("q", q), ("k", k), ("v", v))}
    results |= {f"input.{name}": whole[name] for name in drawn}
    split = {name: columns(tensor.to(whole["q"].dtype), lengths, 2) for name, tensor in results.items()}
    return [{name: parts[rank] for name, parts in split.items()} | {"input.lengths": torch.tensor(lengths)}
            for rank in range(case.size)]


# --- the autoencoder ---

def autoencoder(case: Case) -> list[Tensors]:
    """Encoded and decoded by one process; every rank has both whole."""
    weights, config, like = draw_saved_weights(case), model.Config(), case.first("input.latent")
    picture = draw_picture(case.shape("input.picture"), case.seed, like.dtype)
    latent = draw_picture(tuple(like.shape), case.seed + 2, like.dtype)
    exact = dict(zip(weights, in_float64(*weights.values())))
    results = {"input.picture": picture, "input.latent": latent, "actual.z": latent,
               "actual.latent": model.encode(exact, picture.double(), config).to(like.dtype),
               "actual.picture": model.decode(exact, latent.double(), config).to(like.dtype)}
    return [results | {f"weight.{name}": tensor for name, tensor in weights.items()}] * case.size


def reconstruction(case: Case) -> list[Tensors]:
    """The lab's latent, which every rank has, decoded with the lab's checkpoint."""
    latent, file = case.first("input.latent"), read_saved(str(CHECKPOINT))
    given = json.loads(file.metadata["config"])
    config = model.Config(given["num_heads"], given["scale_factor"], given["shift_factor"])
    weights = {name: torch.from_numpy(array).double() for name, array in file.arrays.items()}
    image = model.decode(weights, latent.double(), config).float()
    return [{"input.latent": latent, "actual.image": image}] * case.size


def peak_bytes(case: Case) -> list[Tensors]:
    """Each piece of work holds the first two of its MiB at once, later the third alone; the last piece is none."""
    return [{"actual.bytes": torch.tensor([max(a + b, c) << 20 for a, b, c in saved["input.mib"].tolist()] + [0])}
            for saved in case.ranks]


WITH_GRAD_OUT = "actual[.].*|input[.]grad_out"  # which follows from the output

RULES = [
    Rule("Conv2d.*", convolution, computed=WITH_GRAD_OUT),
    Rule("GroupNormSameEverywhere", norm_same_everywhere, tolerance=0),
    # Most digits of these inputs are the mean's.
    Rule("GroupNormMean1000?(Gradient)?", group_norm, tolerance=1e-4, computed=WITH_GRAD_OUT),
    Rule("GroupNorm.*", group_norm, computed=WITH_GRAD_OUT),
    Rule("Upsample.*", lambda case: module(case, model.upsample, doubled), computed=WITH_GRAD_OUT),
    Rule("AttnBlock.*", lambda case: module(case, lambda w, x: model.attention_block(w, x, heads_of(case)), list),
         computed=WITH_GRAD_OUT),
    Rule("ResnetBlock.*", lambda case: module(case, model.resnet_block, list), computed=WITH_GRAD_OUT),
    Rule("Decoder.*", lambda case: module(case, lambda w, z: model.decoder(w, z, heads_of(case)), doubled),
         computed=WITH_GRAD_OUT),
    Rule("(Ulysses|Ring).*", attention),
    Rule("AutoEncoder.*", autoencoder),
    Rule("Reconstruction", reconstruction),
    Rule("PeakBytes", peak_bytes, given="input[.]mib"),
]
