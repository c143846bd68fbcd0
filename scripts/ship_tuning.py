#!/usr/bin/env python3
"""Puts what `gpufilter tune --json` found into kernels/tuned.json, which the program is shipped with.

usage: gpufilter tune --again --json --device NAME | scripts/ship_tuning.py VENDOR [DEVICE]

VENDOR and DEVICE are parts of the names that `gpufilter devices` shows. Without DEVICE the entries are
for every device of the vendor. Earlier entries for the same are replaced. Only what is at least 5 %
faster than the kernel's own choice is taken.
"""
import json
import pathlib
import sys

WORTH = 0.95


def entries(tuned, vendor, device):
    for site in tuned["devices"][0]["kernels"]:
        chosen = site["chosen"]
        usual = next(iter(site["tried"]), None)
        if chosen is None or usual is None or usual["outcome"] != "timed":
            continue
        if chosen["milliseconds"] > WORTH * usual["milliseconds"]:
            continue
        entry = {"device": device, "vendor": vendor, "site": site["site"],
                 "algorithm": chosen["algorithm"]}
        if "constants" in chosen:
            entry["constants"] = chosen["constants"]
        else:
            entry["shape"] = [chosen[k] for k in ("pixels", "lines", "group_width", "group_height")]
        yield entry


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    vendor, device = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ""
    path = pathlib.Path(__file__).parent.parent / "kernels" / "tuned.json"
    shipped = json.loads(path.read_text())
    found = list(entries(json.load(sys.stdin), vendor, device))
    replaced = {(e["vendor"], e["device"], e["site"]) for e in found}
    kept = [e for e in shipped["tuned"] if (e["vendor"], e["device"], e["site"]) not in replaced]
    everything = kept + found
    lines = ",\n".join("    " + json.dumps(e) for e in everything)
    path.write_text('{\n  "schema": "%s",\n  "tuned": [\n%s\n  ]\n}\n' % (shipped["schema"], lines))


if __name__ == "__main__":
    main()
