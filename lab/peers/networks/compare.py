"""gpufilter beside onnxruntime and PyTorch, for networks as people have them.

    python3 compare.py GPUFILTER [--size WxH] [--small] [--device cpu|gpu] [--times] [--save FOLDER] [--exporter E] [NAME...]

Needs torch, onnx, onnxruntime, numpy and Pillow. Prints for each architecture and way to export it whether it is read, the
largest difference of a sample from onnxruntime's, the share of samples that differ, and seconds. With --save it writes the
models, NAME-EXPORTER.onnx, and what onnxruntime makes of in.png, NAME.png, instead: those in tests/net/networks are from
--small --size 24x16 --exporter plain,dynamo-free, there called old and dynamo.
"""
import argparse
import itertools
import json
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from PIL import Image

from architectures import ARCHITECTURES, seeded

# The old exporter, with sizes of the example or free ones, and the new one.
EXPORTERS = ("fixed", "free", "plain", "old", "dynamo", "dynamo-free", "dynamo-plain")


def export(model, example, path, exporter):
    names = {"input_names": ["x"], "output_names": ["y"]}
    if exporter.startswith("dynamo"):
        shapes = ({2: torch.export.Dim.DYNAMIC, 3: torch.export.Dim.DYNAMIC},) if exporter == "dynamo-free" else None
        torch.onnx.export(model, (example,), path, dynamo=True, dynamic_shapes=shapes, external_data=False,
                          optimize=exporter != "dynamo-plain", verbose=False, **names)
    else:
        axes = None if exporter == "fixed" else {"x": {2: "h", 3: "w"}, "y": {2: "h2", 3: "w2"}}
        torch.onnx.export(model, example, path, opset_version=11 if exporter == "old" else 17, dynamic_axes=axes,
                          do_constant_folding=exporter != "plain", dynamo=False, **names)


def strip(path):
    """Without what exporters say about themselves."""
    model = onnx.load(path)
    del model.metadata_props[:], model.graph.metadata_props[:], model.graph.value_info[:]
    for part in itertools.chain([model, model.graph], model.graph.node, model.graph.initializer, model.graph.input, model.graph.output):
        part.doc_string = ""
    for node in itertools.chain(model.graph.node, model.graph.initializer, model.graph.input, model.graph.output):
        del node.metadata_props[:]
    onnx.save(model, path)


def picture_of(size):
    """Smooth shapes, edges and noise."""
    width, height = size
    y, x = np.mgrid[:height, :width]
    random = np.random.default_rng(1)
    planes = [np.sin(x / (5 + c)) * np.cos(y / (7 - c)) + ((x // 16 + y // 16) % 2) for c in range(3)]
    return np.clip(np.stack(planes, 2) * 60 + 90 + random.normal(0, 20, (height, width, 3)), 0, 255).astype(np.uint8)


def input_of(architecture, pixels):
    x = pixels.astype(np.float32) / np.float32(255)
    if architecture.channels == 1:
        x = x[:, :, :1]
    x = x.transpose(2, 0, 1)[None]
    margin = architecture.margin
    return np.pad(x, ((0, 0), (0, 0), (margin, margin), (margin, margin)), "reflect")


def pixels_of(result):
    result = np.clip(np.rint(result[0].transpose(1, 2, 0).astype(np.float64) * 255), 0, 255).astype(np.uint8)
    return result[:, :, 0] if result.shape[2] == 1 else result


def seconds_of(call):
    """Of the second call, unless the first is slow."""
    for _ in range(2):
        begin = time.time()
        result = call()
        seconds = time.time() - begin
        if seconds > 1:
            break
    return seconds, result


@torch.no_grad()
def torch_seconds(model, x, device):
    model, x = model.to(device), torch.from_numpy(x).to(device)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    seconds = seconds_of(lambda: (model(x), wait()))[0]
    model.to("cpu")
    return seconds


def filtered(options, folder, model, device):
    """The result, and the seconds of the network alone."""
    words = [options.program, f"{folder}/in.png", f"{folder}/out.png", "--net", model, "--device", device, "--timing", "json",
             "--on-exists", "overwrite"] + (["--require-device"] if device != "cpu" else [])
    run = subprocess.run(words, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip().splitlines()[-1])
    timing = json.loads(run.stdout or run.stderr)
    seconds = sum(each["milliseconds"] for each in timing["activities"] if each["activity"] == "kernel") / 1000
    return np.asarray(Image.open(f"{folder}/out.png")).astype(int), seconds


def row_of(options, name, exporter, folder):
    architecture = ARCHITECTURES[name]
    pixels = picture_of(options.size)
    if architecture.channels == 1:
        pixels[:] = pixels[:, :, :1]
    path = f"{folder}/{name}-{exporter}.onnx"
    if not options.save or architecture.channels == 3:
        Image.fromarray(pixels[:, :, 0] if architecture.channels == 1 else pixels).save(f"{folder}/in.png")
    x = input_of(architecture, pixels)
    # Models for pictures of any size are made from a part of this one.
    side = 64 + 2 * architecture.margin
    example = torch.from_numpy(x if exporter in ("fixed", "dynamo") else np.ascontiguousarray(x[:, :, :side, :side]))
    model = seeded(name, options.small, example)
    export(model, example, path, exporter)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    theirs, result = seconds_of(lambda: session.run(None, {"x": x})[0])
    right = pixels_of(result)
    if options.save:
        strip(path)
        Image.fromarray(right).save(f"{folder}/{name}.png")
        return f"{Path(path).stat().st_size} bytes, mean {right.mean():.0f}, deviation {right.std():.0f}"
    results = [filtered(options, folder, path, device) for device in options.device.split(",")]
    difference = np.abs(results[0][0] - right)
    same = all(np.array_equal(results[0][0], other) for other, _ in results)
    text = f"largest {difference.max()}, {100 * (difference > 0).mean():.3f}% differ, devices {'equal' if same else 'DIFFER'} |"
    text += "".join(f" {device} {seconds:.3f}" for device, (_, seconds) in zip(options.device.split(","), results))
    if options.times:
        where = "cuda" if torch.cuda.is_available() else "cpu"
        text += f" onnxruntime {theirs:.3f}, torch on {where} {torch_seconds(model, x, where):.4f}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--size", type=lambda text: tuple(map(int, text.split("x"))), default=(768, 512))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--save")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--exporter", default=",".join(EXPORTERS))
    options = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore")
    for name in options.names or ARCHITECTURES:
        for exporter in options.exporter.split(","):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    text = row_of(options, name, exporter, options.save or folder)
                except Exception as error:  # an exporter that fails, for example
                    text = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
            print(f"{name:14} {exporter:12} {text}", flush=True)


if __name__ == "__main__":
    main()
