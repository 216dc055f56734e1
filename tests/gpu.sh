#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gpu.sh: the GPU suite on a build that was installed into a folder, on a host with an NVIDIA GPU: what is tuned and how
# fast against cuBLAS (by PyTorch, where python3 has it) and CLBlast, what a first key, a new process and a hit cost, and
# what compute-sanitizer says. One table at the end, a line for each requirement; full output under the second folder.
#
#     gpu.sh [--quick] <prefix> [<folder for logs>]
#
# --quick leaves out random shapes, regret and repeated tunings. Stores and the driver's cache are made anew in a temporary
# folder. It takes three to ten minutes. Exit code 1 where a line is missed, 2 where nothing could be run.
quick=
[ "$1" = --quick ] && quick=1 && shift
[ -n "$1" ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed -n 2,12p >&2; exit 2; }
prefix=$(cd "$1" && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
log=${2:-$work/logs}
mkdir -p "$log"
here=$(cd "$(dirname "$0")" && pwd)
PATH=$prefix/bin:$PATH
LD_LIBRARY_PATH=$prefix/lib:$prefix/deps${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH XDG_CONFIG_HOME="$work/config"
on="--platform NVIDIA"
# shellcheck disable=SC2086
qst devices $on >"$log/devices.txt" 2>&1 || { cat "$log/devices.txt" >&2; exit 2; }

fresh() { # nothing stored; the driver's own cache as given
    XDG_CACHE_HOME=$(mktemp -d -p "$work")
    CUDA_CACHE_PATH=${1:-$(mktemp -d -p "$work")}
    export XDG_CACHE_HOME CUDA_CACHE_PATH
}
run() { # name, command...
    name=$1
    shift
    # shellcheck disable=SC2086
    "$@" $on >"$log/$name.json" 2>"$log/$name.err" || echo "gpu.sh: $name: exit code $?" >&2
}

fresh
run plugins qst plugins --json
run shapes_cold qst shapes --json 1024 768 1000 2048
run shapes_cached qst shapes --json 1024
run first qst bench first --json --size 1024 --pairs 10
run lookup qst bench lookup --json --batches 1000
driver=$CUDA_CACHE_PATH
fresh "$driver"
run shapes_warm qst shapes --json 1024 768 1000 2048
for class in plain strict fast; do
    run "f32_$class" qst bench matmul --json --dtype f32 --numerics $class 512 1024 2048 4096 8192
done
for type in f16 bf16; do
    for class in plain fast; do
        run "${type}_$class" qst bench matmul --json --dtype $type --numerics $class 4096 8192
    done
done
run batch qst bench matmul --json --batch 1000 --m 64 --n 64 --k 64
run skinny qst bench matmul --json --m 16 --n 4096 --k 4096
run clblast qst bench matmul --json --peers clblast 256 512 1024 2048 4096 8192
if [ -z "$quick" ]; then
    run ragged qst bench matmul --json --peers clblast --random 30 --seed 7 --range 64..4096
    run regret qst bench matmul --json --all --random 50 --seed 1 --range 16..4096
    run tunings qst bench tunings --json --keys 10 --times 10
fi
if command -v compute-sanitizer >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    compute-sanitizer --tool memcheck qst run matmul $on --m 256 --n 256 --k 256 --runs 1 >"$log/sanitizer.txt" 2>&1
fi
python3 "$here/gpu_peer.py" >"$log/cublas.json" 2>"$log/cublas.err" || echo "gpu.sh: no cuBLAS beside it: $(tail -n 1 "$log/cublas.err")" >&2
exec python3 "$here/gpu_table.py" "$log"
