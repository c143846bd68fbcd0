"""Networks as people have them, with seeded weights: gpufilter beside onnxruntime.

    python3 compare.py GPUFILTER [NAME...]

Needs torch, onnx, onnxruntime, numpy and Pillow. Prints for each architecture whether it is read, the largest difference
of a sample and the share of samples that differ, at 768 x 512.
"""
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F


def conv(a, b, k=3, **more):
    return nn.Conv2d(a, b, k, **({"padding": k // 2} | more))


class Residual(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x):
        return x + self.body(x)


class Concatenated(nn.Module):
    """RRDB's dense block."""

    def __init__(self, width=64, growth=32):
        super().__init__()
        self.layers = nn.ModuleList(conv(width + i * growth, growth if i < 4 else width) for i in range(5))

    def forward(self, x):
        all_ = [x]
        for layer in self.layers[:-1]:
            all_.append(F.leaky_relu(layer(torch.cat(all_, 1)), 0.2))
        return x + 0.2 * self.layers[-1](torch.cat(all_, 1))


class Rrdb(nn.Module):
    def __init__(self, blocks, unshuffle=1):
        super().__init__()
        self.unshuffle = unshuffle
        self.first = conv(3 * unshuffle**2, 64)
        self.body = nn.Sequential(*(Residual(nn.Sequential(Concatenated(), Concatenated(), Concatenated()))
                                    for _ in range(blocks)), conv(64, 64))
        self.up = nn.ModuleList(conv(64, 64) for _ in range(2))
        self.last = nn.Sequential(conv(64, 64), nn.LeakyReLU(0.2), conv(64, 3))

    def forward(self, x):
        if self.unshuffle > 1:
            x = F.pixel_unshuffle(x, self.unshuffle)
        x = self.first(x)
        x = x + self.body(x)
        for up in self.up:
            x = F.leaky_relu(up(F.interpolate(x, scale_factor=2, mode="nearest")), 0.2)
        return self.last(x)


class Compact(nn.Module):
    def __init__(self, scale, layers=16, width=64):
        super().__init__()
        self.scale = scale
        body = [conv(3, width), nn.PReLU(width)]
        for _ in range(layers):
            body += [conv(width, width), nn.PReLU(width)]
        self.body = nn.Sequential(*body, conv(width, 3 * scale**2), nn.PixelShuffle(scale))

    def forward(self, x):
        return self.body(x) + F.interpolate(x, scale_factor=self.scale, mode="nearest")


class UNet(nn.Module):
    def __init__(self, bilinear, width=16):
        super().__init__()
        double = lambda a, b: nn.Sequential(conv(a, b), nn.BatchNorm2d(b), nn.ReLU(), conv(b, b), nn.BatchNorm2d(b), nn.ReLU())
        self.down = nn.ModuleList([double(3, width), double(width, 2 * width), double(2 * width, 4 * width)])
        up = lambda a, b: (nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), conv(a, b, 1))
                           if bilinear else nn.ConvTranspose2d(a, b, 2, 2))
        self.up = nn.ModuleList([up(4 * width, 2 * width), up(2 * width, width)])
        self.join = nn.ModuleList([double(4 * width, 2 * width), double(2 * width, width)])
        self.last = conv(width, 3, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](F.max_pool2d(a, 2))
        c = self.down[2](F.max_pool2d(b, 2))
        for up, join, skip in zip(self.up, self.join, (b, a)):
            c = up(c)
            dy, dx = skip.size(2) - c.size(2), skip.size(3) - c.size(3)
            c = join(torch.cat([skip, F.pad(c, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])], 1))
        return self.last(c)


class DrUNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        block = lambda n: nn.Sequential(*(Residual(nn.Sequential(conv(n, n), nn.ReLU(), conv(n, n))) for _ in range(2)))
        self.head, self.tail = conv(3, width), conv(width, 3)
        self.down = nn.ModuleList(nn.Sequential(block(width << i), nn.Conv2d(width << i, width << i + 1, 2, 2)) for i in range(3))
        self.body = block(width << 3)
        self.up = nn.ModuleList(nn.Sequential(nn.ConvTranspose2d(width << i + 1, width << i, 2, 2), block(width << i))
                                for i in (2, 1, 0))

    def forward(self, x):
        values = [self.head(x)]
        for down in self.down:
            values.append(down(values[-1]))
        x = self.body(values[-1])
        for up, skip in zip(self.up, values[:0:-1]):
            x = up(x + skip)
        return self.tail(x + values[0])


class LayerNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))

    def forward(self, x):
        d = x - x.mean(1, keepdim=True)
        y = d / (d.pow(2).mean(1, keepdim=True) + 1e-6).sqrt()
        return self.weight.view(1, -1, 1, 1) * y + self.bias.view(1, -1, 1, 1)


class NafBlock(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(n), LayerNorm(n)
        self.expand = nn.Sequential(conv(n, 2 * n, 1), conv(2 * n, 2 * n, groups=2 * n))
        self.attention = nn.Sequential(nn.AdaptiveAvgPool2d(1), conv(n, n, 1))
        self.project, self.wide, self.narrow = conv(n, n, 1), conv(n, 2 * n, 1), conv(n, n, 1)

    def forward(self, x):
        a, b = self.expand(self.norm1(x)).chunk(2, 1)
        y = a * b
        x = x + self.project(y * self.attention(y))
        a, b = self.wide(self.norm2(x)).chunk(2, 1)
        return x + self.narrow(a * b)


class NafNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.intro, self.ending = conv(3, width), conv(width, 3)
        self.encode = nn.ModuleList(nn.Sequential(NafBlock(width << i), nn.Conv2d(width << i, width << i + 1, 2, 2)) for i in range(2))
        self.middle = NafBlock(width << 2)
        self.up = nn.ModuleList(nn.Sequential(conv(width << i + 1, width << i + 2, 1, bias=False), nn.PixelShuffle(2)) for i in (1, 0))
        self.decode = nn.ModuleList(NafBlock(width << i) for i in (1, 0))

    def forward(self, x):
        h, w = x.shape[2:]
        y = self.intro(F.pad(x, (0, (4 - w % 4) % 4, 0, (4 - h % 4) % 4)))
        skips = []
        for block, down in self.encode:
            skips.append(block(y))
            y = down(skips[-1])
        y = self.middle(y)
        for up, decode, skip in zip(self.up, self.decode, skips[::-1]):
            y = decode(up(y) + skip)
        return (x + self.ending(y))[:, :, :h, :w]


class Span(nn.Module):
    def __init__(self, width=28, scale=2):
        super().__init__()
        self.blocks = nn.ModuleList(nn.ModuleList(conv(width, width) for _ in range(3)) for _ in range(3))
        self.first, self.last = conv(3, width), conv(2 * width, 3 * scale**2)
        self.shuffle = nn.PixelShuffle(scale)

    def forward(self, x):
        first = y = self.first(x)
        for a, b, c in self.blocks:
            out = c(F.silu(b(F.silu(a(y)))))
            y = (out + y) * (torch.sigmoid(out) - 0.5)
        return self.shuffle(self.last(torch.cat([first, y], 1)))


def dncnn(norm, width=32, layers=8):
    body = [conv(3, width), nn.ReLU()]
    for _ in range(layers):
        body += [conv(width, width, bias=not norm)] + ([nn.BatchNorm2d(width)] if norm else []) + [nn.ReLU()]
    return Residual(nn.Sequential(*body, conv(width, 3)))


def upconv_7():
    sizes = [3, 16, 32, 64, 128, 128, 256]
    body = []
    for a, b in zip(sizes, sizes[1:]):
        body += [nn.Conv2d(a, b, 3), nn.LeakyReLU(0.1)]
    return nn.Sequential(*body, nn.ConvTranspose2d(256, 3, 4, 2, 3))


def edsr(width=32, blocks=4):
    body = Residual(nn.Sequential(*(Residual(nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width))) for _ in range(blocks))))
    return nn.Sequential(conv(3, width), body, conv(width, 4 * width), nn.PixelShuffle(2), conv(width, 3))


MODELS = {
    "espcn-tanh": lambda: nn.Sequential(conv(3, 64, 5), nn.Tanh(), conv(64, 32), nn.Tanh(), conv(32, 12), nn.PixelShuffle(2)),
    "espcn-relu": lambda: nn.Sequential(conv(3, 64, 5), nn.ReLU(), conv(64, 32), nn.ReLU(), conv(32, 12), nn.PixelShuffle(2)),
    "fsrcnn": lambda: nn.Sequential(conv(3, 56, 5), nn.PReLU(56), conv(56, 12, 1), nn.PReLU(12), conv(12, 12), nn.PReLU(12),
                                    conv(12, 56, 1), nn.PReLU(56), nn.ConvTranspose2d(56, 3, 9, 2, 4, output_padding=1)),
    "compact-x2": lambda: Compact(2), "compact-x4": lambda: Compact(4),
    "rrdb-x4": lambda: Rrdb(23), "rrdb-x2": lambda: Rrdb(23, 2), "edsr": edsr,
    "dncnn": lambda: dncnn(False), "dncnn-norm": lambda: dncnn(True), "drunet": DrUNet,
    "unet": lambda: UNet(False), "unet-bilinear": lambda: UNet(True), "nafnet": NafNet, "span": Span, "upconv-7": upconv_7,
}


def compare(program, name, exporter):
    torch.manual_seed(1)
    model = MODELS[name]().eval()
    folder = tempfile.mkdtemp()
    path = f"{folder}/{name}.onnx"
    example = torch.rand(1, 3, 512, 768)
    if exporter == "dynamo":
        torch.onnx.export(model, (example,), path, dynamo=True)
    else:
        axes = {"x": {2: "h", 3: "w"}} if exporter == "free" else None
        torch.onnx.export(model, example, path, input_names=["x"], output_names=["y"], opset_version=17, dynamic_axes=axes, dynamo=False)
    pixels = np.random.default_rng(1).integers(0, 256, (512, 768, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(f"{folder}/in.png")
    begin = time.time()
    ours = subprocess.run([program, f"{folder}/in.png", f"{folder}/out.png", "--net", path, "--device", "cpu", "-q"],
                          capture_output=True, text=True)
    taken = time.time() - begin
    if ours.returncode:
        return f"{name:14} {exporter:6} {ours.stderr.strip()}"
    x = pixels.astype(np.float32).transpose(2, 0, 1)[None] / 255
    if name == "upconv-7":
        x = np.pad(x, ((0, 0), (0, 0), (7, 7), (7, 7)), "reflect")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if x.shape[2:] != (512, 768) and exporter != "free":
        return f"{name:14} {exporter:6} read"
    begin = time.time()
    right = session.run(None, {session.get_inputs()[0].name: x})[0][0].transpose(1, 2, 0)
    other = time.time() - begin
    right = np.clip(np.rint(right.astype(np.float64) * 255), 0, 255)
    difference = np.abs(np.asarray(Image.open(f"{folder}/out.png")).astype(int) - right)
    return (f"{name:14} {exporter:6} largest {difference.max():.0f}, {100 * (difference > 0).mean():.3f}% differ, "
            f"{taken:.2f} s, onnxruntime {other:.2f} s")


if __name__ == "__main__":
    for model_name in sys.argv[2:] or MODELS:
        for way in ("fixed", "free", "dynamo"):
            try:
                print(compare(sys.argv[1], model_name, way), flush=True)
            except Exception as error:  # an exporter that fails, for example
                print(f"{model_name:14} {way:6} {type(error).__name__}: {error}"[:300], flush=True)
