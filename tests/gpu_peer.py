# SPDX-License-Identifier: MIT
#
# gpu_peer.py: cuBLAS by PyTorch on this host: microseconds of a product, by replayed graphs of 20 products over three sets
# of inputs, the median of 15 replays. Prints {"<type>": {"<m>x<n>x<k>[x<batch>]": us}}; types f32 (tf32 off), tf32, f16, bf16.
import json
import statistics

import torch


def time_of(kind, m, n, k, batch):
    dtype = {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    lead = (batch,) if batch > 1 else ()
    sets = [(torch.rand(*lead, m, k, device="cuda").to(dtype), torch.rand(*lead, k, n, device="cuda").to(dtype))
            for _ in range(3)]
    out = torch.empty(*lead, m, n, device="cuda", dtype=dtype)
    calls = 20 if m * n * k * batch < 2**36 else 5
    for a, b in sets:
        torch.matmul(a, b, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            torch.matmul(*sets[i % 3], out=out)
    times = []
    for _ in range(15):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times)


result = {}
for kind in ("f32", "tf32", "f16", "bf16"):
    result[kind] = {f"{n}x{n}x{n}": time_of(kind, n, n, n, 1) for n in (512, 1024, 2048, 4096, 8192)}
result["f32"]["64x64x64x1000"] = time_of("f32", 64, 64, 64, 1000)
result["f32"]["16x4096x4096"] = time_of("f32", 16, 4096, 4096, 1)
json.dump(result, __import__("sys").stdout)
