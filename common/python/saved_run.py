"""A lab's run as its ranks saved it, case by case, and its comparison with what was recomputed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from parts import Tensors
from read_saved import BadFile, SavedFile, read_saved


# How far results may be from the recomputed ones, which are computed in float64: the largest difference, as a part of
# the largest value. The labs round in another order, at most some hundred times; mistakes are off by 1e-3 and more.
TOLERANCES = {torch.float64: 1e-10, torch.float32: 2e-5, torch.bfloat16: 0.05}
# Drawn inputs: the last bits of a logarithm or cosine may differ between versions of LibTorch.
DRAWN_UNITS = 4


@dataclass(frozen=True)
class Case:
    """What the ranks saved of one case: of each rank its tensors by the rest of their names, such as "input.x"."""

    name: str
    seed: int
    ranks: tuple[Tensors, ...]
    run: "Run"

    @property
    def size(self) -> int:
        return len(self.ranks)

    def first(self, name: str) -> torch.Tensor:
        """The tensor of the first rank that has it. What is recomputed takes shapes and dtypes from it."""
        for saved in self.ranks:
            if name in saved:
                return saved[name]
        raise BadFile(f"no rank has saved '{self.name}.{name}', from which the sizes of the case follow")

    def has(self, name: str) -> bool:
        return any(name in saved for saved in self.ranks)

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.first(name).shape)

    def names(self, beginning: str) -> list[str]:
        """The names that begin like this, of all ranks together, without that beginning."""
        return sorted({name[len(beginning):] for saved in self.ranks for name in saved if name.startswith(beginning)})


@dataclass(frozen=True)
class Run:
    """All ranks' files, and what they do not say of the run."""

    num_ranks: int
    seed: int
    num_train_images: int  # of optC's own two trainings
    cases: dict[str, Case]

    def case(self, name: str) -> Case:
        if name not in self.cases:
            raise BadFile(f"no rank has saved the case '{name}'")
        return self.cases[name]


@dataclass(frozen=True)
class Rule:
    """How cases are recomputed: for each rank, every tensor that it must have saved, by names such as "input.x",
    "weight.W" and "actual.out"."""

    names: str  # a regular expression for all of a case's name
    recompute: Callable[[Case], list[Tensors]]
    exact: bool = False  # the data are small integers: results must be equal to the bit
    tolerance: float | None = None  # in place of TOLERANCES
    computed: str = "actual[.].*"  # the names of what is computed; the rest is drawn
    given: str = "$"  # the names of inputs that do not follow from the seed: they are taken as saved


@dataclass(frozen=True)
class Verdict:
    """A case's comparison."""

    num_tensors: int
    drawn: float  # the largest difference of inputs and weights
    computed: float  # ... of results
    allowed: float  # of results
    wrong: list[str]  # what is different, in a sentence each


def load_run(lab: str, folder: str, num_ranks: int | None, seed: int, num_train_images: int) -> Run:
    """The files of all ranks; num_ranks: None: as many as there are. Raises BadFile: one is missing, damaged or of
    another lab."""
    if num_ranks is None:
        num_ranks = _count_files(folder)
    files = [_file_of(lab, os.path.join(folder, f"rank{rank}.safetensors")) for rank in range(num_ranks)]
    parts: dict[str, tuple[Tensors, ...]] = {}
    for rank, file in enumerate(files):
        for full_name, array in file.arrays.items():
            case, _, name = full_name.partition(".")
            tensor = torch.from_numpy(array)
            if file.dtypes[full_name] == "BF16":
                tensor = tensor.to(torch.bfloat16)
            parts.setdefault(case, tuple({} for _ in files))[rank][name] = tensor
    run = Run(num_ranks, seed, num_train_images, {})
    run.cases.update((name, Case(name, seed, ranks, run)) for name, ranks in parts.items())
    return run


def _count_files(folder: str) -> int:
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise BadFile(f"'{folder}' cannot be read: {error.strerror}") from None
    ranks = [int(found[1]) for found in (re.fullmatch(r"rank(\d+)\.safetensors", name) for name in names) if found]
    if not ranks:
        raise BadFile(f"'{folder}' has no rank0.safetensors: expected the folder of a lab's --save")
    return max(ranks) + 1


def _file_of(lab: str, path: str) -> SavedFile:
    file = read_saved(path)
    found = str(file.metadata.get("lab", "no lab"))  # with the command, if it was one
    if found.partition(" ")[0] != lab:
        raise BadFile(f"'{path}' is of {found}, expected one of {lab}")
    return file


def compare(case: Case, rule: Rule) -> Verdict:
    """Recomputes a case and compares it with what each rank saved, and with what the lab expected of it."""
    wrong: list[str] = []
    worst = {"drawn": 0.0, "computed": 0.0}
    num_tensors, allowed = 0, 0.0
    for rank, (saved, right) in enumerate(zip(case.ranks, rule.recompute(case))):
        wrong += _wrong_names(rank, saved, right, rule)
        for name in sorted(saved, key=lambda name: (name.startswith(("actual.", "expected.")), name)):  # causes first
            value = right.get(re.sub("^expected", "actual", name))
            if value is None:
                continue
            kind = "computed" if name.startswith("expected") or re.fullmatch(rule.computed, name) else "drawn"
            limit = _limit(value.dtype, kind, rule)
            off = difference(saved[name], value, may_be_nan=kind == "drawn")
            num_tensors += 1
            worst[kind] = max(worst[kind], off)
            if kind == "computed":
                allowed = max(allowed, limit)
            if not off <= limit:
                wrong.append(f"rank {rank}: {name} {_described(saved[name], value, off, limit)}")
    return Verdict(num_tensors, worst["drawn"], worst["computed"], allowed, wrong)


def difference(saved: torch.Tensor, right: torch.Tensor, may_be_nan: bool = False) -> float:
    """The largest difference, as a part of the largest value of `right` (of 1 if all are 0); infinite if dtypes or
    shapes differ, or if one is NaN and may not be, as inputs that no rank may read."""
    if saved.dtype != right.dtype or saved.shape != right.shape:
        return float("inf")
    wide = torch.float64 if saved.is_floating_point() else torch.int64
    actual, expected = saved.to(wide).flatten(), right.to(wide).flatten()
    if may_be_nan:
        read = ~(actual.isnan() & expected.isnan())
        actual, expected = actual[read], expected[read]
    if actual.numel() == 0:
        return 0.0
    largest = float(expected.abs().max())
    off = float((actual - expected).abs().max()) / (largest or 1.0)
    return float("inf") if np.isnan(off) else off


def _limit(dtype: torch.dtype, kind: str, rule: Rule) -> float:
    if rule.exact or not dtype.is_floating_point:
        return 0.0
    if kind == "drawn":
        return DRAWN_UNITS * torch.finfo(dtype).eps
    return TOLERANCES[dtype] if rule.tolerance is None else rule.tolerance


def _wrong_names(rank: int, saved: Tensors, right: Tensors, rule: Rule) -> list[str]:
    names = {name for name in saved if not name.startswith("expected.") and not re.fullmatch(rule.given, name)}
    unknown = [f"rank {rank}: {name} is saved, but was not recomputed" for name in sorted(names - set(right))]
    return unknown + [f"rank {rank}: {name} is missing" for name in sorted(set(right) - set(saved))]


def _described(saved: torch.Tensor, right: torch.Tensor, off: float, limit: float) -> str:
    def form(tensor: torch.Tensor) -> str:
        return f"{str(tensor.dtype)[len('torch.'):]} {list(tensor.shape)}"

    if form(saved) != form(right):
        return f"is {form(saved)}, recomputed {form(right)}"
    distances = (saved.double() - right.double()).abs().nan_to_num(nan=float("inf"))
    place = int(distances.argmax())
    index = [int(i) for i in np.unravel_index(place, saved.shape)]
    return (f"{form(saved)}: element {index} is {saved.flatten()[place].item():.9g}, recomputed "
            f"{right.flatten()[place].item():.9g}: off by {off:.1e} of the largest value, allowed {limit:.1e}")
