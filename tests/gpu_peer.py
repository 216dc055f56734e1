# SPDX-License-Identifier: MIT
#
# gpu_peer.py: cuBLAS by PyTorch on this host: microseconds of a product over three sets of inputs, by replayed graphs of
# products or queued one by one, whichever is less; the median of 15 times. Prints {"<type>": {"<m>x<n>x<k>[x<batch>]": us}};
# types f32 (tf32 off), tf32, f16, bf16. Sizes are gpu.sh's variables.
import json
import os
import statistics
import sys

import torch


def times(body, calls):
    result = []
    for _ in range(15):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        body()
        end.record()
        torch.cuda.synchronize()
        result.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(result)


def time_of(kind, m, n, k, batch=1):
    dtype = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    lead = (batch,) if batch > 1 else ()
    sets = [(torch.rand(*lead, m, k, device="cuda").to(dtype), torch.rand(*lead, k, n, device="cuda").to(dtype))
            for _ in range(3)]
    out = torch.empty(*lead, m, n, device="cuda", dtype=dtype)
    calls = 20 if m * n * k * batch < 2**36 else 5

    def queue():
        for i in range(calls):
            torch.matmul(*sets[i % 3], out=out)

    queue()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        queue()
    return min(times(graph.replay, calls), times(queue, calls))


def words(variable):
    return os.environ[variable].split()


result = {"f32": {}, "tf32": {}, "f16": {}, "bf16": {}}
for size in dict.fromkeys(words("GPU_SQUARES") + words("GPU_LARGE")):
    n = int(size)
    for kind in result if size in words("GPU_LARGE") else ("f32",):
        result[kind][f"{n}x{n}x{n}"] = time_of(kind, n, n, n)
for name in words("GPU_BATCHES"):
    count, n = map(int, name.split("x"))
    result["f32"][f"{n}x{n}x{n}x{count}"] = time_of("f32", n, n, n, count)
for name in words("GPU_SKINNY"):
    result["f32"][name] = time_of("f32", *map(int, name.split("x")))
json.dump(result, sys.stdout)
