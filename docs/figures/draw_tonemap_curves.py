#!/usr/bin/env python3
"""Draws the curves of --tonemap for docs/stages/tonemap.md, for a picture whose log-average is 0.25 of
white and whose lightest pixel is white.

    docs/figures/draw_tonemap_curves.py > docs/figures/tonemap-curves.svg
"""

AVERAGE, LIGHTEST, MIDDLE_GREY = 0.25, 1.0, 0.18
KEYS = {
    0.045: "#0072b2",
    0.09: "#56a0c8",
    0.18: "#111111",
    0.36: "#d08a00",
    0.72: "#c04a00",
}
SIDE, LEFT, TOP, GAP = 300, 58, 54, 74
STEPS = 64


def reinhard(luminance, key):
    exposed = key / AVERAGE * luminance
    white = key / AVERAGE * LIGHTEST
    return exposed * (1 + exposed / white**2) / (1 + exposed)


def hable(x):
    a, b, c, d, e, f = 0.15, 0.5, 0.1, 0.2, 0.02, 0.3
    return (x * (a * x + c * b) + d * e) / (x * (a * x + b) + d * f) - e / f


def filmic(luminance, key):
    exposed = key / AVERAGE * luminance
    white = MIDDLE_GREY / AVERAGE * LIGHTEST
    return hable(2 * exposed) / hable(2 * white)


def text(x, y, words, anchor="middle", colour="#333", size=12, more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
            f'font-size="{size}"{more}>{words}</text>')


def grid(left):
    parts = []
    for i in range(5):
        x, y = left + SIDE * i / 4, TOP + SIDE - SIDE * i / 4
        parts.append(f'<path d="M{x:.1f} {TOP}V{TOP + SIDE}M{left} {y:.1f}h{SIDE}" stroke="#ddd"/>')
        parts.append(text(x, TOP + SIDE + 17, f"{i / 4:g}"))
        parts.append(text(left - 8, y + 4, f"{i / 4:g}", "end"))
    parts.append(f'<path d="M{left} {TOP + SIDE}l{SIDE} {-SIDE}" stroke="#999" '
                 'stroke-dasharray="3 4"/>')
    return parts


def curve(left, mapping, key):
    points = []
    for i in range(STEPS + 1):
        luminance = i / STEPS
        display = min(1, mapping(luminance, key))
        points.append(f"{left + SIDE * luminance:.1f},{TOP + SIDE * (1 - display):.1f}")
        if display == 1:
            points.append(f"{left + SIDE:.1f},{TOP}")
            break
    width = 2.6 if key == MIDDLE_GREY else 1.8
    return (f'<polyline points="{" ".join(points)}" fill="none" stroke="{KEYS[key]}" '
            f'stroke-width="{width}"/>')


def panel(left, title, mapping):
    parts = grid(left)
    parts += [curve(left, mapping, key) for key in KEYS]
    parts.append(text(left + SIDE / 2, TOP - 14, title, size=14, colour="#111"))
    parts.append(text(left + SIDE / 2, TOP + SIDE + 36, "brightness of the pixel, as a share of white"))
    return parts


def legend(width):
    parts, x = [], width / 2 - 232
    y = TOP + SIDE + 66
    parts.append(text(x, y, "KEY", "start", "#111"))
    for place, (key, colour) in enumerate(KEYS.items()):
        at = x + 46 + 78 * place
        parts.append(f'<path d="M{at:.1f} {y - 4}h24" stroke="{colour}" stroke-width="2.6"/>')
        parts.append(text(at + 30, y, f"{key:g}", "start"))
    at = x + 46 + 78 * len(KEYS)
    parts.append(f'<path d="M{at:.1f} {y - 4}h24" stroke="#999" stroke-dasharray="3 4"/>')
    parts.append(text(at + 30, y, "unchanged", "start"))
    return parts


def main():
    width, height = LEFT + 2 * SIDE + GAP + 24, TOP + SIDE + 86
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">',
        # A ground of its own, so that it reads alike on light and dark pages.
        f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>',
        text(16, TOP + SIDE / 2, "result", colour="#333",
             more=f' transform="rotate(-90 16 {TOP + SIDE / 2})"'),
    ]
    parts += panel(LEFT, "--tonemap reinhard=KEY", reinhard)
    parts += panel(LEFT + SIDE + GAP, "--tonemap filmic=KEY", filmic)
    parts += legend(width)
    parts.append("</svg>")
    print("\n".join(parts))


if __name__ == "__main__":
    main()
