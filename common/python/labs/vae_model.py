"""The layers of FLUX.1's autoencoder as functions of their parameters: w holds a module's tensors by the rest of their
names ("norm1.weight"), x is a picture [B, C, H, W]."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from parts import Tensors

NUM_GROUPS = 32
EPSILON = 1e-6


@dataclass(frozen=True)
class Config:
    """What the parameters' shapes do not tell."""

    num_heads: int = 1
    scale_factor: float = 0.3611
    shift_factor: float = 0.1159


def inside(w: Tensors, name: str) -> Tensors:
    """The tensors of a module inside this one."""
    return {key[len(name) + 1:]: tensor for key, tensor in w.items() if key.startswith(name + ".")}


def convolution(w: Tensors, x: torch.Tensor, stride: int = 1, padding: int | None = None) -> torch.Tensor:
    """By default with the padding that keeps the picture's size."""
    kernel = w["weight"].shape[2]
    return F.conv2d(x, w["weight"], w["bias"], stride, kernel // 2 if padding is None else padding)


def group_norm(w: Tensors, x: torch.Tensor, num_groups: int = NUM_GROUPS) -> torch.Tensor:
    """Also of one value only, which torch's own refuses."""
    if x[0].numel() > num_groups:
        return F.group_norm(x, num_groups, w["weight"], w["bias"], EPSILON)
    values = x.reshape(len(x), num_groups, -1)
    variance, mean = torch.var_mean(values, 2, unbiased=False, keepdim=True)
    normed = ((values - mean) / (variance + EPSILON).sqrt()).reshape(x.shape)
    return normed * w["weight"].reshape(-1, 1, 1) + w["bias"].reshape(-1, 1, 1)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """softmax(q k' / sqrt(D)) v of all positions, [B, heads, N, D]."""
    return torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[3]), 3) @ v


def attention_block(w: Tensors, x: torch.Tensor, num_heads: int) -> torch.Tensor:
    normed = group_norm(inside(w, "norm"), x)

    def heads(name: str) -> torch.Tensor:
        """[B, heads, H * W, C / heads]"""
        return convolution(inside(w, name), normed).reshape(len(x), num_heads, -1, x[0, 0].numel()).transpose(2, 3)

    found = attention(heads("q"), heads("k"), heads("v")).transpose(2, 3).reshape(x.shape)
    return x + convolution(inside(w, "proj_out"), found)


def resnet_block(w: Tensors, x: torch.Tensor) -> torch.Tensor:
    h = convolution(inside(w, "conv1"), F.silu(group_norm(inside(w, "norm1"), x)))
    h = convolution(inside(w, "conv2"), F.silu(group_norm(inside(w, "norm2"), h)))
    shortcut = inside(w, "nin_shortcut")
    return h + (convolution(shortcut, x) if shortcut else x)


def upsample(w: Tensors, x: torch.Tensor) -> torch.Tensor:
    return convolution(inside(w, "conv"), F.interpolate(x, scale_factor=2, mode="nearest"))


def downsample(w: Tensors, x: torch.Tensor) -> torch.Tensor:
    return convolution(inside(w, "conv"), F.pad(x, (0, 1, 0, 1)), stride=2, padding=0)


def middle(w: Tensors, x: torch.Tensor, num_heads: int) -> torch.Tensor:
    x = attention_block(inside(w, "attn_1"), resnet_block(inside(w, "block_1"), x), num_heads)
    return resnet_block(inside(w, "block_2"), x)


def end(w: Tensors, x: torch.Tensor) -> torch.Tensor:
    return convolution(inside(w, "conv_out"), F.silu(group_norm(inside(w, "norm_out"), x)))


def numbered(w: Tensors, name: str) -> list[Tensors]:
    """Modules in a list: "block.0", "block.1" ..."""
    all_of_them = inside(w, name)
    return [inside(all_of_them, number) for number in sorted({key.split(".")[0] for key in all_of_them}, key=int)]


def decoder(w: Tensors, z: torch.Tensor, num_heads: int) -> torch.Tensor:
    """[B, z, H, W] to [B, 3, H * 2^(levels - 1), ...]; level 0 is that of the full resolution."""
    x = middle(inside(w, "mid"), convolution(inside(w, "conv_in"), z), num_heads)
    for level in reversed(numbered(w, "up")):
        for block in numbered(level, "block"):
            x = resnet_block(block, x)
        if inside(level, "upsample"):
            x = upsample(inside(level, "upsample"), x)
    return end(w, x)


def encoder(w: Tensors, x: torch.Tensor, num_heads: int) -> torch.Tensor:
    """[B, 3, H, W] to [B, 2 z, H / 2^(levels - 1), ...]: means, then what is not used here."""
    x = convolution(inside(w, "conv_in"), x)
    for level in numbered(w, "down"):
        for block in numbered(level, "block"):
            x = resnet_block(block, x)
        if inside(level, "downsample"):
            x = downsample(inside(level, "downsample"), x)
    return end(w, middle(inside(w, "mid"), x, num_heads))


def encode(w: Tensors, picture: torch.Tensor, config: Config) -> torch.Tensor:
    means = encoder(inside(w, "encoder"), picture, config.num_heads).chunk(2, 1)[0]
    return config.scale_factor * (means - config.shift_factor)


def decode(w: Tensors, z: torch.Tensor, config: Config) -> torch.Tensor:
    return decoder(inside(w, "decoder"), z / config.scale_factor + config.shift_factor, config.num_heads)
