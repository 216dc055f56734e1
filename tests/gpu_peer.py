# SPDX-License-Identifier: MIT
#
# gpu_peer.py: cuBLAS by PyTorch on this host: microseconds of a product, measured as `qst bench matmul` measures ours
# (tools/qst/contest.c, data.c): elements even in [-1, 1), one set of inputs, batches of 5 ms and of one call at least, each
# after a call that is not counted, the median of 15. What the elements are counts at such rates, for the device's power
# limits them: of torch.rand's, none negative, cuBLAS multiplies 4 to 13 % more a second. Calls are queued one by one, and
# as a graph of a batch, which costs the host nothing; whichever is less. Prints {"<type>": {"<m>x<n>x<k>[x<batch>]": us}};
# types f32 (tf32 off), tf32, f16, bf16. Sizes are gpu.sh's variables.
import json
import math
import os
import statistics
import sys

import torch


BATCH_US, CALLS, ROUNDS = 5000, 20000, 15


def time_one(body):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    body()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1000


def times(body, call, calls):
    result = []
    for _ in range(ROUNDS):
        call()
        torch.cuda.synchronize()
        result.append(time_one(body) / calls)
    return statistics.median(result)


def even(*size):
    return torch.rand(*size, device="cuda") * 2 - 1


def time_of(kind, m, n, k, batch=1):
    dtype = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    lead = (batch,) if batch > 1 else ()
    a, b = even(*lead, m, k).to(dtype), even(*lead, k, n).to(dtype)
    out = torch.empty(*lead, m, n, device="cuda", dtype=dtype)

    def call():
        torch.matmul(a, b, out=out)

    def queue(calls):
        for _ in range(calls):
            call()

    queue(3)
    torch.cuda.synchronize()
    calls = min(CALLS, math.ceil(BATCH_US / (time_one(lambda: queue(8)) / 8)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        queue(calls)
    return min(times(graph.replay, call, calls), times(lambda: queue(calls), call, calls))


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
