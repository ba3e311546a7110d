"""optC's trainings: in one process, batch by batch; and in stages whose weights are stale."""

from __future__ import annotations

import copy
import functools
import re
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F

from labs.optc_models import (Deep, Images, Resnet, Tutorial, Vit, epoch_order, generated_images, initialised,
                              split_dim)
from parts import Tensors, chunk
from saved_run import Case

MODELS = {"tutorial": Tutorial, "deep": Deep, "pair-norm": functools.partial(Tutorial, with_norm=True),
          "vit": Vit, "resnet": Resnet}
MOMENTUM = 0.9


@dataclass
class Record:
    """What a training leaves: of each step its loss, and after each epoch the parameters and what the model says about
    the test images."""

    losses: list[float] = field(default_factory=list)
    test_losses: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)
    predictions: torch.Tensor = torch.empty(0)
    parameters: list[Tensors] = field(default_factory=list)

    def results(self) -> Tensors:
        return {"actual.losses": torch.tensor(self.losses, dtype=torch.float64),
                "actual.test_losses": torch.tensor(self.test_losses, dtype=torch.float64),
                "actual.predictions": self.predictions}


def state_of(model: nn.Module) -> Tensors:
    """Parameters and running statistics."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()
            if not name.endswith("num_batches_tracked")}


@functools.lru_cache(maxsize=8)
def trained(model_name: str, seed: int, num_train: int, num_test: int, num_epochs: int, batch_size: int,
            learning_rate: float) -> tuple[Record, Images, Images]:
    """A training by SGD on generated images, with the model as it is made from the seed."""
    train, test = generated_images(num_train, num_test, seed)
    model, record = initialised(MODELS[model_name](), seed), Record()
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=MOMENTUM)
    for epoch in range(num_epochs):
        model.train()
        for indices in epoch_order(num_train, seed, epoch).split(batch_size):
            loss = F.cross_entropy(model(train.inputs(indices)), train.labels[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record.losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            logits = model(test.inputs(torch.arange(num_test)))
        record.predictions = logits.argmax(1)
        record.test_losses.append(F.cross_entropy(logits, test.labels).item())
        record.accuracies.append((record.predictions == test.labels).double().mean().item())
        record.parameters.append(state_of(model))
    return record, train, test


def image_inputs(train: Images, test: Images) -> Tensors:
    return {"input.train.pixels": train.pixels, "input.train.labels": train.labels,
            "input.test.pixels": test.pixels, "input.test.labels": test.labels}


def pipeline_model(size: int) -> str:
    return "tutorial" if size <= 5 else "deep"


def pipeline_training(case: Case) -> list[Tensors]:
    """Every rank gets all parameters in the end; the last one knows the losses."""
    num_train, num_test = case.shape("input.train.labels")[0], case.shape("input.test.labels")[0]
    record, train, test = trained(pipeline_model(case.size), case.seed, num_train, num_test, 2, 32, 0.01)
    whole = image_inputs(train, test) | {f"actual.epoch{epoch + 1}.{name}": tensor
                                         for epoch, state in enumerate(record.parameters)
                                         for name, tensor in state.items()}
    return [whole | (record.results() if rank == case.size - 1 else {}) for rank in range(case.size)]


def shards(model_name: str, state: Tensors, rank: int, size: int) -> Tensors:
    """A rank's parts of the tensors that tensor parallelism splits, and the others whole."""
    model, own = MODELS[model_name](), {}
    for name, tensor in state.items():
        dim = split_dim(model, name)
        own[name] = tensor if dim is None else chunk(tensor, dim, rank, size)
    return own


def tensor_training(case: Case, model_name: str, batch_size: int) -> list[Tensors]:
    """Every rank knows the losses, and has its shards."""
    num_train, num_test = case.shape("input.train.labels")[0], case.shape("input.test.labels")[0]
    record, train, test = trained(model_name, case.seed, num_train, num_test, 2, batch_size, 0.05)
    accuracies = torch.tensor(record.accuracies, dtype=torch.float64)
    whole = image_inputs(train, test) | record.results() | {"actual.accuracies": accuracies}
    return [whole | {f"actual.epoch{epoch + 1}.{name}": tensor for epoch, state in enumerate(record.parameters)
                     for name, tensor in shards(model_name, state, rank, case.size).items()}
            for rank in range(case.size)]


def lab_training(case: Case) -> tuple[str, Tensors]:
    """The model of the lab's pipeline or tensor-parallel training, and its parameters after the case's epoch."""
    kind, epoch = re.fullmatch(r"(Pipeline|Tensor)Epoch(\d+)", case.name).groups()
    num_epochs = sum(re.fullmatch(rf"{kind}Epoch\d+", name) is not None for name in case.run.cases)
    model_name = "pair-norm" if kind == "Tensor" else pipeline_model(case.size)
    record, _, _ = trained(model_name, case.seed, case.run.num_train_images, 1, num_epochs, 32, 0.01)
    return model_name, record.parameters[int(epoch) - 1]


def tensor_epoch(case: Case) -> list[Tensors]:
    model_name, state = lab_training(case)
    return [{f"actual.{name}": tensor for name, tensor in shards(model_name, state, rank, case.size).items()}
            for rank in range(case.size)]


def pipeline_epoch(case: Case) -> list[Tensors]:
    """Each rank has some consecutive layers, at least one, and together they have all; which, the student's
    split_layers() decides, and the case SplitLayers checks."""
    _, state = lab_training(case)
    layers = list(dict.fromkeys(name.split(".")[0] for name in state))  # in order
    begin, results = 0, []
    for rank, saved in enumerate(case.ranks):
        own = {name.split(".")[1] for name in saved}
        end = begin + max(1, sum(layer in own for layer in layers)) if rank < case.size - 1 else len(layers)
        results.append({f"actual.{name}": tensor for name, tensor in state.items()
                        if name.split(".")[0] in layers[begin:end]})
        begin = end
    return results


# --- pipelines that are not drained between batches ---

def train_with_stale_weights(model: nn.Module, staleness: dict[str, int], images: Images, batches: list[torch.Tensor],
                             drained_at: int) -> list[float]:
    """SGD in which the gradients of step t are those of the weights after step t - staleness, by layer; steps are
    counted anew where the pipeline is drained. Changes the model and returns the losses."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    losses, versions = [], []
    for step, indices in enumerate(batches):
        if step in (0, drained_at):
            versions = [state_of(model)]
        stale = copy.deepcopy(model)
        stale.load_state_dict({name: versions[max(0, len(versions) - 1 - staleness[name.split(".")[0]])][name]
                               for name in versions[0]})
        loss = F.cross_entropy(stale(images.inputs(indices)), images.labels[indices])
        losses.append(loss.item())
        for parameter, grad in zip(model.parameters(), torch.autograd.grad(loss, list(stale.parameters()))):
            parameter.grad = grad
        optimizer.step()
        versions.append(state_of(model))
    return losses
