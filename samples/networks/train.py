#!/usr/bin/env python3
"""Trains a network of this folder and writes it as ONNX, in single precision and with 8-bit integers.

    train.py denoise|deblock|upscale2x MINUTES [FROM.onnx] PICTURE...

Writes TASK.onnx and TASK-int8.onnx, the first of which may go on from an earlier FROM.onnx. Two thirds of the time go to the first; the second goes on from there with
weights and values rounded as they will be. Needs PyTorch (a GPU is used if there is one), ONNX, Pillow and NumPy
(Debian: python3-torch, python3-onnx, python3-pil, python3-numpy). README.md names the pictures.
"""
import io
import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageEnhance
from torch import nn
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PATCH = 64
BATCH = 32 if DEVICE == "cuda" else 4
WIDTH = 32
LAYERS = {"denoise": 5, "deblock": 5, "upscale2x": 4}
QUALITIES = range(10, 61, 2)


def rounded(x):
    """To whole numbers, with the gradient of x."""
    return x + (torch.round(x) - x).detach()


class Network(nn.Module):
    """3x3 convolutions that compute what to add to the picture, or to its pixels each repeated 2x2 times."""

    def __init__(self, task):
        super().__init__()
        self.upscales = task == "upscale2x"
        widths = [3] + [WIDTH] * (LAYERS[task] - 1) + [12 if self.upscales else 3]
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in zip(widths, widths[1:]))
        nn.init.zeros_(self.layers[-1].weight)
        nn.init.zeros_(self.layers[-1].bias)
        self.scales = None  # of the values between the layers, if they are rounded

    def quantize(self, x):
        """Goes on with 8 bits, whose scales suit the values of this batch."""
        scales = []
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
            scales.append(torch.quantile(x.flatten()[:10_000_000:7][:1_000_000], 0.9999) / 255)
        self.scales = nn.Parameter(torch.stack(scales).log())

    def step(self, i):
        """From a value of layer i's input to the next."""
        return torch.tensor(1 / 255, device=DEVICE) if i == 0 else self.scales[i - 1].exp()

    def weight_scales(self, i):
        return self.layers[i].weight.detach().abs().amax((1, 2, 3)) / 127

    def body(self, x):
        for i, layer in enumerate(self.layers):
            weight = layer.weight
            if self.scales is not None:
                step = self.step(i)
                x = rounded((x / step).clamp(0, 255)) * step
                by = self.weight_scales(i).clamp_min(1e-9)[:, None, None, None]
                weight = rounded(weight / by) * by
            x = functional.conv2d(x, weight, layer.bias, padding=1)
            if i + 1 < len(self.layers):
                x = torch.relu(x)
        return x

    def forward(self, x):
        if self.upscales:
            return functional.interpolate(x, scale_factor=2, mode="nearest") + functional.pixel_shuffle(self.body(x), 2)
        return x + self.body(x)


class Patches:
    """Pictures, damaged and whole, from which random patches are cut: pixels one after the other."""

    def __init__(self, task, names):
        self.task = task
        self.scale = 2 if task == "upscale2x" else 1
        pictures = []
        for name in names:
            picture = Image.open(name).convert("RGB")
            # What JPEG lost does not matter at half the size.
            halves = [picture.reduce(2)] if min(picture.size) >= 4 * PATCH else []
            if name.endswith(".png"):
                halves.append(picture)
            if task == "deblock":
                halves = [v for p in halves for v in colourful(p)]
            pictures += [numpy.asarray(p)[:p.height // 2 * 2, :p.width // 2 * 2] for p in halves]
        self.whole, self.starts, self.sizes = self.flat(pictures)
        self.damaged = [self.whole]
        self.damaged_starts, self.damaged_sizes = self.starts, self.sizes
        if task == "upscale2x":
            small = [numpy.asarray(Image.fromarray(p).resize((p.shape[1] // 2, p.shape[0] // 2), Image.BICUBIC))
                     for p in pictures]
            flat, self.damaged_starts, self.damaged_sizes = self.flat(small)
            self.damaged = [flat]
        if task == "deblock":
            with ThreadPoolExecutor() as pool:
                self.damaged = list(pool.map(lambda quality: self.flat([jpeg(p, quality) for p in pictures])[0],
                                             QUALITIES))
        self.damaged = torch.stack(self.damaged)
        self.chances = (self.sizes[:, 0] * self.sizes[:, 1]).float()
        self.random = torch.Generator(DEVICE).manual_seed(2)

    @staticmethod
    def flat(pictures):
        sizes = torch.tensor([p.shape[:2] for p in pictures], device=DEVICE)
        pixels = torch.from_numpy(numpy.concatenate([p.reshape(-1, 3) for p in pictures])).to(DEVICE)
        ends = torch.cumsum(sizes[:, 0] * sizes[:, 1], 0)
        return pixels, ends - sizes[:, 0] * sizes[:, 1], sizes

    def uniform(self, *shape):
        return torch.rand(*shape, generator=self.random, device=DEVICE)

    def batch(self):
        which = torch.multinomial(self.chances, BATCH, replacement=True, generator=self.random)
        room = (self.damaged_sizes[which] - PATCH + 1).float()
        corner = (self.uniform(BATCH, 2) * room).long()
        turned, *flipped = self.uniform(3, BATCH).less(0.5)
        quality = (self.uniform(BATCH) * len(self.damaged)).long()
        channels = torch.argsort(self.uniform(BATCH, 3), 1) if self.task == "denoise" else None

        def cut(pixels, starts, sizes, corner, side, layer=None):
            line = torch.arange(side, device=DEVICE)
            down, across = [torch.where(flip[:, None], side - 1 - line, line) for flip in flipped]
            y, x = down[:, :, None].expand(-1, side, side), across[:, None, :].expand(-1, side, side)
            y, x = torch.where(turned[:, None, None], x.transpose(1, 2), y), \
                torch.where(turned[:, None, None], y.transpose(1, 2), x)
            place = starts[which] + corner[:, 0] * sizes[which, 1] + corner[:, 1]
            places = place[:, None, None] + y * sizes[which, 1][:, None, None] + x
            patch = pixels[places] if layer is None else pixels[layer[:, None, None], places]
            if channels is not None:
                patch = patch.gather(3, channels[:, None, None, :].expand(-1, side, side, 3))
            return patch.permute(0, 3, 1, 2).float().contiguous(memory_format=torch.channels_last)

        target = cut(self.whole, self.starts, self.sizes, corner * self.scale, PATCH * self.scale)
        if self.task == "denoise":
            sigma = (5 + 25 * self.uniform(BATCH))[:, None, None, None]
            source = target + sigma * torch.randn(target.shape, device=DEVICE, generator=self.random)
            source = source.round().clamp(0, 255)
        else:
            source = cut(self.damaged, self.damaged_starts, self.damaged_sizes, corner, PATCH, quality)
        return source / 255, target / 255


def colourful(picture):
    """The picture and others of its shapes: JPEG treats each colour differently, and few photographs have them all."""
    for strength in (1, 1.8):
        red, green, blue = ImageEnhance.Color(picture).enhance(strength).split()
        for channels in ((red, green, blue), (green, blue, red), (blue, red, green)):
            yield Image.merge("RGB", channels)


def jpeg(picture, quality):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=quality)
    return numpy.asarray(Image.open(file).convert("RGB"))


def train(network, patches, minutes, rate):
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    begin = time.time()
    step = 0
    mean = 0.0
    while True:
        done = (time.time() - begin) / (60 * minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * (0.003 + 0.997 * (1 + math.cos(math.pi * done)) / 2) * min(1, (step + 1) / 200)
        source, target = patches.batch()
        # The mean of the patches' PSNR.
        loss = ((network(source) - target) ** 2).mean((1, 2, 3)).add(1e-6).log().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        step += 1
        mean = loss.detach() if step == 1 else mean + 0.005 * (loss.detach() - mean)
        if step % 1000 == 0:
            print(f"{patches.task}: step {step}, {100 * done:.0f} %, PSNR {-10 * float(mean) / math.log(10):.2f} dB",
                  flush=True)


class Graph:
    """An ONNX file in the making."""

    def __init__(self):
        self.nodes, self.tensors = [], []

    def tensor(self, name, numbers, kind):
        array = numpy.asarray(numbers, dtype=kind)
        self.tensors.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def save(self, path):
        image, result = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, h, w])
                         for name, h, w in (("image", "height", "width"), ("result", "h", "w")))
        graph = helper.make_graph(self.nodes, path.rsplit(".", 1)[0], [image], [result], self.tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="gpufilter")
        model.ir_version = 7
        onnx.checker.check_model(model)
        onnx.save(model, path)


def add_to_picture(graph, network, body):
    """The picture, or its repeated pixels, plus what the convolutions gave."""
    if not network.upscales:
        return graph.node("Add", ["image", body], "result")
    shuffled = graph.node("DepthToSpace", [body], "shuffled", blocksize=2, mode="CRD")
    sizes = graph.tensor("sizes", [1, 1, 2, 2], numpy.float32)
    repeated = graph.node("Resize", ["image", "", sizes], "repeated", mode="nearest",
                          coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return graph.node("Add", [repeated, shuffled], "result")


def write_floats(network, path):
    graph = Graph()
    value = "image"
    for i, layer in enumerate(network.layers):
        weight = graph.tensor(f"weight{i}", layer.weight.detach().cpu(), numpy.float32)
        bias = graph.tensor(f"bias{i}", layer.bias.detach().cpu(), numpy.float32)
        value = graph.node("Conv", [value, weight, bias], f"conv{i}", pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        if i + 1 < len(network.layers):
            value = graph.node("Relu", [value], f"relu{i}")
    add_to_picture(graph, network, value)
    graph.save(path)


def write_integers(network, path):
    """As onnxruntime writes quantized networks: Conv between DequantizeLinear and QuantizeLinear (QDQ); the last as
    ConvInteger, whose sums are not rounded to 8 bits."""
    graph = Graph()
    steps = [numpy.float32(float(network.step(i).detach())) for i in range(len(network.layers))]
    for i, step in enumerate(steps):
        graph.tensor(f"step{i}", step, numpy.float32)
    zero = graph.tensor("zero", 0, numpy.uint8)
    value = graph.node("QuantizeLinear", ["image", "step0", zero], "bytes0")
    for i, layer in enumerate(network.layers):
        scales = network.weight_scales(i).clamp_min(1e-9).cpu().numpy().astype(numpy.float32)
        whole = numpy.rint(layer.weight.detach().cpu().numpy() / scales[:, None, None, None])
        weight = graph.tensor(f"weight{i}", whole, numpy.int8)
        bias = layer.bias.detach().cpu().numpy()
        if i + 1 == len(network.layers):
            none = graph.tensor("no_offset", 0, numpy.int8)
            sums = graph.node("ConvInteger", [value, weight, zero, none], f"sums{i}", pads=[1, 1, 1, 1],
                              kernel_shape=[3, 3])
            sums = graph.node("Cast", [sums], f"whole{i}", to=TensorProto.FLOAT)
            graph.tensor(f"scales{i}", (scales * steps[i])[:, None, None], numpy.float32)
            graph.tensor(f"bias{i}", bias[:, None, None], numpy.float32)
            scaled = graph.node("Mul", [sums, f"scales{i}"], f"scaled{i}")
            add_to_picture(graph, network, graph.node("Add", [scaled, f"bias{i}"], f"more{i}"))
            break
        count = len(scales)
        graph.tensor(f"scales{i}", scales, numpy.float32)
        graph.tensor(f"zeros{i}", numpy.zeros(count), numpy.int8)
        bias_scales = graph.tensor(f"bias_scales{i}", scales * steps[i], numpy.float32)
        graph.tensor(f"bias_zeros{i}", numpy.zeros(count), numpy.int32)
        graph.tensor(f"bias{i}", numpy.rint(bias / (scales * steps[i])), numpy.int32)
        x = graph.node("DequantizeLinear", [value, f"step{i}", zero], f"value{i}")
        w = graph.node("DequantizeLinear", [weight, f"scales{i}", f"zeros{i}"], f"weights{i}", axis=0)
        b = graph.node("DequantizeLinear", [f"bias{i}", bias_scales, f"bias_zeros{i}"], f"biases{i}", axis=0)
        y = graph.node("Conv", [x, w, b], f"conv{i}", pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        y = graph.node("Relu", [y], f"relu{i}")
        value = graph.node("QuantizeLinear", [y, f"step{i + 1}", zero], f"bytes{i + 1}")
    graph.save(path)


def load(network, path):
    tensors = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in onnx.load(path).graph.initializer}
    for i, layer in enumerate(network.layers):
        layer.weight.data = tensors[f"weight{i}"].to(DEVICE)
        layer.bias.data = tensors[f"bias{i}"].to(DEVICE)


def main():
    task, minutes, names = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    torch.manual_seed(1)
    network = Network(task).to(DEVICE, memory_format=torch.channels_last)
    rate = 2e-3
    if names[0].endswith(".onnx"):
        load(network, names.pop(0))
        rate = 5e-4
    patches = Patches(task, names)
    train(network, patches, minutes * 2 / 3, rate)
    write_floats(network, f"{task}.onnx")
    with torch.no_grad():
        network.quantize(patches.batch()[0])
    train(network, patches, minutes / 3, 5e-4)
    write_integers(network, f"{task}-int8.onnx")


if __name__ == "__main__":
    main()
