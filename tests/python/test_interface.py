"""The stubs, the functions of stages, and the pages agree with the module."""

import ast
import copy
import inspect
import pickle
import re

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
    picture = gpufilter.Picture(memoryview(bytes(range(120))).cast("B").cast("H", (3, 5, 4)))
    pickled = pickle.loads(pickle.dumps(picture))
    for other in (pickled, copy.copy(picture), copy.deepcopy(picture), picture.copy()):
        assert (other.shape, other.depth, other.tobytes()) == (picture.shape, 16, picture.tobytes())
        assert other.__array_interface__["data"] != picture.__array_interface__["data"]


def blocks_of(page):
    """The indented blocks, which hold Python."""
    blocks = re.findall(r"(?<=\n\n)((?:    .*\n|\n(?=    ))+)", page)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks]


def test_the_page_can_be_followed(monkeypatch, tmp_path, numpy, pillow, cv2):
    page = (SOURCE / "docs" / "engineering" / "python.md").read_text()
    blocks = blocks_of(page)
    assert len(blocks) == 7
    monkeypatch.chdir(tmp_path)
    photo = gpufilter.read(SOURCE / "samples" / "landscape.jpg")
    gpufilter.write("photo.jpg", photo)
    (tmp_path / "photos").mkdir()
    gpufilter.write("photos/a.jpg", photo)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/engineering/python.md", "exec"), names)
