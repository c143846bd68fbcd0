"""The stubs, the functions of stages, and the pages agree with the module."""

import ast
import builtins
import copy
import enum
import inspect
import pickle
import re
import shlex

import pytest
from conftest import SOURCE

import gpufilter
from gpufilter import _native, stages

STUB = SOURCE / "python" / "gpufilter" / "_native.pyi"


def members(nodes):
    return {
        node.name: node
        for node in nodes
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("__")
    }


def parameters(node):
    arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    return [argument.arg for argument in arguments if argument.arg != "self"]


def documented_parameters(function):
    """As pybind11 writes them into the first line of a docstring."""
    signature = re.match(r"\w+\((.*)\) -> ", function.__doc__).group(1)
    return [name for name in re.findall(r"(?:^|, )(\w+): ", signature) if name != "self"]


def test_the_stub_describes_the_extension():
    stub = members(ast.parse(STUB.read_text()).body)
    public = {name for name in vars(_native) if not name.startswith("_")}
    assert set(stub) - {"_Stage"} == public
    for name, node in stub.items():
        actual = getattr(_native, name)
        if isinstance(node, ast.FunctionDef):
            if "Overloaded" not in actual.__doc__:
                assert parameters(node) == documented_parameters(actual), name
            continue
        inner = members(node.body)
        assert set(inner) == {key for key in vars(actual) if not key.startswith("__")}, name
        for method, definition in inner.items():
            function = inspect.getattr_static(actual, method)
            if not isinstance(function, property):
                assert parameters(definition) == documented_parameters(
                    getattr(actual, method)
                ), method


def test_everything_public_has_a_docstring():
    for name in vars(gpufilter):
        public = getattr(gpufilter, name)
        if name.startswith("_") or inspect.ismodule(public):
            continue
        assert public.__doc__, name
        if inspect.isclass(public):
            for key, member in vars(public).items():
                if not key.startswith("_") and callable(member):
                    assert member.__doc__, f"{name}.{key}"


def test_stages_are_words_of_the_command_line():
    chain = [
        gpufilter.blur(border="mirror"),
        gpufilter.blur("tiled", tile=32),
        gpufilter.gaussian(1.5, truncate=2),
        gpufilter.sharpen(1, luma_only=True),
        gpufilter.auto_orient(),
        gpufilter.pad(3, pad_color="red"),
        gpufilter.resize("50%", fast_shrink=True),
    ]
    words = [word for stage in chain for word in stage.words()]
    assert " ".join(words) == (
        "--blur auto --border mirror --blur tiled --tile 32 --gaussian 1.5 --truncate 2"
        " --sharpen 1 --luma-only yes --auto-orient --pad 3 --pad-color red"
        " --resize 50% --fast-shrink"
    )
    assert list(gpufilter.Filter(words).stages) == chain
    assert list(gpufilter.Filter(" ".join(words)).stages) == chain
    assert gpufilter.Filter(gpufilter.blur()).stages == (gpufilter.blur(),)
    assert repr(chain[3]) == "gpufilter.sharpen('1', luma_only='yes')"
    assert repr(chain[6]) == "gpufilter.resize('50%', fast_shrink=True)"
    assert eval(repr(chain[6])) == chain[6]
    assert eval(repr(chain[3])) == chain[3] and len({chain[3], eval(repr(chain[3]))}) == 1
    assert chain[0] != chain[1]


def test_parameters_are_values_of_any_type(numpy):
    class Radius(enum.IntEnum):
        THREE = 3

    class Edge(str, enum.Enum):
        MIRROR = "mirror"

    same = [
        *(gpufilter.median(three) for three in (3, 3.0, "3", Radius.THREE)),
        *(gpufilter.median(kind(3)) for kind in (numpy.int64, numpy.uint8, numpy.float32)),
        gpufilter.median(radius=numpy.array(3)),
    ]
    assert set(same) == {gpufilter.median(3)} and same[0] != gpufilter.median(4)
    gpufilter.Filter(same, device="cpu")
    for flag in (True, numpy.bool_(True), "yes"):
        stage = gpufilter.sharpen(1, luma_only=flag)
        assert stage == gpufilter.sharpen(amount=1.0, luma_only="yes")
        gpufilter.Filter([stage, gpufilter.to_srgb(black_point_compensation=flag != "yes")])
    assert gpufilter.blur(border=Edge.MIRROR) == gpufilter.blur(border="mirror")
    assert gpufilter.gaussian(numpy.float64(2.5)) == gpufilter.gaussian("2.50")


@pytest.mark.parametrize(
    "stage, words",
    [
        (gpufilter.resize((800, 600)), "--resize 800x600"),
        (
            gpufilter.resize(size=(None, 600), pad_color=(255, 0, 16)),
            "--resize x600 --pad-color #ff0010",
        ),
        (gpufilter.crop((30, 20)), "--crop 30x20"),
        (gpufilter.crop(area=(30, 20, 5, 6)), "--crop 30x20+5+6"),
        (gpufilter.pad([1, 2, 3, 4]), "--pad 1,2,3,4"),
        (gpufilter.pad(margin=3), "--pad 3"),
        (gpufilter.flatten((0, 128, 255)), "--flatten #0080ff"),
        (gpufilter.convolve([[1, 2, 1], [2, 4, 2], [1, 2, 1]]), "--convolve '1 2 1; 2 4 2; 1 2 1'"),
        (gpufilter.convolve([1, 2.5, 1]), "--convolve '1 2.5 1'"),
        (gpufilter.color(((0.5, 0, 0), (0, 1, 0), (0, 0, 1))), "--color '0.5 0 0; 0 1 0; 0 0 1'"),
        (gpufilter.overlay("logo.png", at=(-3, 4)), "--overlay logo.png --at -3+4"),
    ],
)
def test_arguments_may_be_data(stage, words):
    assert stage.words() == shlex.split(words)


def test_matrices_may_be_arrays(numpy):
    kernel = numpy.outer([1, 2, 1], [1, 2, 1])
    assert gpufilter.convolve(kernel).value == "1 2 1; 2 4 2; 1 2 1"
    assert gpufilter.color(numpy.eye(3)).value == "1 0 0; 0 1 0; 0 0 1"
    for mistake in (gpufilter.resize, gpufilter.flatten):
        with pytest.raises(TypeError):
            mistake((1, 2, 3, 4))


def test_importing_everything_leaves_names_of_python_alone():
    names = {}
    exec("from gpufilter import *\nfrom gpufilter.stages import *", names)
    assert not set(names) - {"__builtins__"} & set(dir(builtins))
    assert {"Filter", "blur", "read", "stats"} <= set(names)
    assert gpufilter.open(2) == gpufilter.Stage("open", 2)
    for name in gpufilter.__all__:
        public = getattr(gpufilter, name)
        if inspect.isclass(public):
            assert public.__module__ == "gpufilter", name


def test_recipes_with_outputs_are_refused_by_name(tmp_path):
    recipe = tmp_path / "web.recipe"
    for option in ("--to png", "--quality 80", "--output a.png"):
        recipe.write_text(f"--resize 80x\n{option}\n")
        with pytest.raises(gpufilter.UsageError) as caught:
            gpufilter.Filter(f"@{recipe}")
        text = f"{recipe}:2: {option.split()[0]}: an option of outputs, not a stage"
        assert str(caught.value).startswith(text)


def test_every_stage_has_a_function_with_types():
    assert len(stages.__all__) > 25
    for name in stages.__all__:
        function = getattr(gpufilter, name)
        assert function.__doc__
        signature = inspect.signature(function)
        assert signature.return_annotation is gpufilter.Stage
        for parameter in signature.parameters.values():
            assert parameter.annotation is not parameter.empty, name
            assert parameter.name + ":" in function.__doc__, name


def test_parameters_before_the_first_stage_are_defaults():
    filter = gpufilter.Filter("--border mirror --blur auto --gray --gaussian 2 --border wrap")
    assert list(filter.stages) == [
        gpufilter.blur(border="mirror"),
        gpufilter.gray(),
        gpufilter.gaussian("2", border="wrap"),
    ]


def test_pickling_and_copying():
    filter = gpufilter.Filter("--blur auto", device="cpu", threads=1)
    restored = pickle.loads(pickle.dumps(filter))
    text = "gpufilter.Filter([gpufilter.blur('auto')], device='cpu')"
    assert repr(restored) == repr(filter) == text
    pixels = memoryview(bytes(range(120))).cast("B").cast("H", (3, 5, 4))
    icc = (SOURCE / "samples" / "profiles" / "display-p3.icc").read_bytes()
    photo = gpufilter.Picture(gpufilter.read(SOURCE / "samples" / "landscape.jpg"), icc=icc)
    for picture in (gpufilter.Picture(pixels, density=300, orientation=8), photo):
        pickled = [pickle.loads(pickle.dumps(picture, protocol)) for protocol in range(6)]
        copied = [copy.copy(picture), copy.deepcopy(picture), picture.copy()]
        for other in (*pickled, *copied, gpufilter.Picture(picture)):
            for name in ("shape", "depth", "file_format", "exif", "icc", "xmp", "density"):
                assert getattr(other, name) == getattr(picture, name), name
            assert other.orientation == picture.orientation
            assert other.tobytes() == picture.tobytes()
            assert other.__array_interface__["data"] != picture.__array_interface__["data"]


def test_there_is_no_picture_without_pixels():
    with pytest.raises(TypeError, match="takes its pixels"):
        gpufilter.Picture.__new__(gpufilter.Picture)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Own", (gpufilter.Picture,), {})
    with pytest.raises(gpufilter.UsageError, match="end too early"):
        gpufilter._native.restored_picture(1, 1, 1, 8, b"a", b"b")


def test_metadata_can_be_set(pillow, tmp_path):
    icc = (SOURCE / "samples" / "profiles" / "display-p3.icc").read_bytes()
    exif = pillow.Exif()
    exif[0x010E] = "a description"
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"
    pixels = memoryview(bytes(60)).cast("B", (4, 5, 3))
    given = {
        "icc": icc,
        "exif": exif.tobytes(),
        "xmp": xmp,
        "density": (300, 150),
        "orientation": 6,
    }
    picture = gpufilter.Picture(pixels, **given)
    for extension in ("png", "jpg", "tif"):
        gpufilter.write(tmp_path / f"a.{extension}", picture)
        read = gpufilter.read(tmp_path / f"a.{extension}")
        assert (read.icc, read.xmp, read.orientation) == (icc, xmp, 6)
        assert read.density == pytest.approx((300, 150), abs=0.02)  # whole numbers for a metre
        with pillow.open(tmp_path / f"a.{extension}") as image:
            assert image.getexif()[0x010E] == "a description"
    for name in given:
        setattr(picture, name, 1 if name == "orientation" else None)
    assert (picture.icc, picture.xmp, picture.density, picture.orientation) == (b"", b"", None, 1)
    for name, value in [
        ("icc", b"no profile"),
        ("exif", b"no structure"),
        ("xmp", b"no packet"),
        ("density", (0, 3)),
        ("orientation", 9),
    ]:
        with pytest.raises(gpufilter.UsageError, match=f"^{name}"):
            setattr(picture, name, value)
    with pytest.raises(gpufilter.UsageError, match="for RGB, and the picture is GRAY"):
        gpufilter.Picture(memoryview(bytes(4)).cast("B", (2, 2)), icc=icc)
    with pytest.raises(TypeError, match="takes no argument iccc"):
        gpufilter.Picture(pixels, iccc=icc)


def blocks_of(page):
    """The indented blocks, which hold Python."""
    blocks = re.findall(r"(?<=\n\n)((?:    .*\n|\n(?=    ))+)", page)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks]


def test_the_page_can_be_followed(monkeypatch, tmp_path, numpy, pillow, cv2):
    page = (SOURCE / "docs" / "engineering" / "python.md").read_text()
    blocks = blocks_of(page)
    assert len(blocks) == 12
    monkeypatch.chdir(tmp_path)
    photo = gpufilter.read(SOURCE / "samples" / "landscape.jpg")
    gpufilter.write("photo.jpg", photo)
    (tmp_path / "photos").mkdir()
    gpufilter.write("photos/a.jpg", photo)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/engineering/python.md", "exec"), names)
