"""Filters on pixels in memory: the bits of OpenCV, of Pillow and of the command line, whatever the memory's layout."""

import array
import ctypes
import pickle

import pytest
from conftest import SAMPLES, random_bytes, run_program

import gpufilter

SIZES = [(1, 1), (1, 7), (9, 1), (3, 5), (16, 17), (61, 90)]


@pytest.fixture(scope="module")
def blur():
    return gpufilter.Filter("--blur auto --alpha independent", device="cpu")


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("channels", [0, 1, 2, 3, 4])
def test_blur_is_that_of_opencv(cv2, numpy, pixels, blur, channels, depth):
    for height, width in SIZES:
        source = pixels(height, width, channels, depth)
        expected = cv2.blur(source, (3, 3), borderType=cv2.BORDER_REPLICATE)
        result = numpy.asarray(blur(source))
        assert result.dtype == source.dtype
        assert numpy.array_equal(result, expected), (height, width)


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_resize_is_that_of_pillow(pillow, numpy, pixels, mode):
    source = pixels(61, 90, 0 if mode == "L" else 3)
    image = pillow.fromarray(source)
    expected = numpy.asarray(image.resize((33, 44), pillow.LANCZOS))
    resize = gpufilter.Filter(gpufilter.resize("33x44", fit="fill"), device="cpu")
    assert numpy.array_equal(numpy.asarray(resize(source)), expected)
    assert numpy.array_equal(numpy.asarray(resize(image)), expected)


CHAINS = [
    "--blur auto --color sepia",
    "--gaussian 1.7 --border mirror --median 2",
    "--levels auto --sharpen 0.8",
    "--resize 40x --rotate 90 --flip",
    "--gray --tonemap reinhard",
    "--depth 16 --linear --blur auto --encoded",
    "--trim --pad 3",
]


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_chains_give_the_files_of_the_command_line(numpy, pixels, tmp_path, channels, depth):
    source = pixels(47, 59, channels, depth)
    gpufilter.write(tmp_path / "in.png", source)
    for chain in CHAINS:
        run_program(
            tmp_path / "in.png", tmp_path / "out.png", *chain.split(), "--on-exists", "overwrite"
        )
        expected = numpy.asarray(gpufilter.read(tmp_path / "out.png"))
        result = numpy.asarray(gpufilter.Filter(chain, device="cpu")(source))
        assert result.dtype == expected.dtype, chain
        assert numpy.array_equal(result, expected), chain


def test_chain_on_opencl_has_the_same_bits(numpy, pixels):
    if all(device.unusable for device in gpufilter.devices()):
        pytest.skip("no OpenCL device")
    source = pixels(61, 90, 3)
    chain = "--blur tiled --color sepia"
    on_device = gpufilter.Filter(chain, device="opencl", require_device=True)(source)
    on_processor = gpufilter.Filter(chain, device="cpu")(source)
    assert numpy.array_equal(on_device, on_processor)


def layouts(numpy, source):
    """Arrays that look alike, in memory of other layouts."""
    height, width = source.shape[:2]
    room = numpy.zeros((height + 2, width + 3, *source.shape[2:]), source.dtype)
    room[1:-1, 2:-1] = source
    yield "part of a larger array", room[1:-1, 2:-1]
    yield "upside down", source[::-1].copy()[::-1]
    yield "mirrored", source[:, ::-1].copy()[:, ::-1]
    yield "every other pixel", numpy.repeat(source, 2, axis=1)[:, ::2]
    yield "every other row", numpy.repeat(source, 2, axis=0)[::2]
    yield "columns first", numpy.asfortranarray(source)
    if source.ndim == 3:
        yield "channels reversed", source[..., ::-1].copy()[..., ::-1]
        yield "channels first", source.transpose(2, 0, 1).copy().transpose(1, 2, 0)
    odd = numpy.zeros(source.nbytes + 1, numpy.uint8)[1:].view(source.dtype).reshape(source.shape)
    odd[...] = source
    yield "odd address", odd
    read_only = source.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    yield "memoryview", memoryview(source)
    yield "a Picture", gpufilter.Picture(source)


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize("channels", [0, 3])
def test_the_layout_of_memory_changes_nothing(numpy, pixels, blur, channels, depth):
    source = pixels(17, 23, channels, depth)
    expected = numpy.asarray(blur(source))
    for name, other in layouts(numpy, source):
        assert numpy.array_equal(numpy.asarray(other), source), name
        assert numpy.array_equal(blur(other), expected), name


def test_array_interface(numpy, pixels, blur):
    class Interface:
        def __init__(self, array, **changes):
            self.array = array
            self.__array_interface__ = {**array.__array_interface__, **changes}

    source = pixels(17, 23, 3)
    expected = numpy.asarray(blur(source))
    data = source.tobytes()
    for interface in [
        Interface(source),
        Interface(source[::-1].copy()[::-1]),
        Interface(source, data=data),
        Interface(source, data=b"12345" + data, offset=5),
    ]:
        assert numpy.array_equal(blur(interface), expected)
    for changes in [
        {"strides": (3, 1)},
        {"shape": "ab"},
        {"shape": (2**63, 1)},
        {"typestr": "|ux"},
        {"typestr": None},
        {"data": ("x", False)},
        {"data": data, "offset": "a"},
    ]:
        with pytest.raises(TypeError, match="^__array_interface__ (has|holds)"):
            blur(Interface(source, **changes))
    for changes in [
        {"data": data[:-1]},
        {"data": data, "offset": 1},
        {"data": data, "offset": -1},
        {"data": data, "shape": (18, 23, 3)},
        {"data": data, "strides": (-69, 3, 1)},
        {"data": data, "shape": (2**31 - 1, 2**31 - 1, 3)},
    ]:
        with pytest.raises(ValueError, match="describes more than its data of 117[23] bytes"):
            blur(Interface(source, **changes))


def test_numpy_is_not_needed():
    samples = random_bytes(5 * 4 * 3, 1)
    pixels = memoryview(samples).cast("B", (5, 4, 3))
    copied = gpufilter.Filter("", device="cpu")(pixels)
    assert copied.tobytes() == samples
    assert memoryview(copied).tolist() == pixels.tolist()
    deep = array.array("H", range(20))
    pixels = memoryview(deep).cast("B").cast("H", (5, 4))
    assert memoryview(gpufilter.Filter()(pixels)).tolist() == pixels.tolist()
    rows = ((ctypes.c_uint8 * 3) * 4 * 5)()
    assert gpufilter.Filter()(rows).shape == (5, 4, 3)


def test_numpy_shares_the_memory_of_a_picture(numpy, pixels):
    picture = gpufilter.Picture(pixels(6, 5, 3))
    view = numpy.asarray(picture)
    assert view.flags.writeable
    view[2, 3] = 1, 2, 3
    assert numpy.asarray(picture)[2, 3].tolist() == [1, 2, 3]
    address = picture.__array_interface__["data"][0]
    assert view.__array_interface__["data"][0] == address
    del picture
    assert view[2, 3].tolist() == [1, 2, 3]


@pytest.mark.parametrize("mode, channels", [("L", 0), ("LA", 2), ("RGB", 3), ("RGBA", 4)])
def test_pillow_takes_pictures_and_gives_images(pillow, numpy, pixels, mode, channels):
    source = pixels(6, 5, channels)
    picture = gpufilter.Picture(source)
    assert picture.__array_interface__["strides"] is None  # Pillow copies everything else
    image = pillow.fromarray(picture)
    assert (image.mode, image.size) == (mode, (5, 6))
    assert numpy.array_equal(numpy.asarray(image), source)
    assert numpy.array_equal(gpufilter.Filter()(image), source)


def test_pillow_shares_the_memory_of_a_picture(pillow, numpy, pixels):
    picture = gpufilter.Picture(pixels(6, 5, 4))
    image = pillow.fromarray(picture)
    numpy.asarray(picture)[2, 3] = 1, 2, 3, 4
    assert image.getpixel((3, 2)) == (1, 2, 3, 4)


def test_pictures_describe_themselves(pixels):
    grey = gpufilter.Picture(pixels(6, 5, 1, 16))
    assert (grey.width, grey.height, grey.channels, grey.depth, grey.shape) == (5, 6, 1, 16, (6, 5))
    assert repr(grey) == "<gpufilter.Picture 5x6, grey, 16-bit>"
    assert (grey.file_format, grey.orientation) == ("", 1)
    assert gpufilter.Picture(pixels(6, 5, 4)).shape == (6, 5, 4)
    assert grey._repr_png_() == gpufilter.encode("png", grey)


# ---------------------------------------------------------------- results in given memory


@pytest.mark.parametrize("depth", [8, 16])
def test_out_is_filled_and_its_surroundings_stay(numpy, pixels, blur, depth):
    source = pixels(17, 23, 3, depth)
    expected = numpy.asarray(blur(source))
    room = numpy.full((19, 26, 3), 77, source.dtype)
    out = room[1:-1, 2:-1]
    assert blur(source, out=out) is out
    assert numpy.array_equal(out, expected)
    out[...] = 77
    assert (room == 77).all()


def test_the_shape_of_a_result_is_known_before(pixels):
    for chain in ("--resize 50%", "--color sepia", "--rotate 90 --depth 16", "--gray"):
        filter = gpufilter.Filter(chain, device="cpu")
        for shape in ((20, 31), (20, 31, 1), (20, 31, 2), (20, 31, 3), (20, 31, 4)):
            result = filter(pixels(20, 31, 0 if len(shape) == 2 else shape[2]))
            assert filter.result_shape(shape) == (result.shape, result.depth)
    assert gpufilter.Filter().result_shape((4, 5), 16) == ((4, 5), 16)
    with pytest.raises(gpufilter.UsageError, match="depends on the pixels"):
        gpufilter.Filter("--trim").result_shape((4, 5))
    with pytest.raises(gpufilter.UsageError):
        gpufilter.Filter().result_shape((4, 5, 9))


def test_out_may_be_the_source(numpy, pixels, blur):
    source = pixels(64, 65, 3)
    expected = numpy.asarray(blur(source))
    in_place = source.copy()
    blur(in_place, out=in_place)
    assert numpy.array_equal(in_place, expected)
    shifted = numpy.concatenate([source, source[:5]])
    blur(shifted[:64], out=shifted[5:])
    assert numpy.array_equal(shifted[5:], expected)


def test_out_may_be_a_picture(numpy, pixels, blur):
    source = pixels(17, 23, 3)
    out = gpufilter.Picture(numpy.zeros_like(source))
    blur(source, out=out)
    assert numpy.array_equal(out, blur(source))


@pytest.mark.parametrize("chain", ["--to-srgb", "--auto-orient --blur auto", "--resize x10"])
def test_out_gets_what_a_new_picture_would(numpy, pixels, chain):
    icc = (SAMPLES / "profiles" / "display-p3.icc").read_bytes()
    picture = gpufilter.Picture(pixels(20, 30, 3), icc=icc, orientation=6)
    filter = gpufilter.Filter(chain, device="cpu")
    expected = filter(picture)
    assert not numpy.array_equal(expected, filter(numpy.asarray(picture)))  # metadata matters
    assert filter.result_shape(picture) == (expected.shape, 8)
    array = numpy.zeros(expected.shape, "uint8")
    assert numpy.array_equal(filter(picture, out=array), expected)
    out = gpufilter.Picture(array, exif=b"II*\0", density=72)
    assert numpy.array_equal(filter(picture, out=out), expected)
    for name in ("icc", "exif", "xmp", "density", "orientation"):
        assert getattr(out, name) == getattr(expected, name), name
    if expected.shape == picture.shape:
        assert numpy.array_equal(filter(picture, out=picture), expected)


def random_picture():
    return memoryview(random_bytes(60, 2)).cast("B", (4, 5, 3))


# ---------------------------------------------------------------- mistakes


def refused(text, function, *arguments, error=gpufilter.UsageError, **options):
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert text in str(caught.value), caught.value


TYPES = "float64 float16 int8 int16 int32 int64 uint32 uint64 bool".split()


@pytest.mark.parametrize("dtype", TYPES)
def test_other_types_of_samples_are_refused(numpy, blur, dtype):
    source = numpy.zeros((4, 5, 3), dtype)
    refused(f"the samples are {dtype}; convert them to uint8, uint16 or float32", blur, source)
    refused(f"the samples are {dtype};", blur, numpy.zeros((4, 5, 3), "uint8"), out=source)


@pytest.mark.parametrize("channels", [0, 2, 3, 4])
def test_floats_are_kept_and_computed_without_limits(numpy, tmp_path, channels):
    shape = (7, 9, channels) if channels else (7, 9)
    source = numpy.linspace(-2, 3, numpy.prod(shape), dtype="float32").reshape(shape)
    result = numpy.asarray(gpufilter.Filter("--flop")(source))
    assert result.dtype == numpy.float32
    assert numpy.array_equal(result, source[:, ::-1])
    strided = numpy.asarray(gpufilter.Filter("--pixel \"r = 2 * r\"")(source[::-1, ::-1]))
    colors = {0: numpy.s_[...], 2: numpy.s_[..., 0], 3: numpy.s_[..., 0], 4: numpy.s_[..., 0]}[channels]
    target = numpy.s_[..., 0]
    assert numpy.array_equal(strided[target], 2 * source[::-1, ::-1][colors])
    out = numpy.zeros_like(source)
    gpufilter.Filter("--flop")(source, out=out)
    assert numpy.array_equal(out, result)
    picture = gpufilter.Picture(source)
    assert picture.depth == 32
    assert numpy.array_equal(numpy.asarray(pickle.loads(pickle.dumps(picture))), source)
    bytes_of = gpufilter.Filter("--depth 8")(source)
    expected = numpy.rint(numpy.clip(source * numpy.float32(255), 0, 255)).astype("uint8")
    assert numpy.array_equal(numpy.asarray(bytes_of), expected)
    with pytest.raises(gpufilter.PictureError, match="median has no rule for floating-point samples"):
        gpufilter.Filter("--median 1")(source)


def test_a_foreign_byte_order_is_refused(numpy, blur):
    refused("the samples are foreign byte order, uint16;", blur, numpy.zeros((4, 5), ">u2"))


@pytest.mark.parametrize("shape", [(), (5,), (3, 5, 5), (5, 5, 0), (2, 3, 4, 5), (0, 5), (5, 0, 3)])
def test_other_shapes_are_refused(numpy, blur, shape):
    refused(f"the shape is {shape}", blur, numpy.zeros(shape, "uint8"))


def test_other_objects_are_refused(blur):
    refused("int has neither a buffer nor __array_interface__", blur, 7, error=TypeError)
    refused("str has neither a buffer", blur, "in.png", error=TypeError)
    refused("NoneType has neither a buffer", blur, None, error=TypeError)


@pytest.mark.parametrize("mode", ["P", "CMYK", "YCbCr", "HSV", "PA"])
def test_images_in_other_colours_are_refused(pillow, blur, mode):
    image = pillow.new(mode, (4, 4))
    refused(f"a Pillow image of mode {mode}: convert it", blur, image, error=TypeError)


def test_unsuitable_targets_are_refused(numpy, pixels, blur):
    source = pixels(8, 9, 3)
    read_only = source.copy()
    read_only.flags.writeable = False
    refused("out: the memory is read-only", blur, source, out=read_only)
    refused("out: the memory is read-only", blur, source, out=bytes(5))
    wide = numpy.zeros((8, 18, 3), "uint8")
    refused("out: the strides are (54, 6, 1)", blur, source, out=wide[:, ::2])
    refused("out: the strides are (-27, 3, 1)", blur, source, out=source.copy()[::-1])
    for shape in [(8, 8, 3), (9, 9, 3), (8, 9), (8, 9, 4)]:
        out = numpy.full(shape, 7, "uint8")
        with pytest.raises(gpufilter.UsageError):
            blur(source, out=out)
        assert (out == 7).all()
    with pytest.raises(gpufilter.UsageError):
        blur(source, out=numpy.zeros((8, 9, 3), "uint16"))


def test_unknown_stages_and_devices_are_refused():
    refused("blurr", gpufilter.Filter, "--blurr auto")
    refused("tile 12: choose", gpufilter.Filter, gpufilter.blur("tiled", tile=12))
    refused("gaussian 1000: a", gpufilter.Filter, gpufilter.gaussian(1000), error=ValueError)
    for stages in (["--blur", gpufilter.blur()], 5, [5]):
        refused("stages are a string", gpufilter.Filter, stages, error=TypeError)
    refused("", gpufilter.Filter, "--lut nowhere.cube", error=gpufilter.Error)


@pytest.mark.parametrize(
    "options, text, error",
    [
        ({"threads": "a"}, "threads is a whole number", TypeError),
        ({"threads": 1.5}, "threads is a whole number", TypeError),
        ({"threads": -1}, "threads=-1: choose a number", ValueError),
        ({"threads": 2**40}, "threads=1099511627776", ValueError),
        ({"max_pixels": -1}, "max_pixels=-1", ValueError),
        ({"max_memory": "1G"}, "max_memory is a whole number", TypeError),
        ({"device": None}, "device is a whole number", TypeError),
        ({"device": "cpu\0"}, "cpu\\x00: the character NUL", ValueError),
        (
            {"device": "cpu", "require_device": True},
            "require_device contradicts device",
            ValueError,
        ),
        ({"orientation": 5}, "orientation is a str, not int", TypeError),
    ],
)
def test_settings_are_refused_by_a_sentence(options, text, error):
    refused(text, lambda: gpufilter.Filter("", **options)(random_picture()), error=error)


class Endless:
    """One pixel, again and again."""

    sample = array.array("B", [7, 7, 7, 7])
    __array_interface__ = {
        "version": 3,
        "typestr": "|u1",
        "shape": (2**31 - 1, 2**31 - 1, 4),
        "strides": (0, 0, 1),
        "data": (sample.buffer_info()[0], False),
    }


def test_calls_are_refused_by_a_sentence():
    nothing = gpufilter.Filter("", device="cpu")
    picture = gpufilter.Picture(random_picture())
    for text, function, arguments in [
        ("a side is a whole number", nothing.result_shape, [(3, "a")]),
        ("the shape is (3,); choose", nothing.result_shape, [(3,)]),
        ("no memory is that large", nothing.result_shape, [(2**31 - 1, 2**31 - 1, 4), 16]),
        ("no memory is as large", nothing, [Endless()]),
        ("format is a str, not int", gpufilter.encode, [5, picture]),
        ("a bytes-like object is required", gpufilter.decode, ["x"]),
        ("a path is a str, bytes or PathLike, not int; decode()", gpufilter.read, [5]),
        ("no path; decode() takes", gpufilter.read, [gpufilter.encode("png", picture)]),
        ("Picture() takes its pixels", gpufilter.Picture, []),
        ("a list is neither a word nor a number", gpufilter.Stage, ["median", [3]]),
        ("max_pixels", gpufilter.Filter("", max_pixels=5), [picture]),
    ]:
        with pytest.raises((TypeError, ValueError, OSError)) as caught:
            function(*arguments)
        assert text in str(caught.value) and "--" not in str(caught.value), caught.value
    for call in (
        lambda: gpufilter.compare(picture, picture, tolerance="a"),
        lambda: nothing.run("in.png", "out.png", progress=5),
        lambda: nothing.run_folder("in", "out", jobs="a"),
        lambda: nothing.run_folder("in", "out", match=[5]),
        lambda: nothing.run_folder("in", "out", finished=5),
    ):
        refused(" is a ", call, error=TypeError)


def test_limits_hold(numpy, pixels):
    small = gpufilter.Filter("--resize 200%", device="cpu", max_pixels=100)
    assert small(pixels(5, 5)).shape == (10, 10)
    for side in (6, 11):
        with pytest.raises(gpufilter.PictureError):
            small(pixels(side, side))


def test_exceptions_are_those_of_python_too():
    assert issubclass(gpufilter.UsageError, (gpufilter.Error, ValueError))
    assert issubclass(gpufilter.UsageError, ValueError)
    assert issubclass(gpufilter.PictureError, gpufilter.Error)
    assert issubclass(gpufilter.PictureError, OSError)
    assert issubclass(gpufilter.DeviceError, gpufilter.Error)
    assert issubclass(gpufilter.DeviceError, RuntimeError)
    nowhere = gpufilter.Filter("", device="nonesuch", require_device=True)
    refused("nonesuch", nowhere, gpufilter.Picture(random_picture()), error=gpufilter.DeviceError)
