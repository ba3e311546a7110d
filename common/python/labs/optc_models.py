"""optC's networks as torch.nn modules, whose parameters have the lab's names, and the images that it generates."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from drawn import below, generator, linear_uniform, mixed, portable_bits
from parts import Tensors

SIDE = 32  # of an image

# --- networks: x [B, 3, 32, 32], out [B, 10] ---


class Tutorial(nn.Module):
    """The PyTorch CIFAR tutorial's; with a norm between fc1 and its relu it is the lab's "pair-norm"."""

    def __init__(self, with_norm: bool = False) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)
        self.norm = nn.LayerNorm(120) if with_norm else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in (self.conv1, self.conv2):
            x = F.max_pool2d(F.relu(conv(x)), 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.norm(self.fc1(x.flatten(1)))))))


class Deep(nn.Module):
    """Eight layers, of which conv1, conv3 and conv5 end in a pool."""

    HE = "conv[1-5]|fc[12]"

    def __init__(self) -> None:
        super().__init__()
        channels = [3, 8, 16, 16, 32, 32]
        for i in range(5):
            self.add_module(f"conv{i + 1}", nn.Conv2d(channels[i], channels[i + 1], 3, padding=1))
        self.fc1, self.fc2, self.fc3 = nn.Linear(512, 64), nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in range(5):
            x = F.relu(self.get_submodule(f"conv{i + 1}")(x))
            x = F.max_pool2d(x, 2) if i % 2 == 0 else x
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


def attention(x: torch.Tensor, w: Tensors, head_dim: int) -> torch.Tensor:
    """x [B, S, D]; w: q, k, v and o with weights and biases."""
    width = x.shape[2]
    joined = {kind: torch.cat([w[f"{name}.{kind}"] for name in "qkv"]) for kind in ("weight", "bias")}
    x = x.transpose(0, 1)
    return F.multi_head_attention_forward(
        x, x, x, width, width // head_dim, joined["weight"], joined["bias"], None, None, False, 0.0, w["o.weight"],
        w["o.bias"], need_weights=False)[0].transpose(0, 1)


class TransformerBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        for name in ("q", "k", "v", "o", "fc_in", "fc_out"):
            self.add_module(name, nn.Linear(width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + attention(self.norm1(x), dict(self.named_parameters()), head_dim=12)
        return x + self.fc_out(F.relu(self.fc_in(self.norm2(x))))


class Vit(nn.Module):
    """Patches of 4 x 4 pixels, each [3, 4, 4]; two Transformer blocks; the mean over all places."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.places = nn.Linear(48, 48), nn.Parameter(torch.zeros(64, 48))
        self.block1, self.block2 = TransformerBlock(48), TransformerBlock(48)
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(F.unfold(x, kernel_size=4, stride=4).transpose(1, 2)) + self.places
        return self.head(self.norm(self.block2(self.block1(x))).mean(1))


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv_in = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.conv_out = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.conv_out(F.relu(self.norm(self.conv_in(x)))))


class Resnet(nn.Module):
    HE = "residual.*"

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 24, 5, stride=2, padding=2)
        self.residual1, self.residual2, self.residual3 = Residual(24), Residual(24), Residual(24)
        self.norm, self.head = nn.BatchNorm2d(24), nn.Linear(24, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = self.residual3(self.residual2(F.max_pool2d(self.residual1(x), 2)))
        return self.head(self.norm(x).mean((2, 3)))


# Of the models that tensor parallelism splits: the dimension of a tensor that ranks share.
SPLIT_DIMS = [(r"fc1\..*|norm\..*", "Tutorial", 0), (r"fc2\.weight", "Tutorial", 1),
              (r"block\d\.(q|k|v|fc_in)\..*", "Vit", 0), (r"block\d\.(o|fc_out)\.weight", "Vit", 1),
              (r"residual\d\.(conv_in|norm)\..*", "Resnet", 0), (r"residual\d\.conv_out\.weight", "Resnet", 1)]


def split_dim(model: nn.Module, name: str) -> int | None:
    return next((dim for pattern, of_model, dim in SPLIT_DIMS
                 if of_model == type(model).__name__ and re.fullmatch(pattern, name)), None)


# --- what is drawn ---

def name_seed(name: str, seed: int) -> int:
    for byte in name.encode():
        seed = mixed(seed ^ byte)
    return mixed(seed)


def draw_parameter(name: str, shape: tuple[int, ...], fan_in: int, seed: int, is_he: bool = False) -> torch.Tensor:
    """As nn.Linear and nn.Conv2d; or by He et al.: a weight within sqrt(6 / fan_in), a bias of 0. In float64."""
    if is_he and name.endswith(".bias"):
        return torch.zeros(shape, dtype=torch.float64)
    drawn = linear_uniform(shape, fan_in, generator(name_seed(name, seed)), torch.float64)
    return drawn * math.sqrt(6) if is_he else drawn


def initialised(model: nn.Module, seed: int) -> nn.Module:
    """The model in float64 with its first parameters; norms are 1 and 0."""
    model = model.double()
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            is_he = re.fullmatch(getattr(model, "HE", "$"), name) is not None
            for kind, parameter in module.named_parameters():
                fan_in = module.weight[0].numel()
                parameter.data = draw_parameter(f"{name}.{kind}", tuple(parameter.shape), fan_in, seed, is_he)
    if hasattr(model, "places"):
        model.places.data = draw_parameter("places", tuple(model.places.shape), model.places.shape[1], seed)
    return model


@dataclass(frozen=True)
class Images:
    pixels: torch.Tensor  # [N, 3, 32, 32] uint8
    labels: torch.Tensor  # [N] int64

    def inputs(self, indices: torch.Tensor) -> torch.Tensor:
        """From -1 to 1, float64."""
        return (self.pixels[indices].double() / 255 - 0.5) / 0.5


def epoch_order(num_images: int, seed: int, epoch: int) -> torch.Tensor:
    """The order of an epoch's images: Fisher-Yates from the end down."""
    order = np.arange(num_images)
    lasts = np.arange(num_images - 1, 0, -1)
    for last, place in zip(lasts, below(portable_bits(mixed(seed) + epoch, len(lasts)), lasts + 1)):
        order[place], order[last] = order[last], order[place]
    return torch.from_numpy(order)


# --- generated images ---

TINTS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (1, 1, 0), (0, 1, 1), (-1, 0, -1),
         (-1, -1, -1)]  # of the background, by label
NUM_PLANNED = 13  # numbers that the plan of an image takes


def generated_images(num_train: int, num_test: int, seed: int) -> tuple[Images, Images]:
    """Shapes and textures of ten classes, for training and for testing."""
    mixed_seed = mixed(seed)
    return draw_images(num_train, mixed(mixed_seed)), draw_images(num_test, mixed(mixed_seed + 1))


def draw_images(count: int, seed: int) -> Images:
    drawn = [draw_image(seed + i) for i in range(count)]
    return Images(torch.from_numpy(np.stack([pixels for pixels, _ in drawn])),
                  torch.tensor([label for _, label in drawn]))


def draw_image(seed: int) -> tuple[np.ndarray, int]:
    """[3, 32, 32] uint8 and a label: a shape in front of a background that becomes lighter in one direction."""
    bits = portable_bits(seed, NUM_PLANNED + 2 * 3 * SIDE * SIDE)
    plan = iter(bits[:NUM_PLANNED])

    def between(low: int, high: int) -> int:
        return low + int(below(np.array([next(plan)]), high - low + 1)[0])

    label = between(0, 9)
    centre_x, centre_y = (SIDE // 2 + between(-5, 5) for _ in range(2))
    size = between(6, 12)
    slope_x, slope_y = between(-3, 3), between(-3, 3)
    sign = -1 if between(0, 1) == 0 else 1
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    light = slope_x * (x - SIDE // 2) + slope_y * (y - SIDE // 2)
    front = in_shape(label, x - centre_x, y - centre_y, size)
    image = []
    for tint in TINTS[label]:
        background = 128 - 40 * sign + 80 * tint + between(-80, 80)
        image.append(np.where(front, background + sign * between(0, 160), background) + light)
    noise = (below(bits[NUM_PLANNED:], 41) - 20).reshape(3, SIDE, SIDE, 2).sum(3)
    return np.clip(np.stack(image) + noise, 0, 255).astype(np.uint8), label


def in_shape(label: int, x: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Whether the shape is at these places, seen from its centre."""
    square, stripe = np.maximum(abs(x), abs(y)), size // 2
    is_disc = x * x + y * y <= size * size

    def in_stripe(place: np.ndarray, width: int) -> np.ndarray:
        return place // width % 2 == 0

    return [is_disc,
            is_disc & (4 * (x * x + y * y) > size * size),  # a ring
            square <= size,
            (square <= size) & (2 * square > size),  # a frame
            (square <= size) & (3 * np.minimum(abs(x), abs(y)) <= size),  # a cross
            (abs(y) <= size) & (2 * abs(x) <= y + size),  # a triangle
            in_stripe(y, stripe),
            in_stripe(x, stripe),
            in_stripe(x + y, stripe + stripe // 2),
            in_stripe(x, stripe) == in_stripe(y, stripe)][label]  # a chessboard
