#!/usr/bin/env python3
"""A lab's work in Python's PyTorch, in one process with one thread: what the labs' benchmarks compare themselves with.

    compute.py vae CHECKPOINT --size 256        decodes a picture with a checkpoint's decoder
    compute.py optC MODEL --batch-size 64       trains on generated images
    compute.py a5 HIDDEN INNER LAYERS ...       forward and backward passes of micro-batches

Prints one line of JSON: the seconds of each turn; by how many bytes the process was larger during the first turn than
before it; the seconds from its start until then; and the result's checksum, the mean of its absolute values."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import sys
import time
from collections.abc import Callable

sys.dont_write_bytecode = True  # nothing is left in the source tree

import torch

Turn = Callable[[], float]  # does the work, and returns its checksum


def vae(options: argparse.Namespace) -> Turn:
    from drawn import randn
    from labs.vae_model import decoder, inside
    from read_saved import read_saved

    saved = {name: torch.from_numpy(array) for name, array in read_saved(options.checkpoint).arrays.items()}
    w = {name: channels_last(tensor) for name, tensor in inside(saved, "decoder").items()}
    side = options.size // 2 ** (len({name.split(".")[1] for name in w if name.startswith("up.")}) - 1)
    z = channels_last(randn([1, w["conv_in.weight"].shape[1], side, side], 42))
    return lambda: decoder(w, z, 1).abs().mean().item()


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    """A picture or a weight of a convolution, in the memory format that the lab uses."""
    return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


def optc(options: argparse.Namespace) -> Turn:
    from labs.optc_models import generated_images, initialised
    from labs.optc_training import MODELS, MOMENTUM

    train, _ = generated_images(options.batch_size, 1, options.seed)
    inputs = train.inputs(torch.arange(options.batch_size)).float()
    model = initialised(MODELS[options.model](), options.seed).float()
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=MOMENTUM)

    def step() -> float:
        loss = torch.nn.functional.cross_entropy(model(inputs), train.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def a5(options: argparse.Namespace) -> Turn:
    from labs.a5 import SEED, draw_layer, draw_micro_batch

    shape = (options.micro_batch_size, options.sequence_length, options.hidden)
    layers = [draw_layer(SEED, i, options.hidden, options.inner, False, torch.float32) for i in range(options.layers)]
    for fc1, fc2 in layers:
        fc1.requires_grad_(), fc2.requires_grad_()
    micro_batches = [draw_micro_batch(SEED, i, shape, torch.float32) for i in range(options.micro_batches)]

    def batch() -> float:
        for fc1, fc2 in layers:
            fc1.grad = fc2.grad = None
        for x in micro_batches:
            for fc1, fc2 in layers:
                x = torch.nn.functional.linear(torch.tanh(torch.nn.functional.linear(x, fc1)), fc2)
            x.mean().backward()
        return layers[0][0].grad.abs().mean().item()

    return batch


def resident(kind: str) -> int:
    """VmRSS or VmHWM of this process, bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(kind))


def seconds_since_start() -> float:
    with open("/proc/self/stat") as stat, open("/proc/uptime") as uptime:
        started = int(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return float(uptime.read().split()[0]) - started


def main() -> None:
    parser = argparse.ArgumentParser(prog="compute.py")
    labs = parser.add_subparsers(dest="lab", required=True)
    of_vae, of_optc, of_a5 = (labs.add_parser(name) for name in ("vae", "optC", "a5"))
    of_vae.add_argument("checkpoint")
    of_vae.add_argument("--size", type=int, default=256)
    of_optc.add_argument("model")
    of_optc.add_argument("--batch-size", type=int, default=64)
    of_optc.add_argument("--lr", type=float, default=0.01)
    of_optc.add_argument("--seed", type=int, default=42)
    for name in ("hidden", "inner", "layers", "sequence_length", "micro_batch_size", "micro_batches"):
        of_a5.add_argument(name, type=int)
    for lab in (of_vae, of_optc, of_a5):
        lab.add_argument("--turns", type=int, default=1)
        lab.add_argument("--warm-up", action="store_true", help="a first turn that is not timed")
    options = parser.parse_args()

    torch.set_num_threads(1)
    turn = {"vae": vae, "optC": optc, "a5": a5}[options.lab](options)
    turn = torch.no_grad()(turn) if options.lab == "vae" else turn
    start_seconds = seconds_since_start()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed and kept would be used again, and not be counted
    with open("/proc/self/clear_refs", "w") as highest:
        highest.write("5")  # VmHWM begins anew
    before, peak, seconds, checksum = resident("VmRSS"), 0, [], 0.0
    for i in range(options.turns + options.warm_up):
        start = time.perf_counter()
        checksum = turn()
        seconds.append(time.perf_counter() - start)
        peak = peak or resident("VmHWM") - before
    print(json.dumps({"seconds": seconds[options.warm_up:], "peak_bytes": peak, "start_seconds": start_seconds,
                      "checksum": checksum}))


main()
