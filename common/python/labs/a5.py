"""a5_pipeline: a model of layers fc2(f(fc1(x))), whole and in stages; and the pipeline's parts, each by itself.

Sizes, the dtype and the number of stages of a rank follow from what is saved; the activation is the one that the lab
has by default: tanh, and in the cases in float64 the handout's ReLU."""

from __future__ import annotations

import functools
import math
import re

import torch
from torch.nn import functional as F

from drawn import MASK, exact_values, generator, rand, randn, rank_seed
from parts import Tensors, in_float64, int64, layers_of, on_rank_zero
from saved_run import Case, Rule

SEED = 1234  # of a run without --seed

CHUNKS_OF_CASES = {"Interleaved": 2}  # stages of a rank


def draw_layer(seed: int, index: int, hidden: int, inner: int, is_relu: bool, dtype: torch.dtype) -> list[torch.Tensor]:
    """fc1 [inner, hidden] with variance gain / hidden, fc2 [hidden, inner] with 1 / inner, of the layer's own seed."""
    draws = generator(rank_seed(seed, index))
    gain = 2 if is_relu else 1.5
    fc1 = torch.empty(inner, hidden).normal_(0, math.sqrt(gain / hidden), generator=draws)
    fc2 = torch.empty(hidden, inner).normal_(0, math.sqrt(1 / inner), generator=draws)
    return [fc1.to(dtype), fc2.to(dtype)]


def draw_micro_batch(seed: int, index: int, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return rand(shape, rank_seed(~seed & MASK, index)).to(dtype)


def whole_model(layers: list[list[torch.Tensor]], micro_batches: list[torch.Tensor],
                is_relu: bool) -> tuple[list[torch.Tensor], list[list[torch.Tensor]]]:
    """Each micro-batch's output [B, S, H], and of each layer the gradients of its weights, summed over micro-batches
    whose loss is the output's mean; of float64 weights, rounded to the given ones' dtype."""
    leaves = [[weight.requires_grad_() for weight in in_float64(*layer)] for layer in layers]
    outputs = []
    for x in in_float64(*micro_batches):
        for fc1, fc2 in leaves:
            inner = F.linear(x, fc1)
            x = F.linear(F.relu(inner) if is_relu else torch.tanh(inner), fc2)
        outputs.append(x)
    weights = [weight for layer in leaves for weight in layer]
    loss = torch.stack([output.mean() for output in outputs]).sum()
    dtype = layers[0][0].dtype
    grads = [grad.to(dtype) for grad in torch.autograd.grad(loss, weights)]
    return [output.detach().to(dtype) for output in outputs], [grads[i:i + 2] for i in range(0, len(grads), 2)]


def small_model(case: Case) -> list[Tensors]:
    """The baseline on rank 0, or a pipeline, in any schedule."""
    num_layers = len(case.names("weight.")) // 2
    num_micro_batches = len(case.names("input.micro_batch"))
    dtype, shape = case.first("input.micro_batch0").dtype, case.shape("input.micro_batch0")
    inner, hidden = case.shape("weight.layer0.fc1")
    is_relu = dtype == torch.float64
    layers = [draw_layer(case.seed, i, hidden, inner, is_relu, dtype) for i in range(num_layers)]
    micro_batches = [draw_micro_batch(case.seed, i, shape, dtype) for i in range(num_micro_batches)]
    outputs, grads = whole_model(layers, micro_batches, is_relu)
    drawn = {f"input.micro_batch{i}": x for i, x in enumerate(micro_batches)} | {
        f"weight.layer{i}.fc{j + 1}": layers[i][j] for i in range(num_layers) for j in range(2)}

    def grads_of(indices: list[int]) -> Tensors:
        return {f"actual.layer{i}.fc{j + 1}.grad": grads[i][j] for i in indices for j in range(2)}

    if case.name.startswith("Baseline"):
        whole = drawn | grads_of(list(range(num_layers))) | {"actual.outputs": torch.stack(outputs)}
        return [whole if rank == 0 else {} for rank in range(case.size)]
    results = []
    for rank in range(case.size):
        is_last = rank == case.size - 1
        own = drawn | grads_of(layers_of(rank, case.size, num_layers, CHUNKS_OF_CASES.get(case.name, 1)))
        own |= {"actual.number_of_outputs": int64(num_micro_batches if is_last else 0)}
        results.append(own | ({"actual.outputs": torch.stack(outputs)} if is_last else {}))
    return results


@functools.lru_cache(maxsize=1)
def lab_model(seed: int, num_layers: int, hidden: int, inner: int, num_micro_batches: int, shape: tuple[int, ...],
              dtype: torch.dtype) -> tuple[list, list, list, list]:
    """The model at the lab's sizes: its layers, micro-batches, outputs and gradients."""
    layers = [draw_layer(seed, i, hidden, inner, False, dtype) for i in range(num_layers)]
    micro_batches = [draw_micro_batch(seed, i, shape, dtype) for i in range(num_micro_batches)]
    return layers, micro_batches, *whole_model(layers, micro_batches, False)


def lab_model_of(case: Case) -> tuple[list, list, list, list]:
    of_data = case.run.case("Outputs")
    names = [name for name in case.run.cases if re.fullmatch(r"Layer\d+", name)]
    inner, hidden = case.run.case("Layer0").shape("weight.layer0.fc1")
    first = of_data.first("input.micro_batch0")
    return lab_model(case.seed, len(names), hidden, inner, len(of_data.names("input.micro_batch")), tuple(first.shape),
                     first.dtype)


def lab_outputs(case: Case) -> list[Tensors]:
    """Rank 0 has the data, the last rank the outputs."""
    _, micro_batches, outputs, _ = lab_model_of(case)
    results: list[Tensors] = [{} for _ in range(case.size)]
    results[0] |= {f"input.micro_batch{i}": x for i, x in enumerate(micro_batches)}
    results[-1] |= {f"actual.output{i}": output for i, output in enumerate(outputs)}
    return results


def lab_layer(case: Case) -> list[Tensors]:
    """The rank that has the layer saves its weights and gradients."""
    layers, _, _, grads = lab_model_of(case)
    index = int(case.name[len("Layer"):])
    own = {f"weight.layer{index}.fc{j + 1}": layers[index][j] for j in range(2)} | {
        f"actual.layer{index}.fc{j + 1}": grads[index][j] for j in range(2)}
    num_chunks = chunks_of_rank_zero(case, len(layers))
    return [own if index in layers_of(rank, case.size, len(layers), num_chunks) else {} for rank in range(case.size)]


def chunks_of_rank_zero(case: Case, num_layers: int) -> int:
    """How many runs of consecutive layers rank 0 has: 2 with --schedule interleaved."""
    own = [i for i in range(num_layers) if case.run.case(f"Layer{i}").ranks[0]]
    return max(1, sum(i - 1 not in own for i in own))


def communicate(case: Case) -> list[Tensors]:
    """Outputs go to the next rank, gradients to the previous one; at the ends nothing arrives."""
    shape, dtype, last = case.shape("input.output"), torch.bfloat16, case.size - 1
    outputs = [exact_values(shape, dtype, case.seed, rank) for rank in range(case.size)]
    input_grads = [exact_values(shape, dtype, case.seed + 1, rank) for rank in range(case.size)]
    nothing = torch.zeros(shape, dtype=dtype)
    return [{"input.output": outputs[rank], "input.input_grad": input_grads[rank],
             "actual.output": outputs[rank], "actual.input_grad": input_grads[rank],
             "actual.input": outputs[rank - 1] if rank > 0 else nothing,
             "actual.output_grad": input_grads[rank + 1] if rank < last else nothing,
             "actual.returned": int64(rank > 0, rank > 0, rank < last, rank < last, 0, 0)}
            for rank in range(case.size)]


def arguments(case: Case) -> list[Tensors]:
    """A pipeline: a layer or more for each stage, and whole micro-batches, at least one."""
    def is_pipeline(layers: int, batch: int, micro_batch: int, stages: int) -> bool:
        return layers >= stages and batch > 0 and micro_batch > 0 and batch % micro_batch == 0

    rows = case.first("input.arguments").tolist()
    return on_rank_zero({"actual.accepted": int64(*(is_pipeline(*row) for row in rows))}, case.size)


def data_loader(case: Case) -> list[Tensors]:
    """[P - 1, s]: only the first stage needs the data."""
    needs = torch.zeros(case.shape("actual.needs"), dtype=torch.int64)
    needs[:, 0] = 1
    return on_rank_zero({"actual.needs": needs}, case.size)


def distribute_layers(case: Case) -> list[Tensors]:
    """[P - 1, L - 1, l]: the stage of P that has layer l of L."""
    owner = torch.full(case.shape("actual.owner"), -1)
    for stages in range(1, owner.shape[0] + 1):
        for layers in range(1, owner.shape[1] + 1):
            for stage in range(stages):
                owner[stages - 1, layers - 1, layers_of(stage, stages, layers, 1)] = stage
    return on_rank_zero({"actual.owner": owner, "actual.misplaced": int64(0)}, case.size)


def is_match(actual: torch.Tensor, expected: torch.Tensor, tolerance: torch.Tensor) -> bool:
    """Within the tolerance, as a part of the expected tensor's norm, which may not be 0."""
    if actual.shape != expected.shape:
        return False
    norm = expected.double().norm()
    return bool((actual.double() - expected.double()).norm() <= tolerance.double() * norm and norm > 0)


def compare_outputs(case: Case) -> list[Tensors]:
    """The verdict on each trial: -1 on a rank without outputs, else whether each micro-batch matches."""
    saved, verdicts = case.ranks[0], []
    for trial in range(len({name.split(".")[0] for name in case.names("input.trial")})):
        outputs, baseline, stage, tolerance = (
            saved[f"input.trial{trial}.{name}"] for name in ("outputs", "baseline", "stage", "tolerance"))
        same_number = outputs.shape[0] == baseline.shape[0]
        match = same_number and all(map(is_match, outputs, baseline, [tolerance] * len(outputs)))
        verdicts.append(-1 if stage[0] != stage[1] - 1 else int(match))
    right = torch.stack([randn((2, 3, 8), case.seed + i) for i in range(3)])  # the first trial: what was drawn, twice
    return on_rank_zero({"actual.verdicts": int64(*verdicts), "input.trial0.baseline": right,
                         "input.trial0.outputs": right}, case.size)


def compare_gradients(case: Case) -> list[Tensors]:
    """For each gradient of each trial whether it matches the baseline's of the same name."""
    saved, verdicts = case.ranks[0], []
    for trial in range(len({name.split(".")[0] for name in case.names("input.trial")})):
        for name in case.names(f"input.trial{trial}.gradient."):
            grad, baseline = (saved[f"input.trial{trial}.{kind}.{name}"] for kind in ("gradient", "baseline"))
            verdicts.append(int(is_match(grad, baseline, saved[f"input.trial{trial}.tolerance"])))
    drawn = randn((6, 4), case.seed + 104) * 1e-6  # of the third layer, after two weights of each before it
    return on_rank_zero({"actual.verdicts": int64(*verdicts), "input.trial0.gradient.layer12.fc1": drawn}, case.size)


RULES = [
    Rule("Baseline(64)?|AllForwardAllBackward(64)?|OneForwardOneBackward|Interleaved|ZeroBubbleH1(_64)?", small_model),
    Rule("Outputs", lab_outputs),
    Rule(r"Layer\d+", lab_layer),
    Rule("Communicate", communicate, exact=True),
    Rule("Arguments", arguments, given="input[.]arguments"),
    Rule("DataLoader", data_loader),
    Rule("DistributeLayers", distribute_layers),
    Rule("CompareOutputs", compare_outputs, given="input[.]trial.*"),
    Rule("CompareGradients", compare_gradients, given="input[.]trial.*"),
]
