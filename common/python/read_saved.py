#!/usr/bin/env python3
"""Reads the files that a lab's --save DIR leaves: safetensors, with numpy alone.

As a command, it lists a file's tensors: dtype, shape, smallest and largest value, mean.

    python3 common/python/read_saved.py saved/rank0.safetensors             # all of them
    python3 common/python/read_saved.py saved/rank0.safetensors InputGrad   # those with this text in their names

As a module:

    from read_saved import read_saved
    arrays = read_saved("saved/rank0.safetensors").arrays                   # numpy arrays by name

The format (https://github.com/huggingface/safetensors#format): the header's length in 8 bytes, little-endian; the
header, a JSON object with dtype, shape and place of each tensor; then all tensors' bytes, without gaps.
"""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

LENGTH_BYTES = 8

# What the labs write. numpy has no bfloat16: such a tensor is read as the upper halves of float32 numbers, exactly.
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2",
          "I8": "|i1", "U8": "|u1", "BOOL": "|b1"}


class BadFile(Exception):
    """A file that cannot be used, in one sentence."""


@dataclass(frozen=True)
class SavedFile:
    """A file's tensors by name, and what is stored with them, such as {"lab": "a4_data_tensor"}."""

    metadata: dict[str, str]
    arrays: dict[str, np.ndarray]  # a bfloat16 tensor is a float32 array
    dtypes: dict[str, str]  # as the file spells them: "F32", "BF16"


def read_saved(path: str) -> SavedFile:
    """The tensors of a file, which is checked in full. Raises BadFile."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise BadFile(f"'{path}' cannot be read: {error.strerror}") from None
    header, begin = _header_of(data, path)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict):
        _refuse(path, f"its metadata is {metadata!r}, expected an object")
    buffer = memoryview(data)[begin:]
    arrays, places = {}, []
    for name, entry in header.items():
        arrays[name], place = _tensor(name, entry, buffer, path)
        places.append(place)
    _check_places(places, len(buffer), path)
    return SavedFile(metadata, arrays, {name: entry["dtype"] for name, entry in header.items()})


def _refuse(path: str, reason: str) -> NoReturn:
    raise BadFile(f"'{path}' is not a usable safetensors file: {reason}")


def _header_of(data: bytes, path: str) -> tuple[dict[str, Any], int]:
    """The header, and where the tensors begin."""
    if len(data) < LENGTH_BYTES:
        _refuse(path, f"it has {len(data)} bytes, expected at least {LENGTH_BYTES}")
    begin = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    if begin > len(data):
        _refuse(path, f"its header should end at byte {begin}, the file at {len(data)}")
    try:
        header = json.loads(data[LENGTH_BYTES:begin].decode("utf-8"), object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        _refuse(path, f"its header is invalid JSON: {error}")
    if not isinstance(header, dict):
        _refuse(path, "its header is not a JSON object")
    return header, begin


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _tensor(name: str, entry: Any, buffer: memoryview, path: str) -> tuple[np.ndarray, tuple[int, int]]:
    """A tensor, and where it lies among the bytes of all tensors."""

    def is_count(number: Any) -> bool:
        return isinstance(number, int) and not isinstance(number, bool) and number >= 0

    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        _refuse(path, f"tensor '{name}' should have a dtype, a shape and data_offsets")
    dtype, shape, place = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        _refuse(path, f"tensor '{name}' is of dtype {dtype!r}, expected one of {' '.join(DTYPES)}")
    if not isinstance(shape, list) or not all(map(is_count, shape)):
        _refuse(path, f"tensor '{name}' has the shape {shape!r}, expected a list of sizes")
    if not isinstance(place, list) or len(place) != 2 or not all(map(is_count, place)):
        _refuse(path, f"tensor '{name}' lies at {place!r}, expected two positions")
    begin, end = place
    expected = math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize
    if begin > end or end > len(buffer) or end - begin != expected:
        _refuse(path, f"tensor '{name}' is {dtype} {shape} and lies at bytes {begin} to {end} of {len(buffer)}, "
                      f"expected {expected} bytes")
    raw = np.frombuffer(buffer[begin:end], np.uint8 if dtype == "BOOL" else DTYPES[dtype]).copy()
    if dtype == "BOOL" and raw.size > 0 and raw.max() > 1:
        _refuse(path, f"tensor '{name}' is of bools, and a byte of it is {raw.max()}")
    if dtype == "BF16":
        raw = (raw.astype(np.uint32) << 16).view(np.float32)
    return (raw.astype(bool) if dtype == "BOOL" else raw).reshape(shape), (begin, end)


def _check_places(places: list[tuple[int, int]], num_bytes: int, path: str) -> None:
    """The tensors follow each other without gap or overlap, up to the file's end."""
    covered = 0
    for begin, end in sorted(places):
        if begin != covered:
            _refuse(path, f"a tensor begins at byte {begin}, expected {covered}")
        covered = end
    if covered != num_bytes:
        _refuse(path, f"its tensors end at byte {covered}, the file at {num_bytes}")


def figures_of(array: np.ndarray) -> str:
    """The smallest and largest value and the mean, as text; of NaN how many there are."""
    if array.size == 0:
        return "empty"
    values = array.astype(np.float64)
    num_nan = int(np.isnan(values).sum())
    if num_nan > 0:
        return f"{num_nan} of {array.size} are NaN"
    return f"{values.min():.6g} to {values.max():.6g}, mean {values.mean():.6g}"


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print("usage: read_saved.py FILE [TEXT]: lists the tensors of a safetensors file, with TEXT in their names",
              file=sys.stderr)
        return 2
    try:
        saved = read_saved(arguments[0])
    except BadFile as error:
        print(f"read_saved.py: {error}", file=sys.stderr)
        return 2
    text = arguments[1] if len(arguments) == 2 else ""
    for name, array in sorted(saved.arrays.items()):
        if text in name:
            print(f"{name:48} {saved.dtypes[name]:5} {str(list(array.shape)):18} {figures_of(array)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # such as of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
