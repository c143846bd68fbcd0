#!/usr/bin/env python3
"""Draws a trace of gpufilter (--trace FILE) as an SVG: a row for each picture, time to the right.

    draw_trace.py trace.json > trace.svg
"""
import json
import os
import sys

COLOURS = {
    "decode": "#4878b0",
    "encode": "#e0903c",
    "device": "#c03040",
    "start": "#909090",
}
KINDS = {
    "decode": "decode",
    "encode": "encode",
    "upload": "device",
    "kernel": "device",
    "download": "device",
    "find devices": "start",
    "start device": "start",
    "build program": "start",
}
WIDTH, LABEL, ROW = 900, 190, 13
NARROWEST = 0.8  # of what is drawn, so that microseconds on the device can be seen


def read_spans(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    return [event for event in events if event.get("ph") == "X"]


def row_of(span, pictures):
    """The picture that the span belongs to: that which its lane had at the time. None: no picture."""
    for row, picture in enumerate(pictures):
        begin, end = picture["ts"], picture["ts"] + picture["dur"]
        if picture["pid"] == span["pid"] and begin <= span["ts"] + 1 and span["ts"] <= end:
            return row
    return None


def draw(spans):
    pictures = sorted((s for s in spans if s["cat"] == "picture"), key=lambda s: s["ts"])
    end = max(s["ts"] + s["dur"] for s in spans)
    scale = (WIDTH - LABEL) / end
    height = ROW * (len(pictures) + 3)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="9" stroke="none">')
    yield f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    for i, (kind, colour) in enumerate(COLOURS.items()):
        x = LABEL + 120 * i
        yield f'<rect x="{x}" y="3" width="9" height="9" fill="{colour}"/>'
        yield f'<text x="{x + 13}" y="11">{kind}</text>'
    for row, picture in enumerate(pictures):
        y = ROW * (row + 2)
        name = os.path.basename(picture["name"]).replace("&", "&amp;").replace("<", "&lt;")
        yield f'<text x="{LABEL - 5}" y="{y - 3}" text-anchor="end">{name}</text>'
    # The device's short spans last, on top of the others.
    for span in sorted(spans, key=lambda s: KINDS.get(s["cat"]) == "device"):
        kind = KINDS.get(span["cat"])
        row = row_of(span, pictures)
        if kind is None or row is None:
            continue
        x = LABEL + span["ts"] * scale
        width = max(span["dur"] * scale, NARROWEST)
        y = ROW * (row + 1) + 1
        yield (f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 3}" '
               f'fill="{COLOURS[kind]}"/>')
    for tenth in range(0, 11):
        x = LABEL + (WIDTH - LABEL) * tenth / 10
        yield (f'<text x="{min(x, WIDTH - 12):.0f}" y="{height - 6}" text-anchor="middle">'
               f'{end * tenth / 10 / 1000:.0f}</text>')
    yield f'<text x="{LABEL - 5}" y="{height - 6}" text-anchor="end">milliseconds</text>'
    yield "</svg>"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    print("\n".join(draw(read_spans(sys.argv[1]))))


if __name__ == "__main__":
    main()
