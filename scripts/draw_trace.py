#!/usr/bin/env python3
"""Draws a trace of gpufilter (--trace FILE) as an SVG on standard output, with time to the right.

A folder has a row for each picture, a single picture a row for each kind of work.
"""
import argparse
import json
import math
import os
import sys
from xml.sax.saxutils import escape

COLOURS = {
    "decode": "#4878b0",
    "encode": "#e0903c",
    "filter": "#c03040",
    "start": "#909090",
}
KINDS = {
    "decode": "decode",
    "encode": "encode",
    "upload": "filter",
    "kernel": "filter",
    "download": "filter",
    "find devices": "start",
    "start device": "start",
    "build program": "start",
}
WIDTH, LABEL, ROW, MARGIN = 900, 190, 13, 15
NARROWEST = 0.8  # of what is drawn, so that microseconds on a device can be seen
LONGEST_NAME = 34
MOST_TICKS = 10
LONGEST_TIME = 1e15  # microseconds: 31 years


class BadTrace(Exception):
    """Why a file cannot be drawn."""


def read_events(path):
    try:
        with open(0 if path == "-" else path, encoding="utf-8") as file:
            trace = json.load(file)
    except OSError as error:
        raise BadTrace(error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise BadTrace("not JSON: the text is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise BadTrace(f"not JSON: {error.msg} in line {error.lineno}") from error
    except RecursionError as error:
        raise BadTrace("not a trace: nested too deeply") from error
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise BadTrace("not a trace: it has no list of traceEvents; write one with --trace FILE")
    return events


def is_time(value):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value <= LONGEST_TIME


def is_described(event):
    """Whether its names are texts, and its process and thread numbers or texts."""
    names = [event.get(key, "") for key in ("name", "cat", "ph")]
    numbers = [event.get(key, 0) for key in ("pid", "tid")]
    return (all(isinstance(name, str) for name in names)
            and all(isinstance(number, (int, str)) for number in numbers)
            and isinstance(event.get("args", {}), dict))


def spans_in(events):
    for number, event in enumerate(events, 1):
        if not is_described(event):
            raise BadTrace(f"not a trace: event {number} has a field of the wrong type")
    spans = [event for event in events if event.get("ph") == "X"]
    if not spans:
        raise BadTrace("an empty trace: it has no event with a duration")
    for number, span in enumerate(spans, 1):
        if not (is_time(span.get("ts")) and is_time(span.get("dur"))):
            raise BadTrace(f"not a trace: event {number} has no time ('ts') or duration ('dur')")
    return [{"name": "", "cat": "", "pid": 0, "tid": 0, **span} for span in spans]


def rows_of_pictures(spans, pictures):
    """The picture that each span belongs to: the one that its job had at the time."""
    for span in spans:
        for row, picture in enumerate(pictures):
            begin, end = picture["ts"], picture["ts"] + picture["dur"]
            if picture["pid"] == span["pid"] and begin <= span["ts"] + 1 and span["ts"] <= end:
                yield row, span
                break


def rows_of_tracks(spans, tracks):
    for span in spans:
        yield tracks.index((span["pid"], span["tid"])), span


def layout(events):
    """The names of the rows, and the spans with the number of their row."""
    spans = spans_in(events)
    pictures = sorted((s for s in spans if s["cat"] == "picture"), key=lambda s: s["ts"])
    if pictures:
        names = [os.path.basename(str(picture["name"])) for picture in pictures]
        return names, list(rows_of_pictures(spans, pictures))
    tracks = sorted({(s["pid"], s["tid"]) for s in spans},
                    key=lambda track: min(s["ts"] for s in spans if (s["pid"], s["tid"]) == track))
    titles = {(e.get("pid"), e.get("tid")): e.get("args", {}).get("name", "")
              for e in events if e.get("ph") == "M" and e.get("name") == "thread_name"}
    return [str(titles.get(track, "")) for track in tracks], list(rows_of_tracks(spans, tracks))


def tick_step(end):
    """The smallest of 1, 2, 5, 10, 20, 50, ... that gives at most MOST_TICKS steps up to `end`."""
    power = 10.0 ** math.floor(math.log10(end / MOST_TICKS))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power)
                if end / step <= MOST_TICKS)


def ticks(end):
    """Times at round numbers from 0 to `end`, with their labels."""
    step = tick_step(end)
    decimals = max(0, -math.floor(math.log10(step)))
    return [(i * step, f"{i * step:.{decimals}f}") for i in range(math.floor(end / step) + 1)]


def shortened(name):
    return name if len(name) <= LONGEST_NAME else "..." + name[3 - LONGEST_NAME:]


def draw(events):
    names, placed = layout(events)
    end = max(span["ts"] + span["dur"] for span in spans_in(events)) / 1000 or 1.0
    scale = (WIDTH - LABEL - MARGIN) / end
    height = ROW * (len(names) + 3)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="9" stroke="none">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    for i, (kind, colour) in enumerate(COLOURS.items()):
        x = LABEL + 120 * i
        yield f'<rect x="{x}" y="3" width="9" height="9" fill="{colour}"/>'
        yield f'<text x="{x + 13}" y="11">{kind}</text>'
    for time, label in ticks(end):
        x = LABEL + time * scale
        yield f'<rect x="{x:.1f}" y="{ROW}" width="0.5" height="{height - 2 * ROW}" fill="#c8c8c8"/>'
        yield f'<text x="{x:.1f}" y="{height - 4}" text-anchor="middle">{label}</text>'
    yield f'<text x="{LABEL - 15}" y="{height - 4}" text-anchor="end">milliseconds</text>'
    for row, name in enumerate(names):
        yield (f'<text x="{LABEL - 5}" y="{ROW * (row + 2) - 3}" text-anchor="end">'
               f'{escape(shortened(name))}</text>')
    # The short spans of filters last, on top of the others.
    for row, span in sorted(placed, key=lambda item: KINDS.get(item[1]["cat"]) == "filter"):
        kind = KINDS.get(span["cat"])
        if kind is None:
            continue
        x = LABEL + span["ts"] / 1000 * scale
        width = max(span["dur"] / 1000 * scale, NARROWEST)
        yield (f'<rect x="{x:.1f}" y="{ROW * (row + 1) + 1}" width="{width:.1f}" '
               f'height="{ROW - 3}" fill="{COLOURS[kind]}"/>')
    yield "</svg>"


def main():
    parser = argparse.ArgumentParser(
        prog="draw_trace.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter,
        epilog="Example:\n  gpufilter photos/ results/ --blur auto --trace trace.json\n"
               "  draw_trace.py trace.json > trace.svg")
    parser.add_argument("trace", metavar="TRACE.json",
                        help="what --trace wrote; - is standard input")
    path = parser.parse_args().trace
    try:
        svg = "\n".join(draw(read_events(path)))
    except BadTrace as reason:
        print(f"draw_trace.py: {path}: {reason}", file=sys.stderr)
        return 1
    try:
        print(svg, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it again
        if isinstance(error, BrokenPipeError):
            return 141
        print(f"draw_trace.py: standard output: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
