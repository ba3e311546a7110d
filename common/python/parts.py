"""Parts of whole tensors as ranks have them, and what each rank has saved of a result."""

from __future__ import annotations

import numpy as np
import torch

Tensors = dict[str, torch.Tensor]


def chunk(whole: torch.Tensor, dim: int, rank: int, size: int) -> torch.Tensor:
    """The rank's part of a tensor that `size` ranks share evenly along a dimension."""
    if whole.shape[dim] % size != 0:
        raise ValueError(f"{whole.shape[dim]} does not divide by {size} ranks")
    return whole.chunk(size, dim)[rank].contiguous()


def even_sizes(total: int, num_parts: int) -> list[int]:
    """As even as possible, the first parts one larger: even_sizes(10, 4) = [3, 3, 2, 2]."""
    return [len(part) for part in np.array_split(np.arange(total), num_parts)]


def layers_of(rank: int, size: int, num_layers: int, num_chunks: int) -> list[int]:
    """A pipeline's layers on a rank. Stage c * size + rank is its chunk c; stages have consecutive layers, as even as
    possible."""
    sizes = even_sizes(num_layers, size * num_chunks)
    stages = range(rank, size * num_chunks, size)
    return [layer for stage in stages for layer in range(sum(sizes[:stage]), sum(sizes[:stage + 1]))]


def int64(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def in_float64(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """New tensors of the same values."""
    return [tensor.detach().to(torch.float64, copy=True) for tensor in tensors]


def gradients(outs: list[torch.Tensor], grads: list[torch.Tensor], leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    """The leaves' gradients, from those that arrive at the outputs."""
    return list(torch.autograd.grad(outs, leaves, grads))


def on_rank_zero(results: Tensors, size: int) -> list[Tensors]:
    """Of a case that only rank 0 runs."""
    return [results, *({} for _ in range(size - 1))]


def function_results(xs: list[torch.Tensor], outs: list[torch.Tensor], grads: list[torch.Tensor],
                     x_grads: list[torch.Tensor], prefix: str = "") -> list[Tensors]:
    """Of a function that each rank calls on xs[rank], which may change neither x nor the gradient that arrives at its
    output."""
    return [{f"input.{prefix}x": x.detach(), f"actual.{prefix}x": x.detach(), f"input.{prefix}grad_out": grad,
             f"actual.{prefix}grad_out": grad, f"actual.{prefix}out": out.detach(), f"actual.{prefix}x.grad": x_grad}
            for x, out, grad, x_grad in zip(xs, outs, grads, x_grads)]
