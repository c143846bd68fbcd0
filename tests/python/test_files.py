"""Files and folders: those of the command line, and pictures that go from file to file through memory."""

import errno
import io
import os
import pickle

import pytest
from conftest import SAMPLES, run_program

import gpufilter

CHAIN = "--blur auto --border mirror --color sepia"


@pytest.fixture(scope="module")
def sepia():
    return gpufilter.Filter(CHAIN, device="cpu")


@pytest.mark.parametrize(
    "name", ["landscape.jpg", "badge-alpha.png", "gradient-16bit.png", "grey.png"]
)
def test_run_writes_the_file_of_the_command_line(sepia, tmp_path, name):
    source = SAMPLES / name
    result = sepia.run(source, str(tmp_path / "a.png"), png_level=1)
    run_program(source, tmp_path / "b.png", *CHAIN.split(), "--png-level", "1")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert result.output_bytes == (tmp_path / "a.png").stat().st_size
    picture = gpufilter.read(tmp_path / "a.png")
    assert (result.width, result.height) == (picture.width, picture.height)
    assert (result.channels, result.depth) == (picture.channels, picture.depth)
    assert (result.device, result.seconds > 0) == ("processor", True)


def test_run_takes_the_options_of_the_format(sepia, tmp_path):
    source = SAMPLES / "landscape.jpg"
    sepia.run(source, tmp_path / "a.jpg", quality=40, subsampling=444, strip=True)
    words = CHAIN + " --quality 40 --subsampling 444 --strip"
    run_program(source, tmp_path / "b.jpg", *words.split())
    assert (tmp_path / "a.jpg").read_bytes() == (tmp_path / "b.jpg").read_bytes()
    with pytest.raises(gpufilter.UsageError, match="qualty"):
        sepia.run(source, tmp_path / "c.jpg", qualty=40)
    with pytest.raises(gpufilter.UsageError, match="^quality: '500' is not"):
        sepia.run(source, tmp_path / "c.jpg", quality=500)
    assert not (tmp_path / "c.jpg").exists()


def test_reading_filtering_and_writing_is_as_run(sepia, tmp_path):
    source = SAMPLES / "landscape.jpg"
    picture = gpufilter.read(source)
    assert (picture.file_format, picture.shape, picture.depth) == ("JPEG", (1280, 1920, 3), 8)
    size = gpufilter.write(tmp_path / "a.png", sepia(picture), png_level=1)
    sepia.run(source, tmp_path / "b.png", png_level=1)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert size == (tmp_path / "b.png").stat().st_size
    encoded = gpufilter.encode("png", sepia(picture), png_level=1)
    assert encoded == (tmp_path / "b.png").read_bytes()
    assert gpufilter.compare(gpufilter.decode(encoded), tmp_path / "b.png").equal
    assert gpufilter.compare(gpufilter.decode(memoryview(encoded)), tmp_path / "b.png").equal


def test_decoding_takes_the_bytes_that_a_buffer_has(numpy):
    picture = gpufilter.Picture(numpy.arange(60, dtype=numpy.uint8).reshape(4, 5, 3))
    encoded = gpufilter.encode("ppm", picture)
    assert len(encoded) % 2 == 1
    with_gaps = bytearray(2 * len(encoded))
    with_gaps[::2] = encoded
    words = numpy.frombuffer(encoded + b"\0", numpy.uint16)
    buffers = [
        memoryview(with_gaps)[::2],
        memoryview(encoded[::-1])[::-1],
        numpy.frombuffer(with_gaps, numpy.uint8)[::2],
        words,
        numpy.repeat(words, 3)[::3],
        numpy.asfortranarray(words.reshape(1, -1)),
        numpy.asfortranarray(numpy.frombuffer(encoded + b"\0", numpy.uint8).reshape(2, -1)),
    ]
    for buffer in buffers:
        assert gpufilter.decode(buffer).tobytes() == picture.tobytes()
    # A view of every second byte of a picture is no picture, and nothing beyond it is read.
    for step in [2, 16, -1]:
        with pytest.raises(gpufilter.PictureError):
            gpufilter.decode(memoryview(encoded)[::step])


@pytest.mark.parametrize(
    "format, options, words",
    [
        ("webp", {"lossless": True}, {"lossless": "always"}),
        ("webp", {"lossless": False, "quality": None}, {}),
        ("webp", {"quality": 90.0}, {"quality": "90"}),
        ("jpg", {"strip": True, "keep": None}, {"strip": "on"}),
        ("jpg", {"keep": ["icc", "exif"]}, {"keep": "icc,exif"}),
        ("jpg", {"background": (255, 0, 0)}, {"background": "red"}),
        ("jpg", {"restart": False}, {"restart": "off"}),
    ],
)
def test_options_have_types_of_python(format, options, words):
    picture = gpufilter.read(SAMPLES / "badge-alpha.png")
    assert gpufilter.encode(format, picture, **options) == gpufilter.encode(
        format, picture, **words
    )


class Parts(io.RawIOBase):
    """A file that takes and gives a few bytes at a time, as a socket may."""

    def __init__(self, content=b""):
        self.content = bytearray(content)

    def write(self, content):
        self.content += content[:1000]
        return min(len(content), 1000)

    def readinto(self, buffer):
        part = self.content[: min(len(buffer), 1000)]
        buffer[: len(part)] = part
        del self.content[: len(part)]
        return len(part)

    def readable(self):
        return True


def test_open_files_are_as_paths(sepia, tmp_path):
    source, target = SAMPLES / "landscape.jpg", tmp_path / "a.png"
    expected = sepia.run(source, target, png_level=1)
    picture = gpufilter.read(source)
    for file in (open(source, "rb"), io.BytesIO(source.read_bytes()), Parts(source.read_bytes())):
        with file:
            assert gpufilter.read(file).tobytes() == picture.tobytes()
    with open(source, "rb") as file, open(tmp_path / "b.png", "wb") as out:
        result = sepia.run(file, out, png_level=1)
    assert (tmp_path / "b.png").read_bytes() == target.read_bytes()
    assert (result.width, result.output_bytes) == (expected.width, expected.output_bytes)
    for out in (io.BytesIO(), Parts()):
        assert (
            sepia.run(source, out, format="png", png_level=1).output_bytes == expected.output_bytes
        )
        content = out.getvalue() if isinstance(out, io.BytesIO) else out.content
        assert content == target.read_bytes()
        written = gpufilter.write(out, picture, format="png")
        assert written == len(gpufilter.encode("png", picture))
    sepia.run(io.BytesIO(source.read_bytes()), tmp_path / "c.png", png_level=1)
    assert (tmp_path / "c.png").read_bytes() == target.read_bytes()
    for text, call in [
        ("give its format", lambda: gpufilter.write(io.BytesIO(), picture)),
        ("format is for open files", lambda: gpufilter.write(target, picture, format="png")),
        ("format is for open files", lambda: sepia.run(source, target, format="png")),
        ("name of an output must end", lambda: sepia.run(source, io.BytesIO(), format="gif")),
        ("open it in mode 'rb'", lambda: gpufilter.read(io.StringIO("text"))),
    ]:
        with pytest.raises((ValueError, TypeError), match=text):
            call()
    with pytest.raises(gpufilter.PictureError, match="^picture in memory: ") as caught:
        sepia.run(io.BytesIO(b"no picture"), tmp_path / "d.png")
    assert caught.value.errno is None and not (tmp_path / "d.png").exists()


def test_headers_say_what_pictures_are(pillow, tmp_path):
    pillow.new("RGB", (30, 20)).save(
        tmp_path / "up.jpg", exif=b"Exif\0\0II*\0\10\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    )
    paths = [tmp_path / "up.jpg", *sorted(SAMPLES.glob("*.*g"))]
    assert len(paths) > 4
    for path in paths:
        picture = gpufilter.read(path)
        for source in (path, io.BytesIO(path.read_bytes())):
            header = gpufilter.open_header(source)
            assert (header.width, header.height) == (picture.width, picture.height)
            for name in ("shape", "depth", "file_format", "orientation"):
                assert getattr(header, name) == getattr(picture, name), (path, name)
    assert gpufilter.open_header(paths[0]).orientation == 6
    # The pixels may be missing.
    content = (SAMPLES / "landscape.jpg").read_bytes()[:3000]
    assert gpufilter.open_header(io.BytesIO(content)).shape == (1280, 1920, 3)
    with pytest.raises(gpufilter.PictureError, match="max_pixels"):
        gpufilter.open_header(paths[0], max_pixels=5)


def test_errors_of_the_system_are_those_of_python(sepia, tmp_path):
    picture, folder = bytes_picture(), tmp_path / "a: b"
    folder.mkdir()
    (tmp_path / "file").write_text("no picture")
    for kind, path, call in [
        (FileNotFoundError, folder / "none.png", gpufilter.read),
        (FileNotFoundError, folder / "none.png", gpufilter.stats),
        (FileNotFoundError, tmp_path / "no" / "a.png", lambda path: gpufilter.write(path, picture)),
        (FileNotFoundError, tmp_path / "typo", lambda path: sepia.run_folder(path, folder)),
        (IsADirectoryError, folder, gpufilter.open_header),
        (NotADirectoryError, tmp_path / "file" / "a.png", gpufilter.read),
    ]:
        with pytest.raises(kind) as caught:
            call(path)
        for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
            assert isinstance(error, gpufilter.PictureError) and isinstance(error, kind)
            assert (error.errno, error.filename) == (kind().errno or error.errno, str(path))
            assert errno.errorcode[error.errno] in ("ENOENT", "EISDIR", "ENOTDIR")
            assert str(error) == f"{path}: {error.strerror}"
    with pytest.raises(gpufilter.PictureError) as caught:
        gpufilter.read(tmp_path / "file")
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert type(error) is gpufilter.PictureError and error.errno is None
        assert str(error).startswith(f"{tmp_path}/file: not a ")


def test_metadata_goes_with_a_picture_through_a_filter(pillow, tmp_path):
    exif = pillow.Exif()
    exif[0x0112] = 6  # the top of the scene is on the right
    exif[0x010E] = "a description"
    pillow.new("RGB", (30, 20), "red").save(tmp_path / "in.jpg", exif=exif)
    picture = gpufilter.read(tmp_path / "in.jpg")
    assert picture.orientation == 6
    upright = gpufilter.Filter(gpufilter.auto_orient())(picture)
    assert (upright.orientation, upright.shape) == (1, (30, 20, 3))
    assert gpufilter.Filter("--resize 10x")(picture).shape == (15, 10, 3)
    kept = gpufilter.Filter("--resize 10x", orientation="keep")(picture)
    assert (kept.orientation, kept.shape) == (6, (7, 10, 3))
    with pytest.raises(gpufilter.UsageError, match="orientation: "):
        gpufilter.Filter("", orientation="up")
    gpufilter.write(tmp_path / "out.jpg", upright.copy())
    with pillow.open(tmp_path / "out.jpg") as written:
        assert written.getexif()[0x010E] == "a description"
        assert written.getexif().get(0x0112, 1) == 1


def test_progress_grows_to_one(sepia, tmp_path):
    parts = []
    sepia.run(SAMPLES / "landscape.jpg", tmp_path / "out.png", progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1


def test_an_exception_of_progress_ends_the_run(tmp_path):
    def fail(done):
        raise KeyError("enough")

    # Slow enough to be ended after its first rows.
    slow = gpufilter.Filter("--resize 4000x --median 31", device="cpu")
    with pytest.raises(KeyError, match="enough"):
        slow.run(SAMPLES / "landscape.jpg", tmp_path / "out.png", progress=fail)
    assert list(tmp_path.iterdir()) == []


def fill(folder):
    (folder / "sub").mkdir(parents=True)
    for number, name in enumerate(["b.png", "a.jpg", "sub/c.png"]):
        picture = gpufilter.Picture(memoryview(bytes([number] * 60)).cast("B", (4, 5, 3)))
        gpufilter.write(folder / name, picture)
    (folder / "broken.png").write_bytes((folder / "b.png").read_bytes()[:50])


def test_folders_give_the_files_of_the_command_line(sepia, tmp_path):
    fill(tmp_path / "in")
    finished, parts = [], []
    result = sepia.run_folder(
        tmp_path / "in", tmp_path / "a", recursive=True, to="png", finished=finished.append, progress=parts.append,
        png_level=1,
    )  # fmt: skip
    assert (result.done, result.skipped, len(result.failed)) == (3, 0, 1)
    assert result.failed[0].input.endswith("broken.png")
    assert result.failed[0].status == "failed" and result.failed[0].reason
    assert sorted(picture.status for picture in finished) == ["done", "done", "done", "failed"]
    assert parts == sorted(parts) and parts[-1] == 1
    (tmp_path / "in" / "broken.png").unlink()
    words = CHAIN + " --recursive --to png --png-level 1"
    run_program(tmp_path / "in", f"{tmp_path}/b/", *words.split())
    for name in ["a.png", "b.png", "sub/c.png"]:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_results_in_folders_are_not_replaced_unless_asked(sepia, tmp_path):
    fill(tmp_path / "in")

    def run(**options):
        return sepia.run_folder(tmp_path / "in", tmp_path / "out", match="?.png", **options)

    assert run().done == 1
    with pytest.raises(gpufilter.UsageError, match="b.png"):
        run()
    assert run(on_exists="skip").skipped == 1
    assert run(on_exists="overwrite").done == 1
    with pytest.raises(gpufilter.UsageError, match="choose fail, skip or overwrite"):
        run(on_exists="ask")


def test_an_exception_of_finished_ends_the_run(sepia, tmp_path):
    fill(tmp_path / "in")

    def fail(picture):
        raise KeyError(picture.status)

    with pytest.raises(KeyError):
        sepia.run_folder(tmp_path / "in", tmp_path / "out", finished=fail)


def test_files_that_cannot_be_read_or_written(sepia, tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    run = lambda path: sepia.run(path, tmp_path / "out.png")
    for function in (gpufilter.read, gpufilter.stats, run):
        for name in ("nowhere.png", "text.png"):
            with pytest.raises(gpufilter.PictureError, match=f"^{tmp_path / name}: ") as caught:
                function(tmp_path / name)
            assert isinstance(caught.value, OSError)
    with pytest.raises(gpufilter.PictureError):
        gpufilter.write(tmp_path / "no folder" / "out.png", bytes_picture())
    with pytest.raises(gpufilter.UsageError):
        gpufilter.write(tmp_path / "out.xyz", bytes_picture())
    with pytest.raises(gpufilter.PictureError):
        gpufilter.decode(b"no picture")
    with pytest.raises(gpufilter.PictureError):
        gpufilter.read(SAMPLES / "landscape.jpg", max_pixels=1000)
    assert [path.name for path in tmp_path.iterdir()] == ["text.png"]


def bytes_picture():
    return gpufilter.Picture(memoryview(bytes(range(60))).cast("B", (4, 5, 3)))


def test_folders_that_do_not_exist_are_a_mistake(sepia, tmp_path):
    with pytest.raises(gpufilter.PictureError, match="typo: no such file"):
        sepia.run_folder(tmp_path / "typo", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_no_path_holds_nul(sepia, tmp_path):
    picture, fine, broken = bytes_picture(), tmp_path / "a.png", f"{tmp_path}/a\0.png"
    gpufilter.write(fine, picture)
    for call in (
        lambda: gpufilter.read(broken),
        lambda: gpufilter.write(broken, picture),
        lambda: gpufilter.encode("png\0", picture),
        lambda: gpufilter.stats(broken),
        lambda: gpufilter.compare(broken, fine),
        lambda: sepia.run(fine, broken),
        lambda: sepia.run_folder(tmp_path, broken),
        lambda: sepia.run_folder(tmp_path, tmp_path / "out", to="png\0"),
        lambda: gpufilter.Filter(gpufilter.lut(broken)),
    ):
        with pytest.raises(ValueError, match="NUL"):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_names_may_hold_any_bytes(tmp_path):
    name = bytes(tmp_path) + b"/caf\xe9.png"
    gpufilter.write(name, bytes_picture())
    assert gpufilter.compare(gpufilter.read(name), bytes_picture()).equal
    with pytest.raises(gpufilter.PictureError):
        gpufilter.read(name + b".png")
    finished = []
    gpufilter.Filter().run_folder(tmp_path, tmp_path / "out", finished=finished.append)
    assert [os.fsencode(picture.input) for picture in finished] == [name]


def test_stats_are_those_of_numpy(numpy, pixels, tmp_path):
    for depth in (8, 16):
        source = pixels(47, 59, 3, depth)
        result = gpufilter.stats(source)
        assert (result.shape, result.depth) == (source.shape, depth)
        assert [channel.name for channel in result.channels] == ["red", "green", "blue"]
        for i, channel in enumerate(result.channels):
            samples = source[..., i].astype(numpy.int64)
            assert channel.minimum == samples.min() and channel.maximum == samples.max()
            assert channel.sum == samples.sum()
            assert channel.sum_of_squares == (samples**2).sum()
            assert channel.mean == pytest.approx(samples.mean())
            assert channel.deviation == pytest.approx(samples.std())
            counts = numpy.bincount(samples.ravel(), minlength=1 << depth)
            assert channel.histogram == counts.tolist()
            assert channel.bit_xor == numpy.bitwise_xor.reduce(samples.ravel())
            for percent in (0, 50, 99.5, 100):
                place = max(1, int(numpy.ceil(percent * samples.size / 100))) - 1
                assert channel.percentile(percent) == numpy.sort(samples.ravel())[place]
        gpufilter.write(tmp_path / "a.png", source)
        assert gpufilter.stats(tmp_path / "a.png") == result
    with pytest.raises(gpufilter.UsageError):
        result.channels[0].percentile(101)


def test_comparing(numpy, pixels, tmp_path):
    a = pixels(20, 30, 3)
    b = a.copy()
    b[3, 4] ^= 2
    b[5, 6, 1] ^= 128
    gpufilter.write(tmp_path / "a.png", a)
    gpufilter.write(tmp_path / "b.png", b)
    for first in (a, tmp_path / "a.png"):
        for second in (b, tmp_path / "b.png"):
            differences = gpufilter.compare(first, second)
            assert differences.verdict == "different" and not differences.equal
            assert differences.differing_pixels == 2
            assert differences.maximum == 128
            assert (differences.first.x, differences.first.y) == (4, 3)
            assert (differences.worst.x, differences.worst.y) == (6, 5)
            assert differences.worst.a == tuple(a[5, 6]) and differences.worst.b == tuple(b[5, 6])
            assert differences.channels[1].maximum == 128
            assert 0 < differences.ssim < 1
    assert gpufilter.compare(a, a).equal
    assert gpufilter.compare(a, a).psnr is None
    assert gpufilter.compare(a, b, tolerance=128).verdict == "within tolerance"
    assert gpufilter.compare(a, b, similarity=False).ssim is None
    assert gpufilter.compare(a, a[1:]).verdict == "other shape"


def test_devices_describe_themselves():
    for device in gpufilter.devices():
        assert device.name and device.kind in ("gpu", "cpu", "other")


def test_formats_describe_themselves():
    formats = {format.name: format for format in gpufilter.formats()}
    assert formats["PNG"].extensions == [".png"]
    assert formats["JPEG"].extensions == [".jpg", ".jpeg", ".jpe", ".jfif"]
    assert "png_level" in formats["PNG"].options
    assert {"quality", "strip"} <= set(formats["JPEG"].options)
    pixels = gpufilter.Picture(memoryview(bytes(12)).cast("B", (2, 2, 3)))
    for name in ("PNG", "JPEG"):
        encoded = gpufilter.encode(formats[name].extensions[0][1:], pixels, strip=True)
        assert gpufilter.decode(encoded).file_format == name
