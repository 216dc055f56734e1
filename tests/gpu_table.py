# SPDX-License-Identifier: MIT
#
# gpu_table.py: the table of gpu.sh from the folder of its logs. A line: what, the figure seen, the pass line, yes or no; a
# line whose log is missing says so and counts as missed, but for those that need cuBLAS where there is none.
import json
import os
import sys

folder = sys.argv[1]
lines = []


def log(name):
    try:
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def line(what, value, limit, at_least=True, unit=""):
    """One requirement; value None: nothing was measured."""
    if value is None:
        lines.append((what, "not measured", f"{limit:g}{unit}", False))
    else:
        good = value >= limit if at_least else value <= limit
        lines.append((what, f"{value:.4g}{unit}", f"{'≥' if at_least else '≤'} {limit:g}{unit}", good))


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


def against_cublas(what, name, label, kind, size, limit, column="median_ms"):
    if peer is None:
        lines.append((what, "no cuBLAS here", f"≥ {limit:g}", None))
        return
    row, us = row_of(name, label), peer[kind].get(size)
    line(what, us / 1000 / row[column] if row and us else None, limit)


for n, limit in ((512, 1.25), (1024, 1.85), (2048, 1.9), (4096, 1.9), (8192, 1.9)):
    against_cublas(f"f32 PLAIN {n}, × cuBLAS f32", "f32_plain", f"{n}x{n}", "f32", f"{n}x{n}x{n}", limit)
against_cublas("f32 STRICT 4096, × cuBLAS f32", "f32_strict", "4096x4096", "f32", "4096x4096x4096", 0.95)
for n, limit in ((4096, 0.55), (8192, 0.60)):
    against_cublas(f"f32 FAST {n}, × cuBLAS tf32", "f32_fast", f"{n}x{n}", "tf32", f"{n}x{n}x{n}", limit)
for kind in ("f16", "bf16"):
    for n, limit in ((4096, 0.80), (8192, 0.90)):
        against_cublas(f"{kind} FAST {n}, × cuBLAS", f"{kind}_fast", f"{n}x{n}", kind, f"{n}x{n}x{n}", limit)
        against_cublas(f"{kind} PLAIN {n}, × cuBLAS", f"{kind}_plain", f"{n}x{n}", kind, f"{n}x{n}x{n}", 0.6)
for what, name, size in (("1000 products of 64", "batch", "64x64x64x1000"), ("16 x 4096 x 4096", "skinny", "16x4096x4096")):
    found = problems(name)
    against_cublas(f"{what}, × cuBLAS", name, found[0]["label"] if found else "", "f32", size, 0.9)

for name, what in (("clblast", "squares"), ("ragged", "ragged shapes")):
    ratios = []
    for problem in problems(name):
        rows = {row["who"]: row for row in problem["rows"]}
        if "clblast" in rows:
            ratios.append(rows["clblast"]["p25_ms"] / rows["quernstone"]["p25_ms"])
    if ratios or name == "clblast":
        line(f"{what}, least × CLBlast", min(ratios) if ratios else None, 2.5 if name == "clblast" else 1.5)

for name, limit, what in (("shapes_cold", 2500, "driver's cache empty"), ("shapes_warm", 800, "driver's cache warm")):
    data = log(name)
    first = data["shapes"][0] if data else None
    line(f"first key, {what}", first and first["first_ms"], limit, False, " ms")
    if not first:
        continue
    line(f"first key, {what}: outside builds", first["first_ms"] - first["build_ms"], 250, False, " ms")
    line(f"first key, {what}: programs", first["compiles"], 12, False)
    line(f"first key, {what}: launches", first["launches"]["total"], 1500, False)
    for shape in data["shapes"][2:]:
        line(f"key {shape['m']}, {what}: outside builds", shape["first_ms"] - shape["build_ms"], 60, False, " ms")

data = log("first")
line("first call, new process: over by hand", data["first_ms"] - data["hand_ms"] if data else None, 1.0, False, " ms")
data = log("lookup")
line("hit, keyed", data["key_ns"] if data else None, 150, False, " ns")
line("hit, by plan", data["plan_ns"] if data else None, 60, False, " ns")
data = log("regret")
if data:
    line("regret, median", 100 * data["regret"]["median"] if data.get("regret") else None, 1, False, " %")
    line("regret, 95th percentile", 100 * data["regret"]["p95"] if data.get("regret") else None, 5, False, " %")

width = max(len(what) for what, *_ in lines)
for what, value, limit, good in lines:
    print(f"{what:<{width}}  {value:>14}  {limit:>12}  {'-' if good is None else 'yes' if good else 'NO'}")
path = os.path.join(folder, "sanitizer.txt")
if os.path.exists(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        print("compute-sanitizer:", (file.read().strip().splitlines() or ["no output"])[-1])
missed = sum(good is False for *_, good in lines)
print(f"{len(lines)} lines, {missed} missed")
sys.exit(1 if missed else 0)
