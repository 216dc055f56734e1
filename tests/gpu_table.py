# SPDX-License-Identifier: MIT
#
# gpu_table.py [--small] <folder>: the table of gpu.sh from the folder of its logs. A line: what, the figure seen, the pass
# line, yes or NO. Only of sections that ran (sections.txt). A line whose log is missing says so and counts as missed, but for
# those that need cuBLAS where there is none. --small: sizes are not those of the pass lines, so nothing is judged.
import glob
import json
import os
import re
import statistics
import sys

small = "--small" in sys.argv
folder = sys.argv[-1]
lines = []
sections = {}
with open(os.path.join(folder, "sections.txt"), encoding="utf-8") as file:
    for row in file:
        name, said, seconds = row.split()
        sections[name] = (said, int(seconds))


def has(name):
    return sections.get(name, ("not run", 0))[0] not in ("not run", "absent")


def names(variable):
    return os.environ.get(variable, "").split()


def log(name):
    try:
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def told(name, words):
    """How many lines of a log say so."""
    try:
        with open(os.path.join(folder, name + ".err"), encoding="utf-8") as file:
            return sum(words in row for row in file)
    except OSError:
        return None


def show(what, value, limit="", good=None):
    lines.append((what, value, limit, good if good is None or not small else None))


def line(what, value, limit, at_least=True, unit=""):
    """One requirement; value None: nothing was measured."""
    if value is None:
        show(what, "not measured", f"{limit:g}{unit}", False)
    else:
        good = value >= limit if at_least else value <= limit
        show(what, f"{value:.4g}{unit}", f"{'≥' if at_least else '≤'} {limit:g}{unit}", good)


def problems(name):
    data = log(name)
    return [] if data is None else data.get("problems", [data])


def row_of(name, label, who="quernstone"):
    for problem in problems(name):
        if problem["label"] == label:
            for row in problem["rows"]:
                if row["who"] == who:
                    return row
    return None


peer = log("cublas")


def against_cublas(what, name, label, kind, size, limit, ms=None):
    row = row_of(name, label)
    mine = ms if ms is not None else row and row["median_ms"]
    us = peer and peer[kind].get(size)
    if not mine:
        line(what, None, limit)
    elif not us:
        show(what + " (no cuBLAS here)", f"{mine:.4g} ms", f"≥ {limit:g}" if limit else "")
    elif not limit:
        show(what, f"{us / 1000 / mine:.4g}")
    else:
        line(what, us / 1000 / mine, limit)


def square(n):
    return f"{n}x{n}", f"{n}x{n}x{n}"


def fraction(table, n, otherwise):
    return table.get(int(n), otherwise)


if has("plugins"):
    for plugin in log("plugins") or []:
        if plugin["state"] == "refused":
            show(f"plugin {plugin['name']}", "refused: " + (plugin["why"] or "")[:40], "", None)
        for ability in plugin["abilities"]:
            show(f"{plugin['name']}: {ability['name']}", "yes" if ability["can"] else "no", "yes", ability["can"])

if has("shapes"):
    for name, limit, what in (("shapes_cold", 2500, "driver's cache empty"), ("shapes_warm", 800, "driver's cache warm")):
        data = log(name)
        first = data["shapes"][0] if data else None
        line(f"first key, {what}", first and first["first_ms"], limit, False, " ms")
        if not first:
            continue
        line(f"first key, {what}: outside builds", first["outside_ms"], 250, False, " ms")
        line(f"first key, {what}: programs", first["compiles"], 12, False)
        line(f"first key, {what}: launches", first["launches"]["total"], 1500, False)
        for shape in data["shapes"][2:]:
            line(f"key {shape['m']}, {what}: outside builds", shape["outside_ms"], 60, False, " ms")
    line("programs of these that a builder left to the driver", told("shapes_cold", "is left to the driver"), 0, False)
    data = log("shapes_cached")
    line("key known to the store: tuned", data and sum(s["tuned"] for s in data["shapes"]), 0, False)
    data = log("first")
    line("first call, new process: over by hand", data["call_over_ms"] if data else None, 1.0, False, " ms")

if has("hit"):
    every, one = log("lookup"), log("lookup_one")
    for which, limit, what in (("key_ns", 150, "hit, keyed"), ("plan_ns", 60, "hit, by plan")):
        if one:
            line(f"{what}, on one processor", one[which], limit, False, " ns")
            show(what, f"{every[which]:.4g} ns" if every else "not measured", "", None if every else False)
        else:
            line(what, every[which] if every else None, limit, False, " ns")

if has("f32"):
    for n in names("GPU_SQUARES"):
        label, size = square(n)
        against_cublas(f"f32 PLAIN {n}, × cuBLAS f32", "f32_plain", label, "f32", size,
                       fraction({256: 0, 512: 1.25, 1024: 1.85}, n, 1.9))

if has("guard"):
    for n in names("GPU_LARGE"):
        label, size = square(n)
        row = row_of("guard", label)
        if row and not small and "planes" not in row["winner"]:
            show(f"f32 planes {n}", row["winner"], "planes", False)
        against_cublas(f"f32 PLAIN planes {n}, by wall, × cuBLAS f32", "guard", label, "f32", size, 3.0)
        data = log(f"guard_events_{n}")
        data = data[0] if isinstance(data, list) else data
        timed = [f for f in (data or {}).get("verdict", data or {}).get("findings", []) if f.get("median_ms")]
        best = min((f["median_ms"] for f in timed), default=0.0)
        against_cublas(f"f32 PLAIN planes {n}, by events, × cuBLAS f32", "guard", label, "f32", size, 3.2, best)
    for n in names("GPU_SCALED"):
        for name, what in (("plain", "ordinary data"), ("scaled", "badly scaled")):
            data = log(f"guard_{name}_{n}")
            line(f"planes {n}, {what}: error of the bound", data and (data["error_of_bound"] if data["right"] else 99), 1,
                 False)

if has("strict"):
    for n in names("GPU_SQUARES"):
        label, size = square(n)
        against_cublas(f"f32 STRICT {n}, × cuBLAS f32", "f32_strict", label, "f32", size, 0.95 if int(n) == 4096 else 0)
    same, fallback = log("strict_same"), log("strict_fallback")
    show("f32 STRICT, runs with the same bits", f"{same['runs']} of {same['runs']}" if same and same["same"] else "not all",
         "all", bool(same and same["same"]))
    equal = bool(same and fallback and same["digest"] == fallback["digest"])
    show("f32 STRICT, the fallback's bits", "yes" if equal else "no", "yes", equal)

if has("fast"):
    for n in names("GPU_LARGE"):
        label, size = square(n)
        against_cublas(f"f32 FAST {n}, × cuBLAS tf32", "f32_fast", label, "tf32", size, fraction({4096: 0.55}, n, 0.6))
        for kind in ("f16", "bf16"):
            against_cublas(f"{kind} FAST {n}, × cuBLAS", f"{kind}_fast", label, kind, size, fraction({4096: 0.8}, n, 0.9))
            against_cublas(f"{kind} PLAIN {n}, × cuBLAS", f"{kind}_plain", label, kind, size, 0.6)

if has("batch"):
    for batch in names("GPU_BATCHES"):
        count, n = batch.split("x")
        found = problems(f"batch_{batch}")
        against_cublas(f"{count} products of {n}, × cuBLAS", f"batch_{batch}", found[0]["label"] if found else "", "f32",
                       f"{n}x{n}x{n}x{count}", 0.9)
    skinny = os.environ.get("GPU_SKINNY", "")
    found = problems("skinny")
    against_cublas(f"{skinny}, × cuBLAS", "skinny", found[0]["label"] if found else "", "f32", skinny, 0.9)

if has("clblast"):
    for name, what in (("clblast", "squares"), ("ragged", "ragged shapes")):
        aligned, ragged = [], []
        for problem in problems(name):
            rows = {row["who"]: row for row in problem["rows"]}
            if "clblast" not in rows:
                continue
            sides = [int(side) for side in re.findall(r"\d+", problem["label"])]
            ratio = rows["clblast"]["p25_ms"] / rows["quernstone"]["p25_ms"]
            (ragged if any(side % 4 for side in sides[-2:]) else aligned).append(ratio)
        if aligned or not ragged:
            line(f"{what}, strides multiples of 16 bytes, least × CLBlast", min(aligned, default=None), 2.5)
        if ragged:
            line(f"{what}, other strides, least × CLBlast", min(ragged), 1.5)

def pieces(name):
    found = (log(os.path.splitext(os.path.basename(path))[0]) for path in glob.glob(os.path.join(folder, name + "_*.json")))
    return [data for data in found if data]


if has("regret"):
    regrets = sorted(problem["regret"] for data in pieces("regret") for problem in data["problems"])
    show("regret, problems", f"{len(regrets)}", os.environ.get("GPU_REGRET", ""))
    line("regret, median", 100 * statistics.median(regrets) if regrets else None, 1, False, " %")
    line("regret, 95th percentile", 100 * regrets[int(0.95 * (len(regrets) - 1) + 0.5)] if regrets else None, 5, False, " %")

if has("tunings"):
    found = pieces("tunings")
    tunings = sum(data["tunings"] for data in found)
    line("tunings from nothing, same or within 2 %",
         100 * sum(data["within_2"] for data in found) / tunings if tunings else None, 95, True, f" % of {tunings}")

if has("matrix"):
    right = wrong = refused = shards = 0
    for path in glob.glob(os.path.join(folder, "matrix_*.txt")):
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(r"in all: right (\d+), wrong (\d+), not applicable (\d+)", file.read())
        shards += bool(found)
        right, wrong, refused = (a + int(b) for a, b in zip((right, wrong, refused), found.groups() if found else "000"))
    show(f"kernel matrix, {shards} shards: right", str(right), "> 0", right > 0)
    show("kernel matrix: not applicable", str(refused))
    show("kernel matrix: wrong", str(wrong), "0", wrong == 0)

path = os.path.join(folder, "sanitizer.txt")
if has("sanitizer") and os.path.exists(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        show("compute-sanitizer", (file.read().strip().splitlines() or ["no output"])[-1][:60])

width = max((len(what) for what, *_ in lines), default=10)
wide = max((len(value) for _, value, *_ in lines), default=10)
for what, value, limit, good in lines:
    print(f"{what:<{width}}  {value:>{wide}}  {limit:>12}  {'-' if good is None else 'yes' if good else 'NO'}")
print()
for name, (said, seconds) in sections.items():
    print(f"section {name:<10} {said:<8} {seconds:>4} s")
missed = sum(good is False for *_, good in lines)
broken = sum(said in ("failed", "timeout") for said, _ in sections.values())
print(f"{len(lines)} lines, {missed} missed, {broken} failed")
sys.exit(1 if missed or broken else 0)
