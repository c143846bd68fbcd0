"""Stages with data in memory: tables, networks, pictures, profiles."""

import io
import pickle
import threading

import pytest
from conftest import SAMPLES, run_program

import gpufilter
from gpufilter import Filter, Stage, UsageError

NETWORK = SAMPLES / "networks" / "denoise.onnx"
LUT = next((SAMPLES / "luts").glob("*.cube"))
PROFILE = next((SAMPLES / "profiles").glob("*.icc"))


def filtered(stage, source):
    return Filter([stage], device="cpu")(source).tobytes()


@pytest.mark.parametrize(
    "stage, file",
    [
        (gpufilter.net, NETWORK),
        (gpufilter.lut, LUT),
        (gpufilter.profile, PROFILE),
        (gpufilter.mlp, next((SAMPLES / "networks").glob("*.json"))),
        (gpufilter.overlay, SAMPLES / "badge-alpha.png"),
    ],
)
def test_the_contents_of_a_file_are_as_good_as_its_name(pixels, stage, file):
    source = pixels(60, 70, 3)
    content = file.read_bytes()
    expected = filtered(stage(file), source)
    for form in (content, bytearray(content), memoryview(content), io.BytesIO(content)):
        assert filtered(stage(form), source) == expected
    with open(file, "rb") as opened:
        assert filtered(stage(opened), source) == expected


def test_a_stage_with_a_file_in_memory_is_compared_and_pickled(pixels):
    stage = gpufilter.net(NETWORK.read_bytes(), strength=0.5)
    assert stage == gpufilter.net(NETWORK.read_bytes(), strength=0.5)
    assert stage != gpufilter.net(NETWORK.read_bytes() + b"\0", strength=0.5)
    assert stage != gpufilter.net(NETWORK, strength=0.5)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(stage, protocol))
        assert twin == stage and hash(twin) == hash(stage)
    filter = pickle.loads(pickle.dumps(Filter([stage], device="cpu")))
    assert filter(pixels(20, 30, 3)).tobytes() == filtered(stage, pixels(20, 30, 3))
    assert repr(stage) == f"gpufilter.net(<{NETWORK.stat().st_size} bytes>, strength='0.5')"
    with pytest.raises(UsageError, match="net: words cannot hold a file in memory"):
        stage.words()


@pytest.mark.parametrize("channels, depth", [(0, 8), (1, 16), (2, 8), (3, 16), (4, 8)])
def test_arrays_and_pictures_are_overlays(pixels, tmp_path, channels, depth):
    below, above = pixels(50, 60, 3, depth), pixels(21, 33, channels, depth, seed=2)
    gpufilter.write(tmp_path / "above.png", above)
    expected = filtered(gpufilter.overlay(tmp_path / "above.png", at="center", opacity=0.7), below)
    for form in (above, gpufilter.Picture(above), above[:, ::1], memoryview(above)):
        assert filtered(gpufilter.overlay(form, at="center", opacity=0.7), below) == expected
    mirrored = gpufilter.overlay(above[:, ::-1])
    assert filtered(mirrored, below) == filtered(gpufilter.overlay(above[:, ::-1].copy()), below)


def test_an_overlay_with_an_orientation_is_turned(pixels):
    below, above = pixels(50, 60, 3), pixels(20, 30, 3, seed=2)
    turned = gpufilter.Picture(above, orientation=6)
    upright = above[::-1].swapaxes(0, 1).copy()
    assert filtered(gpufilter.overlay(turned), below) == filtered(gpufilter.overlay(upright), below)


def test_tables_of_colours(numpy, pixels, tmp_path):
    source = pixels(40, 50, 3)
    axis = numpy.linspace(0, 1, 6)
    red, green, blue = numpy.meshgrid(axis, axis, axis, indexing="ij")
    table = numpy.stack([red / 2, green**2, (blue + red) / 2], axis=-1)
    lines = [
        f"{r!r} {g!r} {b!r}" for r, g, b in table.transpose(2, 1, 0, 3).reshape(-1, 3).tolist()
    ]
    (tmp_path / "table.cube").write_text("LUT_3D_SIZE 6\n" + "\n".join(lines))
    expected = filtered(gpufilter.lut(tmp_path / "table.cube", lut_strength=0.8), source)
    for form in (table, table.tolist(), numpy.asfortranarray(table)):
        assert filtered(gpufilter.lut(form, lut_strength=0.8), source) == expected
    single = table.astype(numpy.float32)
    assert filtered(gpufilter.lut(single), source) == filtered(gpufilter.lut(single + 0.0), source)


def test_curves(numpy, pixels):
    source = pixels(40, 50, 3)
    for depth, kind in ((8, numpy.uint8), (16, numpy.uint16)):
        deep = pixels(40, 50, 3, depth)
        curve = numpy.random.default_rng(3).integers(0, 1 << depth, 1 << depth, dtype=kind)
        assert filtered(gpufilter.lut(curve), deep) == curve[deep].tobytes()
        curves = numpy.stack([curve, curve[::-1], curve], axis=-1)
        expected = numpy.stack([curves[deep[..., c], c] for c in range(3)], axis=-1)
        assert filtered(gpufilter.lut(curves), deep) == expected.tobytes()
    assert filtered(gpufilter.lut([1.0, 0.0]), source) == (255 - source).tobytes()


def test_a_hald_picture_is_a_table(pixels, tmp_path):
    source, hald = pixels(30, 40, 3), pixels(64, 64, 3, seed=4)
    gpufilter.write(tmp_path / "hald.png", hald)
    expected = filtered(gpufilter.lut(tmp_path / "hald.png"), source)
    assert filtered(gpufilter.lut(gpufilter.Picture(hald)), source) == expected


def test_layers_of_a_network(numpy, pixels):
    source = pixels(30, 40, 3)
    reverse = numpy.eye(3)[::-1]
    assert filtered(gpufilter.mlp([(reverse, [0, 0, 0])]), source) == source[..., ::-1].tobytes()
    layers = [([[1, 0, 0]] * 8, numpy.zeros(8), "relu"), (numpy.eye(3, 8), [0.0] * 3, "clamp")]
    grey = numpy.repeat(source[..., :1], 3, axis=-1)
    assert filtered(gpufilter.mlp(layers), source) == grey.tobytes()


@pytest.mark.parametrize(
    "make, reason",
    [
        (lambda: gpufilter.net(b"xx"), "net in memory: is not an ONNX network"),
        (lambda: gpufilter.lut(b"rubbish"), "lut in memory:1: unknown keyword"),
        (lambda: gpufilter.overlay(b"zz"), "overlay in memory: not a PNG"),
        (lambda: gpufilter.profile(bytes(200)), "profile in memory: not an ICC profile"),
        (lambda: gpufilter.lut([[0.0, 0.0]]), r"a table of shape \(1, 2\)"),
        (lambda: gpufilter.lut([[0.0] * 3]), "curves of 3 numbers"),
        (lambda: gpufilter.lut([float("nan")] * 2), "not finite"),
        (lambda: gpufilter.lut([[0.0] * 3, [0.0]]), "curves of 4 numbers"),
        (lambda: gpufilter.lut([[[[0.0] * 3] * 2] * 2, [[[0.0] * 3]]]), "different lengths"),
        (lambda: gpufilter.mlp([([[float("inf")] * 3] * 3, [0] * 3)]), "not finite"),
        (lambda: gpufilter.mlp([([[1, 0], [0, 1]], [0, 0])]), "layer 1 takes 2 inputs"),
        (lambda: Stage("gaussian", b"3"), "gaussian: takes no file in memory"),
    ],
)
def test_wrong_data_are_refused(make, reason):
    with pytest.raises(UsageError, match=reason):
        Filter([make()])


@pytest.mark.parametrize("value", [5, [([1], [1], "relu", 1)]])
def test_other_types_are_refused(value):
    with pytest.raises(TypeError):
        gpufilter.mlp(value)
    with pytest.raises((TypeError, UsageError)):
        gpufilter.overlay(value)


@pytest.mark.parametrize(
    "size, region, words",
    [
        ((240, None), None, ["--resize", "240x"]),
        ("30%", None, ["--resize", "30%"]),
        (None, (101, 53, 30, 41), ["--crop", "101x53+30+41"]),
        ((64, 48), (500, 400, 7, 9), ["--crop", "500x400+7+9", "--resize", "64x48"]),
        ((None, 900), None, ["--resize", "x900"]),
    ],
)
def test_a_part_is_what_crop_and_resize_make(tmp_path, size, region, words):
    source = SAMPLES / "landscape.jpg"
    fast = ["--fast-shrink"] if size else []
    run_program(source, tmp_path / "out.png", *words, *fast)
    expected = gpufilter.read(tmp_path / "out.png")
    whole = gpufilter.read(source)
    for part in (
        gpufilter.read(source, size=size, region=region),
        gpufilter.decode(source.read_bytes(), size=size, region=region),
        gpufilter.read(io.BytesIO(source.read_bytes()), size=size, region=region),
    ):
        assert part.tobytes() == expected.tobytes()
        assert part.file_format == "JPEG" and part.icc == whole.icc


def test_a_part_has_the_metadata_and_the_stored_orientation(pixels, tmp_path):
    picture = gpufilter.Picture(pixels(40, 60, 4, 16), orientation=6, density=300)
    for name in ("in.png", "in.tiff"):
        gpufilter.write(tmp_path / name, picture)
        part = gpufilter.read(tmp_path / name, region=(20, 10, 5, 3))
        assert part.tobytes() == pixels(40, 60, 4, 16)[3:13, 5:25].tobytes()
        assert part.orientation == 6 and part.density == (300, 300)
    with pytest.raises(gpufilter.PictureError, match="crop 70x10"):
        gpufilter.read(tmp_path / "in.png", region=(70, 10, 5, 3))
    with pytest.raises(UsageError, match="resize"):
        gpufilter.read(tmp_path / "in.png", size="much")
    with pytest.raises(FileNotFoundError):
        gpufilter.read(tmp_path / "none.png", size=(5, 5))


def test_threads_may_share_stages_with_data(pixels):
    source = pixels(50, 60, 3)
    shared = Filter([gpufilter.overlay(pixels(20, 30, 4)), gpufilter.net(NETWORK.read_bytes())])
    expected = shared(source).tobytes()
    results = []
    workers = [
        threading.Thread(target=lambda: results.append(shared(source).tobytes())) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected] * 4
