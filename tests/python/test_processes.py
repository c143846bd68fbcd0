"""Threads, signals, forks and memory."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import PROGRAM, SAMPLES, run_python

import gpufilter

CHAIN = "--blur auto --color sepia"


def picture(height=64, width=65, seed=1):
    samples = bytes((seed * 31 + i * i) % 251 for i in range(height * width * 3))
    return gpufilter.Picture(memoryview(samples).cast("B", (height, width, 3)))


def test_eight_threads_share_a_filter():
    shared = gpufilter.Filter(CHAIN, device="cpu")
    sources = [picture(40 + i, 50 + 3 * i, i) for i in range(8)]
    expected = [gpufilter.Filter(CHAIN, device="cpu")(source).tobytes() for source in sources]
    start = threading.Barrier(8)

    def work(i):
        start.wait()
        return all(
            shared(sources[(i + n) % 8]).tobytes() == expected[(i + n) % 8] for n in range(50)
        )

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(8)))


BEGIN_SIDE_BY_SIDE = """
import sys, threading
import gpufilter
device, threads = sys.argv[1], int(sys.argv[2])
samples = bytes(i * i % 251 for i in range(40 * 50 * 3))
picture = gpufilter.Picture(memoryview(samples).cast("B", (40, 50, 3)))
expected = gpufilter.Filter("--blur auto", device="cpu")(picture).tobytes()
has_devices = sys.argv[3] == "True"
start = threading.Barrier(threads + 1)
results, found = [], []
def work(count):
    start.wait()
    required = device == "opencl" and has_devices
    filters = [gpufilter.Filter("--blur auto", device=device, require_device=required) for _ in range(count)]
    results.extend(each(picture).tobytes() for each in filters)
def look():
    start.wait()
    found.append(gpufilter.devices())
workers = [threading.Thread(target=work, args=(8 // threads,)) for _ in range(threads)]
workers.append(threading.Thread(target=look))
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert results == [expected] * 8, len(results)
assert [bool(devices) for devices in found] == [has_devices], found
"""


# Each time in a process that has not used OpenCL before.
@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("device", ["auto", "cpu", "gpu", "opencl", "all"])
def test_filters_begin_side_by_side(device, threads):
    for _ in range(4 if device == "opencl" else 1):
        run_python(BEGIN_SIDE_BY_SIDE, device, threads, bool(gpufilter.devices()))


def test_many_pictures_are_filtered_in_their_order():
    filter = gpufilter.Filter(CHAIN, device="cpu")
    sources = [picture(40 + i % 7, 50 + i, i) for i in range(40)]
    expected = [filter(source).tobytes() for source in sources]
    for threads in (0, 1, 3):
        results = filter.map(iter(sources), threads=threads)
        assert [result.tobytes() for result in results] == expected
    taken = []
    few = filter.map((taken.append(i) or source for i, source in enumerate(sources)), threads=2)
    assert next(few).tobytes() == expected[0]
    assert len(taken) < 10  # few pictures wait in memory
    few.close()
    with pytest.raises(TypeError):
        list(filter.map([sources[0], None, sources[1]]))
    assert list(filter.map([])) == []


@pytest.mark.parametrize("device", ["gpu", "opencl", "all"])
def test_a_process_may_end_while_filters_search(device):
    """Their warnings come when Python is ending, whose lock then ends the thread that asks for it."""
    for _ in range(5):
        run_python(
            "import gpufilter, sys\n"
            "filters = [gpufilter.Filter('--blur auto', device=sys.argv[1]) for _ in range(8)]",
            device,
        )


DAEMONS = """
import sys, threading, time
import gpufilter
samples = bytes(i * i % 251 for i in range(300 * 400 * 3))
picture = gpufilter.Picture(memoryview(samples).cast("B", (300, 400, 3)))
slow = gpufilter.Filter("--median 9", device=sys.argv[1])
brief = gpufilter.Filter("--blur auto", device="cpu")
def work(number):
    while True:
        if number % 3 == 0:
            slow(picture, progress=lambda done: time.sleep(3600 if number == 3 else 0))
        elif number % 3 == 1:
            brief(picture)
            gpufilter.Filter("--gray", device="cpu")
        else:
            gpufilter.decode(gpufilter.encode("png", picture))
            gpufilter.compare(picture, picture)
for number in range(6):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_daemon_threads_may_be_at_work_when_python_ends(device):
    for i in range(6 if device == "cpu" else 3):
        run_python(DAEMONS, device, 0.02 + 0.1 * i)


def test_handlers_at_the_end_may_filter():
    result = run_python(
        """
import atexit
def last():
    print(gpufilter.Filter("--blur auto", device="cpu")(picture).width)
atexit.register(last)  # called after the module's own
import gpufilter
picture = gpufilter.Picture(memoryview(bytes(300)).cast("B", (10, 30)))
"""
    )
    assert result.stdout == "30\n"


def test_progress_of_calls_on_arrays():
    for device in ("cpu", "auto"):
        seen = []
        source = picture(600, 700)
        expected = gpufilter.Filter("--median 5", device="cpu")(source).tobytes()
        filter = gpufilter.Filter("--median 5", device=device)
        assert filter(source, progress=seen.append).tobytes() == expected
        assert seen and seen == sorted(set(seen)) and 0 <= seen[0] and seen[-1] == 1
        seen.clear()
        out = gpufilter.Picture(source)
        assert filter(source, out=out, progress=seen.append) is out
        assert out.tobytes() == expected and seen[-1] == 1

    def fail(done):
        raise KeyError(done)

    slow = gpufilter.Filter("--median 31 --denoise 50", device="cpu", threads=1)
    with pytest.raises(KeyError):
        slow(picture(1500, 1500), progress=fail)
    with pytest.raises(TypeError, match="progress is a function"):
        slow(source, progress=5)
    with pytest.raises(TypeError, match="stop is an event"):
        slow(source, stop=True)


def test_an_event_stops_a_call(tmp_path):
    slow = gpufilter.Filter("--median 31 --denoise 50 --median 31", device="cpu", threads=1)
    source = picture(2000, 2000)
    gpufilter.write(tmp_path / "in.png", source, png_level=1)
    output = tmp_path / "out.png"
    for call in (
        lambda stop: slow(source, stop=stop),
        lambda stop: slow(source, out=gpufilter.Picture(source), stop=stop),
        lambda stop: slow.run(tmp_path / "in.png", output, stop=stop),
    ):
        stop = threading.Event()
        timer = threading.Timer(0.2, stop.set)
        timer.start()
        begin = time.process_time()
        with pytest.raises(gpufilter.Stopped):
            call(stop)
        # Left alone, it takes several seconds of processor time.
        assert time.process_time() - begin < 1.5
        assert stop.is_set() and not output.exists()
        with pytest.raises(gpufilter.Stopped):
            call(stop)
    stop = threading.Event()
    brief = gpufilter.Filter("--blur auto", device="cpu")
    assert brief(source, stop=stop).tobytes() == brief(source).tobytes()


def test_a_task_of_asyncio_may_be_cancelled():
    async def filtered(filter, pixels):
        stop = threading.Event()
        try:
            return await asyncio.to_thread(filter, pixels, stop=stop)
        finally:
            stop.set()

    async def check():
        slow = gpufilter.Filter("--median 31 --denoise 50 --median 31", device="cpu", threads=1)
        task = asyncio.create_task(filtered(slow, picture(2000, 2000)))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        blur = gpufilter.Filter("--blur auto", device="cpu")
        assert (await filtered(blur, picture())).tobytes() == blur(picture()).tobytes()

    begin = time.process_time()
    asyncio.run(check())  # which waits for its threads
    assert time.process_time() - begin < 1.5


def test_others_run_while_a_filter_works():
    slow = gpufilter.Filter("--median 31", device="cpu", threads=1)
    source = gpufilter.read(SAMPLES / "landscape.jpg")
    ended = threading.Event()
    worker = threading.Thread(target=lambda: (slow(source), ended.set()))
    worker.start()
    turns = 0
    while not ended.is_set():
        turns += 1
        time.sleep(0.001)
    worker.join()
    assert turns > 20


WAIT_FOR_CTRL_C = """
import signal, sys, threading, time
import gpufilter
pixels = gpufilter.Picture(memoryview(bytes(3 * 4000 * 4000)).cast("B", (4000, 4000, 3)))
source, output, network = sys.argv[1:]
def slow(chain="--median 31 --denoise 50 --median 31"):
    return gpufilter.Filter(chain, device="cpu", threads=1)
sent = 0.0
def send():
    global sent
    time.sleep(0.4)
    sent = time.process_time()
    signal.raise_signal(signal.SIGINT)
threading.Thread(target=send).start()
try:
    CALL
except KeyboardInterrupt:
    print(time.process_time() - sent)
"""


@pytest.mark.parametrize(
    "call",
    [
        "slow()(pixels)",
        "slow('--median 31')(pixels, out=gpufilter.Picture(pixels))",
        "slow().run(source, output)",
        "slow('--median 31').run(source, output)",
        "slow('--gaussian 50').run(source, output)",
        "slow('--net ' + network).run(source, output)",
        "slow().run_folder(source[:-7], output[:-4])",
    ],
)
def test_ctrl_c_ends_a_call(tmp_path, call):
    source = tmp_path / "in" / "in.png"
    source.parent.mkdir()
    pixels = memoryview(bytes(3 * 4000 * 4000)).cast("B", (4000, 4000, 3))
    gpufilter.write(source, gpufilter.Picture(pixels), png_level=1)
    output = tmp_path / "out.png"
    network = SAMPLES / "networks" / "denoise.onnx"
    result = run_python(WAIT_FOR_CTRL_C.replace("CALL", call), source, output, network)
    # Seconds of processor time after the signal. Left alone, each call takes several.
    assert 0 <= float(result.stdout) < 0.5
    assert not output.exists()
    assert not any(path.is_file() for path in tmp_path.glob("out*/*.png"))


def test_handlers_that_raise_nothing_end_nothing():
    result = run_python(
        """
import signal, threading, time
import gpufilter
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(time.monotonic()))
# Four large medians of 4 Mpx take about half a second on the fastest cores.
pixels = gpufilter.Picture(memoryview(bytes(2000 * 2000)).cast("B", (2000, 2000)))
slow = gpufilter.Filter("--median 31 " * 4, device="cpu", threads=1)
timer = threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGUSR1))
timer.start()
slow(pixels)
ended = time.monotonic()
timer.join()
print(len(handled), handled[0] < ended)
"""
    )
    assert result.stdout == "1 True\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_filters_work_in_processes_of_multiprocessing(method):
    shared = gpufilter.Filter(CHAIN)
    sources = [picture(40 + i, 50, i) for i in range(6)]
    expected = [shared(source).tobytes() for source in sources]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert [result.tobytes() for result in pool.map(shared, sources)] == expected
    assert shared(sources[0]).tobytes() == expected[0]


def test_a_child_may_filter_while_its_parent_does():
    shared = gpufilter.Filter("--gaussian 20", device="cpu")
    source = picture(700, 700)
    expected = shared(source).tobytes()
    ended = threading.Event()

    def work():
        while not ended.is_set():
            shared(source)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if shared(source).tobytes() == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_it_works_after_the_threads_of_numpy_have_started(numpy):
    run_python(
        """
import numpy
numpy.ones((500, 500)) @ numpy.ones((500, 500))
import gpufilter
source = numpy.arange(64 * 65 * 3, dtype=numpy.uint16).reshape(64, 65, 3)
assert numpy.array_equal(gpufilter.Filter()(source), source)
"""
    )


def test_memory_stays_flat():
    filter = gpufilter.Filter(CHAIN, device="cpu")
    source = picture()
    out = gpufilter.Picture(source)

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def work(calls):
        for _ in range(calls):
            filter(source)
            filter(source, out=out)
            try:
                filter(7)
            except TypeError:
                pass

    work(500)
    before = resident()
    work(10_000)
    assert resident() - before < 2 << 20


def test_references_are_given_back(numpy):
    filter = gpufilter.Filter(CHAIN, device="cpu")
    source = numpy.zeros((20, 30, 3), "uint8")
    out = numpy.zeros((20, 30, 3), "uint8")
    before = sys.getrefcount(source), sys.getrefcount(out)
    for _ in range(10):
        filter(source)
        filter(source[:, ::-1])
        filter(source, out=out)
        gpufilter.stats(source)
        gpufilter.compare(source, out)
        with pytest.raises(gpufilter.UsageError):
            filter(source, out=out[1:])
    assert (sys.getrefcount(source), sys.getrefcount(out)) == before


def test_importing_changes_nothing():
    result = run_python(
        """
import os, signal
before = dict(os.environ), [signal.getsignal(number) for number in signal.valid_signals()]
import gpufilter
gpufilter.Filter("--blur auto")(memoryview(bytes(60)).cast("B", (4, 5, 3)))
assert before == (dict(os.environ), [signal.getsignal(number) for number in signal.valid_signals()])
import ctypes
"""
    )
    assert (result.stdout, result.stderr) == ("", "")


def test_the_module_is_the_program_too():
    words = [sys.executable, "-m", "gpufilter"]
    version = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert gpufilter.__version__ in version.stdout
    own = subprocess.run([PROGRAM, "help", "blur"], capture_output=True, text=True, check=True)
    module = subprocess.run([*words, "help", "blur"], capture_output=True, text=True, check=True)
    assert module.stdout == own.stdout
    assert subprocess.run([*words, "--nonsense"], capture_output=True).returncode == 2


def test_warnings_go_to_the_log(caplog):
    filter = gpufilter.Filter("", device="gpu")
    with caplog.at_level("WARNING"):
        filter(picture())
    if any(device.kind == "gpu" and not device.unusable for device in gpufilter.devices()):
        pytest.skip("there is a GPU")
    assert [record.name for record in caplog.records] == ["gpufilter"]
    with pytest.raises(gpufilter.DeviceError):
        gpufilter.Filter("", device="gpu", require_device=True)(picture())


def test_killed_by_signal_as_usual():
    """Python's own default for SIGTERM stays."""
    code = WAIT_FOR_CTRL_C.replace("CALL", "slow()(pixels)").replace("SIGINT", "SIGTERM")
    child = subprocess.Popen([sys.executable, "-c", code, "source", "output", "network"])
    assert child.wait(60) == -signal.SIGTERM
