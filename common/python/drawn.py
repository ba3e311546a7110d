"""What the labs draw from a seed, drawn again: the suite's own generators in numpy (common/tensor/exact_data.cpp,
seeded.cpp, mixing.h), and those of LibTorch through the same functions of Python's PyTorch."""

from __future__ import annotations

import functools
import math

import numpy as np
import torch

MASK = (1 << 64) - 1


def _u64(numbers: int | np.ndarray) -> np.ndarray:
    return np.array(numbers & MASK if isinstance(numbers, int) else numbers, np.uint64, ndmin=1)


def splitmix64(numbers: int | np.ndarray) -> np.ndarray:
    """SplitMix64's mixing function of each number; of one number, an array of one."""
    x = _u64(numbers) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mixed(number: int) -> int:
    """The same of one number."""
    return int(splitmix64(number)[0])


def _murmur32(number: int) -> int:
    number = (number ^ (number >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    number = (number ^ (number >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return number ^ (number >> 16)


def rank_seed(seed: int, rank: int) -> int:
    """A seed for each rank."""
    start = (mixed(seed) + rank) & MASK
    return (mixed(start) >> 32) << 32 | _murmur32(start & 0xFFFFFFFF)


def name_checksum(name: str) -> int:
    """FNV-1a of a name, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


# --- integers whose sums are exact ---

_RANGES = {torch.float64: (-4095, 4095), torch.int64: (-4095, 4095), torch.float32: (-63, 63), torch.float16: (-2, 2),
           torch.bfloat16: (-1, 1)}
_WIDE = 31  # from so many values on, no rank repeats another's in the same place


def exact_values(shape: list[int] | tuple[int, ...], dtype: torch.dtype, seed: int, rank: int = 0) -> torch.Tensor:
    """Small integers of a shape and dtype, different on each rank, whose sums need no rounding in any order."""
    lowest, highest = _RANGES[dtype]
    count, total = highest - lowest + 1, math.prod(shape)
    if count >= _WIDE:
        values, places = _wheels(count, seed & MASK, -(-total // count))
        drawn = np.take_along_axis(values, (places + rank) % count, 1).reshape(-1)[:total]
    else:
        start = (mixed(mixed(seed) + rank)) & MASK
        drawn = _one_of(splitmix64(_u64(start) + np.arange(total, dtype=np.uint64)), count)
    return torch.from_numpy(drawn.astype(np.int64) + lowest).reshape(tuple(shape)).to(dtype)


@functools.lru_cache(maxsize=64)
def _wheels(count: int, seed: int, num_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """[num_blocks, count] each: the values on each block's wheel, and the places of the block's positions on it. Each
    rank turns the wheel one place further."""
    seeds = splitmix64(_u64(mixed(seed)) + np.arange(num_blocks, dtype=np.uint64))
    values = np.tile(np.arange(count), (num_blocks, 1))
    places = values.copy()
    _shuffle(values, 0, splitmix64(seeds))
    begin = 0
    if count >= 64:  # the first eight positions: every eighth place
        begin = 8
        for i in range(begin):
            places[:, [i, 8 * i]] = places[:, [8 * i, i]]
    _shuffle(places, begin, splitmix64(seeds + np.uint64(1)))
    return values, places


def _one_of(hashes: np.ndarray, counts: int | np.ndarray) -> np.ndarray:
    """A number below its count for each hash, by a multiplication."""
    return (hashes >> np.uint64(32)) * _u64(counts) >> np.uint64(32)


def _shuffle(rows: np.ndarray, begin: int, seeds: np.ndarray) -> None:
    """Fisher-Yates from `begin` on up, of each row with its own seed."""
    firsts = np.arange(begin, rows.shape[1], dtype=np.uint64)
    for number, seed in enumerate(seeds):
        places = firsts + _one_of(splitmix64(seed + firsts), np.uint64(rows.shape[1]) - firsts)
        row = rows[number].tolist()
        for first, place in zip(firsts.tolist(), places.tolist()):
            row[first], row[place] = row[place], row[first]
        rows[number] = row


# --- LibTorch's generator ---

def generator(seed: int) -> torch.Generator:
    """A generator whose numbers are those after torch.manual_seed(seed)."""
    return torch.Generator().manual_seed(seed & MASK)


def randn(shape: list[int] | tuple[int, ...], seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Standard normal numbers of a generator of their own."""
    return torch.randn(tuple(shape), generator=generator(seed), dtype=dtype)


def rand(shape: list[int] | tuple[int, ...], seed: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers in [0, 1) of a generator of their own."""
    return torch.rand(tuple(shape), generator=generator(seed), dtype=dtype)


def linear_uniform(shape: list[int] | tuple[int, ...], fan_in: int, draws: torch.Generator,
                   dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A weight or bias as nn.Linear initialises it: uniform within 1 / sqrt(fan_in)."""
    bound = 1 / math.sqrt(fan_in)
    return torch.empty(tuple(shape), dtype=dtype).uniform_(-bound, bound, generator=draws)


# --- numbers that are the same in every version of every library (optC's images and orders) ---

def portable_bits(seed: int, count: int) -> np.ndarray:
    """The first `count` numbers of 32 bits, [count] uint64."""
    return splitmix64(splitmix64(seed) + np.arange(count, dtype=np.uint64)) >> np.uint64(32)


def below(bits: np.ndarray, count: int | np.ndarray) -> np.ndarray:
    """From each 32 bits one of 0 .. count - 1, int64."""
    return (bits * _u64(count) >> np.uint64(32)).astype(np.int64)
