"""optC's functions and layers that are split over ranks, each whole in one process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from drawn import exact_values, randn
from labs.optc_models import attention
from parts import Tensors, chunk, function_results, gradients
from saved_run import Case


def region_function(case: Case) -> list[Tensors]:
    """A sum within a region of ranks, which each of them uses for itself."""
    def drawn(name: str, offset: int) -> list[torch.Tensor]:
        like = case.first(f"input.{name}")
        return [exact_values(like.shape, like.dtype, case.seed + offset, rank) for rank in range(case.size)]

    xs, grads = [x.requires_grad_() for x in drawn("x", 0)], drawn("grad_out", 1)
    total = torch.stack(xs).sum(0)
    outs = [total.clone() for _ in xs]
    return function_results(xs, outs, grads, gradients(outs, grads, xs))


@dataclass(frozen=True)
class Layer:
    """A layer in one process, and how ranks share it."""

    dims: dict[str, int | None]  # of its tensors: along which dimension ranks share it
    forward: Callable[[torch.Tensor, Tensors], torch.Tensor]
    splits_x: bool = False  # along the last dimension
    splits_out: bool = False
    x_mean: float = 0.0


def linear(x: torch.Tensor, w: Tensors, name: str = "") -> torch.Tensor:
    return F.linear(x, w[name + "weight"], w[name + "bias"])


def layer_norm(x: torch.Tensor, w: Tensors, name: str = "") -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], w[name + "weight"], w[name + "bias"])


def mlp(x: torch.Tensor, w: Tensors) -> torch.Tensor:
    return linear(F.relu(linear(x, w, "fc_in.")), w, "fc_out.")


def norm_mlp(x: torch.Tensor, w: Tensors) -> torch.Tensor:
    return linear(F.relu(layer_norm(linear(x, w, "fc_in."), w, "norm.")), w, "fc_out.")


def residual(x: torch.Tensor, w: Tensors, is_training: bool) -> torch.Tensor:
    h = F.conv2d(x, w["conv_in.weight"], padding=1)
    h = F.batch_norm(h, w["norm.running_mean"], w["norm.running_var"], w["norm.weight"], w["norm.bias"], is_training)
    return F.conv2d(F.relu(h), w["conv_out.weight"], w["conv_out.bias"], padding=1)


WEIGHT_BY_ROWS: dict[str, int | None] = {"weight": 0, "bias": 0}
MLP_DIMS: dict[str, int | None] = {"fc_in.weight": 0, "fc_in.bias": 0, "fc_out.weight": 1, "fc_out.bias": None}
NORM_MLP_DIMS: dict[str, int | None] = {"fc_in.weight": 0, "fc_in.bias": 0, "norm.weight": 0, "norm.bias": 0,
                                        "fc_out.weight": 1, "fc_out.bias": None}
ATTENTION_DIMS: dict[str, int | None] = {**{f"{name}.{kind}": 0 for kind in ("weight", "bias") for name in "qkv"},
                                         "o.weight": 1, "o.bias": None}
RESIDUAL_DIMS: dict[str, int | None] = {
    "conv_in.weight": 0, "norm.weight": 0, "norm.bias": 0, "norm.running_mean": 0, "norm.running_var": 0,
    "conv_out.weight": 1, "conv_out.bias": None}

LAYERS = {
    "ColumnLinear": Layer(WEIGHT_BY_ROWS, linear, splits_out=True),
    "ColumnLinearGathered": Layer(WEIGHT_BY_ROWS, linear),
    "RowLinear": Layer({"weight": 1, "bias": None}, linear, splits_x=True),
    "LayerNorm": Layer(WEIGHT_BY_ROWS, layer_norm, splits_x=True, splits_out=True),
    "LayerNormLargeMean": Layer(WEIGHT_BY_ROWS, layer_norm, splits_x=True, splits_out=True, x_mean=1e7),
    "ParallelMlp": Layer(MLP_DIMS, mlp),
    "ColumnRow": Layer(MLP_DIMS, mlp),
    "ParallelNormMlp": Layer(NORM_MLP_DIMS, norm_mlp),
    "ColumnRowNorm": Layer(NORM_MLP_DIMS, norm_mlp),
    "ParallelAttention": Layer(ATTENTION_DIMS, lambda x, w: attention(x, w, head_dim=3)),
    "ParallelResidual": Layer(RESIDUAL_DIMS, lambda x, w: residual(x, w, is_training=True)),
    "ParallelResidualEvaluation": Layer(RESIDUAL_DIMS, lambda x, w: residual(x, w, is_training=False)),
}


def ramp(shape: tuple[int, ...]) -> torch.Tensor:
    """Rises along the last dimension, so that ranks' parts differ."""
    return torch.linspace(-3, 3, shape[-1], dtype=torch.float64).expand(shape)


def draw_tensor(name: str, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    noise = randn(shape, seed, torch.float64)
    if name == "norm.running_var":
        return noise.square() + 0.5
    return noise + ramp(shape) if len(shape) == 1 else noise / noise[0].numel() ** 0.5


def kind_of(name: str) -> str:
    """Statistics are inputs, as they do not learn."""
    return "input" if "running" in name else "weight"


def split_layer(case: Case) -> list[Tensors]:
    """The whole layer, and of its tensors, results and gradients each rank's parts."""
    layer = LAYERS[case.name.removesuffix("Gradient")]

    def whole_shape(name: str, dim: int | None) -> tuple[int, ...]:
        shape = list(case.shape(name))
        if dim is not None:
            shape[dim] *= case.size
        return tuple(shape)

    x_dim, out_dim = (-1 if is_split else None for is_split in (layer.splits_x, layer.splits_out))
    x_shape = whole_shape("input.x", x_dim)
    x = (randn(x_shape, case.seed, torch.float64) + ramp(x_shape) + layer.x_mean).requires_grad_()
    drawn = {name: draw_tensor(name, whole_shape(f"{kind_of(name)}.{name}", dim), case.seed + 1 + i)
             for i, (name, dim) in enumerate(layer.dims.items())}
    tensors = {name: tensor.clone().requires_grad_(kind_of(name) == "weight") for name, tensor in drawn.items()}
    out = layer.forward(x, tensors)
    whole = {"input.x": (x, x_dim), "actual.x": (x, x_dim), "actual.out": (out, out_dim)}
    for name, dim in layer.dims.items():
        whole |= {f"{kind_of(name)}.{name}": (drawn[name], dim), f"actual.{name}": (tensors[name], dim)}
    if case.name.endswith("Gradient"):
        grad_out = randn(tuple(out.shape), case.seed + 100, torch.float64)
        out.backward(grad_out)
        whole |= {"input.grad_out": (grad_out, out_dim), "actual.x.grad": (x.grad, x_dim)}
        for name, dim in layer.dims.items():
            if kind_of(name) == "weight":
                grad = tensors[name].grad  # a bias of all keys changes no softmax: 0 but for rounding
                whole[f"actual.{name}.grad"] = (torch.zeros_like(grad) if name == "k.bias" else grad, dim)
    return [{name: tensor.detach() if dim is None else chunk(tensor.detach(), dim, rank, case.size)
             for name, (tensor, dim) in whole.items()} for rank in range(case.size)]
