"""optC's small pipelines: a chain of layers, of which each rank has some; a batch, or a training with stale weights."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from drawn import exact_values, rand
from labs.optc_models import Images, draw_parameter, epoch_order
from labs.optc_training import train_with_stale_weights
from parts import Tensors, even_sizes, int64, layers_of
from saved_run import Case


class Chain(nn.Module):
    """Linear layers with tanh between them, on means over 8 x 8 pixels."""

    def __init__(self, shapes: list[tuple[int, ...]], seed: int) -> None:
        super().__init__()
        for i, shape in enumerate(shapes):
            linear_layer = nn.Linear(shape[1], shape[0]).double()
            for kind, parameter in linear_layer.named_parameters():
                parameter.data = draw_parameter(f"chain{i}.{kind}", tuple(parameter.shape), shape[1], seed, is_he=True)
            self.add_module(f"chain{i}", linear_layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        *inner, last = self.children()
        x = F.avg_pool2d(x, 8).flatten(1)
        for layer in inner:
            x = torch.tanh(layer(x))
        return last(x)


def chain_of(case: Case) -> Chain:
    num_layers = len(case.names("weight.")) // 2
    return Chain([case.shape(f"weight.chain{i}.weight") for i in range(num_layers)], case.seed)


def draw_images(case: Case) -> Images:
    pixels = (rand(case.shape("input.pixels"), case.seed) * 256).to(torch.uint8)
    return Images(pixels, (rand(case.shape("input.labels"), case.seed + 1) * 10).long())


def chain_inputs(chain: Chain, images: Images) -> Tensors:
    return {"input.pixels": images.pixels, "input.labels": images.labels} | {
        f"weight.{name}": parameter.detach().clone() for name, parameter in chain.named_parameters()}


def own_parameters(rank: int, size: int, num_layers: int, num_chunks: int) -> list[str]:
    return [f"chain{i}.{kind}" for i in layers_of(rank, size, num_layers, num_chunks) for kind in ("weight", "bias")]


# Micro-batches of a batch; interleaved: 2 of each rank.
NUM_MICRO_BATCHES = {"Gpipe": 4, "GpipeFewImages": 5, "GpipeOneMicroBatch": 1, "GpipeRecompute": 6,
                     "OneForwardOneBackward": 6, "OneForwardOneBackwardFewImages": 3,
                     "OneForwardOneBackwardRecompute": 9}
NUM_CHUNKS = {"Interleaved": 2, "InterleavedThreeChunks": 3}


def most_live(case: Case, rank: int) -> int:
    """Micro-batches of a rank's chunks that went forward and have not come back."""
    p, v = case.size, NUM_CHUNKS.get(case.name, 1)
    total = NUM_MICRO_BATCHES.get(case.name, 2 * p) * v
    if case.name.startswith("Gpipe"):
        return total
    return min(total, p - rank if v == 1 else 2 * (p - 1 - rank) + (v - 1) * p + 1)


def batch_in_pipeline(case: Case) -> list[Tensors]:
    """The mean loss of the whole batch and its gradients; the last rank knows the loss."""
    chain, images = chain_of(case), draw_images(case)
    inputs = chain_inputs(chain, images)
    loss = F.cross_entropy(chain(images.inputs(torch.arange(len(images.labels)))), images.labels)
    loss.backward()
    results = []
    for rank in range(case.size):
        names = own_parameters(rank, case.size, len(list(chain.children())), NUM_CHUNKS.get(case.name, 1))
        own = inputs | {f"actual.{name}.grad": chain.get_parameter(name).grad for name in names}
        own |= {"actual.most_live": int64(most_live(case, rank)), "actual.num_live_at_the_end": int64(0)}
        results.append(own | ({"actual.loss": loss.detach().reshape(1)} if rank == case.size - 1 else {}))
    return results


def gpipe_alone(case: Case) -> list[Tensors]:
    """GPipe with stages that compute nothing: outputs go to the next rank, gradients to the previous one."""
    count, last = case.first("actual.num_forward").item(), case.size - 1

    def message(rank: int, border: int, i: int, offset: int) -> torch.Tensor:
        return exact_values(((i + 1) % 3, border + 1, 2), torch.int64, case.seed + 2 * i + offset, rank)

    results = []
    for rank in range(case.size):
        own = {"actual.num_forward": int64(count), "actual.num_backward": int64(count),
               "actual.num_inputs": int64(count if rank > 0 else 0),
               "actual.num_output_grads": int64(count if rank < last else 0),
               "actual.num_forward_before_backward": int64(*[count] * count)}
        for i in range(count):
            if rank > 0:
                own |= {f"input.input_grad{i}": message(rank, rank, i, 1),
                        f"actual.input{i}": message(rank - 1, rank, i, 0)}
            if rank < last:
                own |= {f"input.output{i}": message(rank, rank + 1, i, 0),
                        f"actual.output_grad{i}": message(rank + 1, rank + 1, i, 1)}
        results.append(own)
    return results


def stale_training(case: Case) -> list[Tensors]:
    """Mini-batches of 4 images in a pipeline that is drained once, before the tenth."""
    chain, images = chain_of(case), draw_images(case)
    inputs, num_layers, p = chain_inputs(chain, images), len(list(chain.children())), case.size
    stages = [stage for stage, size in enumerate(even_sizes(num_layers, p)) for _ in range(size)]
    rule = {"PipeDream": lambda s: p - 1 - s, "VerticalSync": lambda s: p - 1, "PipeDream2bw": lambda s: 1}[case.name]
    staleness = {f"chain{i}": rule(s) for i, s in enumerate(stages)}
    batches = list(epoch_order(len(images.labels), case.seed, 0).split(4))
    losses = train_with_stale_weights(chain, staleness, images, batches, drained_at=9)
    results = []
    for rank in range(p):
        own = {f"actual.{name}": chain.get_parameter(name).detach() for name in own_parameters(rank, p, num_layers, 1)}
        results.append(inputs | own | ({"actual.losses": torch.tensor(losses, dtype=torch.float64)}
                                       if rank == p - 1 else {}))
    return results
