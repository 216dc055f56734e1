#!/bin/sh
# SPDX-License-Identifier: MIT
#
# gpu.sh: the GPU suite on a build that was installed into a folder: what is tuned and how fast against cuBLAS (by PyTorch,
# where python3 has it) and CLBlast, what a first key, a new process and a hit cost, whether every candidate is right, and
# what compute-sanitizer says. A table at the end, a line for each requirement.
#
#     gpu.sh [option]... <prefix> [<folder for logs>]
#
#   --only A,B       these sections alone, in the order below        --skip A,B   all but these
#   --limit SECONDS  for each section, instead of its own            --list       names the sections and their limits in seconds
#   --platform NAME, --device NAME   default: platform NVIDIA
#   --shard I/N      of the kernel matrix only the candidates of share I of N, counted from 0; else N = the processors, all
#                    of them at once
#   --small          small sizes for a try on any device: two minutes; lines are shown and not judged
#
# Sizes stand in variables, which the environment may set: see `sizes` below. <prefix> is where `cmake --install` put the
# build, with the libraries that the host lacks in <prefix>/deps; a build folder does as well. kernel_matrix is looked for
# there, in ../build beside it, or taken from GPU_MATRIX. Stores and the driver's cache are made anew in a temporary folder;
# a section that fails or takes too long does not keep the next from running. Logs of an earlier run are removed, but for
# cuBLAS's times. Exit code 1 where a section failed or a line is missed, 2 where nothing could be run.
#
# shellcheck disable=SC2086,SC2012 # lists of words are split, and a section expands no patterns; `ls` looks if one is there

# ---- Sections: name, seconds ------------------------------------------------------------------------------------------
sections='plugins 60
shapes 90
hit 60
cublas 120
f32 120
guard 120
strict 120
fast 180
batch 60
clblast 180
regret 240
tunings 240
matrix 480
sanitizer 60'

sizes() {
    if [ -n "$small" ]; then
        : "${GPU_SHAPES:=64 48 60 128}" "${GPU_SQUARES:=64 128}" "${GPU_LARGE:=96 128}" "${GPU_GUARD_PIN:=matmul.tiled.*}"
        : "${GPU_SCALED:=60 128}" "${GPU_SAME:=96}" "${GPU_RUNS:=5}" "${GPU_BATCHES:=20x16 2x64}" "${GPU_SKINNY:=4x64x64}"
        : "${GPU_CLBLAST:=64}" "${GPU_RAGGED:=2}" "${GPU_REGRET:=2}" "${GPU_RANGE:=16..96}" "${GPU_TUNINGS:=1 2}"
        : "${GPU_LOOKUPS:=20}" "${GPU_PAIRS:=1}" "${GPU_MATRIX_SHARDS:=40}" "${GPU_MATRIX_MOST:=2}" "${GPU_MATRIX_WHOLE:=}"
        : "${GPU_MATRIX_ONLY:=}" "${GPU_TUNE:=--deny *clblast* --deny *cpu_gemm* --deny *gemv* --budget 500}"
    else
        : "${GPU_SHAPES:=1024 768 1000 2048}" "${GPU_SQUARES:=256 512 1024 2048 4096 8192}" "${GPU_LARGE:=4096 8192}"
        : "${GPU_GUARD_PIN:=matmul.nv_mma.planes*}" "${GPU_SCALED:=1000 2048}" "${GPU_SAME:=1024}" "${GPU_RUNS:=100}"
        : "${GPU_BATCHES:=1000x64 16x4096}" "${GPU_SKINNY:=16x4096x4096}" "${GPU_CLBLAST:=$GPU_SQUARES}"
        : "${GPU_RAGGED:=30}" "${GPU_REGRET:=50}" "${GPU_RANGE:=16..4096}" "${GPU_TUNINGS:=4 10}" "${GPU_LOOKUPS:=1000}"
        : "${GPU_PAIRS:=10}" "${GPU_MATRIX_SHARDS:=$(nproc)}" "${GPU_MATRIX_MOST:=}" "${GPU_MATRIX_ONLY:=}" "${GPU_MATRIX_WHOLE:=}" \
            "${GPU_TUNE:=}"
    fi
    : "${GPU_REGRET_SKIP:=0}" # of these problems, where some were measured before
    export GPU_SQUARES GPU_LARGE GPU_BATCHES GPU_SKINNY GPU_GUARD_PIN
}

# ---- What sections are made of ------------------------------------------------------------------------------------------
failed=0
# A command into a log of this name, on the device; a failure is told and fails the section, which goes on.
run() {
    name=$1
    shift
    "$@" $on >"$log/$name.json" 2>"$log/$name.err"
    code=$?
    [ $code -eq 0 ] && return
    echo "  $name: exit code $code: $(tail -n 1 "$log/$name.err")" >&2
    failed=1
}
fresh() { # nothing stored; the driver's own cache as given, else empty
    XDG_CACHE_HOME=$(mktemp -d -p "$work")
    CUDA_CACHE_PATH=${1:-$(mktemp -d -p "$work")}
    [ -z "$own_pocl" ] || POCL_CACHE_DIR=$CUDA_CACHE_PATH
    export XDG_CACHE_HOME CUDA_CACHE_PATH POCL_CACHE_DIR
}
bench() { # log, arguments of bench matmul
    log_name=$1
    shift
    run "$log_name" qst bench matmul --json "$@" $tune
}

section_plugins() { run plugins qst plugins --json; }
section_shapes() {
    own_pocl=yes
    fresh
    run shapes_cold env QST_LOG=warn,cl qst shapes --json $GPU_SHAPES $tune # the log: what a builder did not manage
    run shapes_cached qst shapes --json "${GPU_SHAPES%% *}" $tune
    run first qst bench first --json --size "${GPU_SHAPES%% *}" --pairs "$GPU_PAIRS"
    fresh "$CUDA_CACHE_PATH"
    run shapes_warm qst shapes --json $GPU_SHAPES $tune
}
# On one processor as well, which is what counts: with the threads of the driver on others what a call costs by hand is 0.8 to
# 3 us, by host, and a difference of 100 ns drowns in that.
section_hit() {
    run lookup qst bench lookup --json --batches "$GPU_LOOKUPS"
    one=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/.*[-,]//') # the last that it may run on
    [ -z "$one" ] || run lookup_one taskset -c "$one" qst bench lookup --json --batches "$GPU_LOOKUPS"
}
section_cublas() {
    LD_LIBRARY_PATH=$host_libraries python3 "$here/gpu_peer.py" >"$log/cublas.json" 2>"$log/cublas.err" && return
    echo "  $(tail -n 1 "$log/cublas.err")" >&2
    grep -q ModuleNotFoundError "$log/cublas.err" && exit 77
    failed=1
}
section_f32() {
    bench f32_plain --dtype f32 $GPU_SQUARES
}
# Behind the range guard: by wall, by the events of its tuning, and on data that the guard must turn away.
section_guard() {
    tune="--pin $GPU_GUARD_PIN"
    bench guard --dtype f32 $GPU_LARGE
    for n in $GPU_LARGE; do
        run "guard_events_$n" qst explain --json "$n" $tune
    done
    for n in $GPU_SCALED; do
        run "guard_scaled_$n" qst run matmul --json --m "$n" --n "$n" --k "$n" --scaled --same --runs 3 $tune
        run "guard_plain_$n" qst run matmul --json --m "$n" --n "$n" --k "$n" --runs 3 $tune
    done
}
section_strict() {
    bench f32_strict --dtype f32 --numerics strict $GPU_SQUARES
    set -- --m "$GPU_SAME" --n "$GPU_SAME" --k "$GPU_SAME" --numerics strict
    run strict_same qst run matmul --json "$@" --same --runs "$GPU_RUNS" $tune
    run strict_fallback qst run matmul --json "$@" --runs 1 --pin 'matmul.naive.*'
}
section_fast() {
    bench f32_fast --dtype f32 --numerics fast $GPU_LARGE
    for type in f16 bf16; do
        for class in plain fast; do
            bench "${type}_$class" --dtype $type --numerics $class $GPU_LARGE
        done
    done
}
section_batch() {
    for batch in $GPU_BATCHES; do
        bench "batch_$batch" --batch "${batch%x*}" --m "${batch#*x}" --n "${batch#*x}" --k "${batch#*x}"
    done
    bench skinny "$GPU_SKINNY"
}
section_clblast() {
    bench clblast --peers clblast $GPU_CLBLAST
    bench ragged --peers clblast --random "$GPU_RAGGED" --seed 7 --range "$GPU_RANGE"
}
# Told to end, it tells of the problems it measured.
section_regret() {
    trap : TERM
    bench "regret_$GPU_REGRET_SKIP" --all --random "$GPU_REGRET" --skip "$GPU_REGRET_SKIP" --seed 1 --range "$GPU_RANGE"
}
section_tunings() {
    for skip in $(seq 0 $((${GPU_TUNINGS% *} - 1))); do
        run "tunings_$skip" qst bench tunings --json --keys $((skip + 1)) --skip "$skip" --times "${GPU_TUNINGS#* }" \
            --range "$GPU_RANGE" $tune
    done
}
# Shares of the candidates are processes side by side. GPU_MATRIX_WHOLE=--whole: not thinned; what was reached when the time
# is over is counted.
section_matrix() {
    [ -x "$matrix" ] || { echo "  no kernel_matrix: GPU_MATRIX names it" >&2; exit 77; }
    folder=$(set +f && ls -d "$prefix"/lib/quernstone/plugins-* "$prefix"/lib/*/quernstone/plugins-* 2>/dev/null | head -n 1)
    config="{\"device\": {\"platform\": \"$platform\", \"name\": \"$device\"}, \"plugins\": {\"dirs\": [\"$folder\"]}}"
    set -- $GPU_MATRIX_WHOLE --config "$config"
    [ -z "$GPU_MATRIX_ONLY" ] || set -- "$@" --only "$GPU_MATRIX_ONLY"
    first=0 count=$GPU_MATRIX_SHARDS
    last=$((${GPU_MATRIX_MOST:-$count} - 1))
    [ -z "$shard" ] || first=${shard%/*} last=${shard%/*} count=${shard#*/}
    started=
    while [ "$first" -le "$last" ]; do
        "$matrix" "$@" --share "$first/$count" >"$log/matrix_$first.txt" 2>"$log/matrix_$first.err" &
        started="$started $!"
        first=$((first + 1))
    done
    trap 'kill $started 2>/dev/null' TERM
    for process in $started; do
        wait "$process"
        code=$?
        while kill -0 "$process" 2>/dev/null; do # the signal ended the wait, not the process
            wait "$process"
            code=$?
        done
        [ $code -eq 0 ] || failed=1
    done
}
section_sanitizer() {
    command -v compute-sanitizer >/dev/null 2>&1 || { echo "  no compute-sanitizer here" >&2; exit 77; }
    compute-sanitizer --tool memcheck qst run matmul $on --m 256 --n 256 --k 256 --runs 1 >"$log/sanitizer.txt" 2>&1
    tail -n 1 "$log/sanitizer.txt" >&2 # it does not see OpenCL: what it says is told, and fails nothing
}

# One section, in a process of its own that the one below gives its time.
if [ -n "$GPU_SECTION" ]; then
    set -f # patterns are those of candidates' names
    own_pocl=
    fresh "$CUDA_CACHE_PATH"
    tune=$GPU_TUNE
    "section_$GPU_SECTION"
    exit $failed
fi

# ---- All of it ------------------------------------------------------------------------------------------------------------
here=$(cd "$(dirname "$0")" && pwd)
usage() { # the head of this file, from its name to its exit codes
    sed -n '/^# gpu.sh/,/^#$/!d; s/^# \{0,1\}//p' "$0"
    sed -n '/^#     gpu.sh/,/^# shellcheck/p' "$0" | sed '/^# shellcheck/d; s/^# \{0,1\}//'
}
small='' only='' skip='' limit='' shard='' device='' platform=NVIDIA
while [ $# -gt 0 ]; do
    case $1 in
    --small) small=yes ;;
    --list) echo "$sections" && exit ;;
    --only | --skip | --limit | --shard | --device | --platform)
        [ $# -gt 1 ] || { echo "gpu.sh: $1 what?" >&2; exit 2; }
        export "${1#--}=$2"
        shift
        ;;
    --help) usage && exit ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
[ -n "$1" ] || { usage >&2; exit 2; }
for name in $(echo "$only,$skip" | tr , ' '); do
    echo "$sections" | grep -q "^$name " || { echo "gpu.sh: no section $name; --list names them" >&2; exit 2; }
done
prefix=$(cd "$1" && pwd) || exit 2
[ -x "$prefix/bin/qst" ] || { echo "gpu.sh: no bin/qst in $prefix: it wants the folder of an installation or of a build" >&2; exit 2; }
case ${2:-} in -*) echo "gpu.sh: options come before the folders: $2" >&2 && exit 2 ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
log=${2:-$work/logs}
mkdir -p "$log" || exit 2
log=$(cd "$log" && pwd)
for path in "$log"/*.json "$log"/*.err "$log"/*.txt; do # but cuBLAS's, which other sections compare with
    [ "$path" = "$log/cublas.json" ] || rm -f "$path"
done
host_libraries=$LD_LIBRARY_PATH
PATH=$prefix/bin:$PATH
LD_LIBRARY_PATH=$prefix/lib:$prefix/lib/x86_64-linux-gnu:$prefix/deps${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
XDG_CONFIG_HOME=$work/config
CUDA_CACHE_PATH=$work/driver # sections share it, but for those that need it empty
mkdir -p "$CUDA_CACHE_PATH"
matrix=${GPU_MATRIX:-}
for path in "$prefix/bin/kernel_matrix" "$prefix/tests/bin/kernel_matrix" "$prefix/../build/tests/bin/kernel_matrix"; do
    [ -n "$matrix" ] || [ ! -x "$path" ] || matrix=$path
done
# A bare host may have NVIDIA's library and no file that tells the loader of it.
library=$(ls /usr/lib/libnvidia-opencl.so.1 /usr/local/nvidia/lib64/libnvidia-opencl.so.1 2>/dev/null | head -n 1)
if [ -z "$OCL_ICD_VENDORS" ] && [ -n "$library" ] && [ ! -e /etc/OpenCL/vendors/nvidia.icd ]; then
    mkdir -p "$work/icd" && echo "$library" >"$work/icd/nvidia.icd"
    export OCL_ICD_VENDORS="$work/icd"
fi
on="${platform:+--platform $platform} ${device:+--device $device}"
sizes
export PATH LD_LIBRARY_PATH XDG_CONFIG_HOME CUDA_CACHE_PATH prefix work log here on matrix host_libraries small shard device \
    platform GPU_SHAPES GPU_SCALED GPU_SAME GPU_RUNS GPU_CLBLAST GPU_RAGGED GPU_REGRET GPU_REGRET_SKIP GPU_RANGE GPU_TUNINGS \
    GPU_LOOKUPS GPU_PAIRS GPU_MATRIX_SHARDS GPU_MATRIX_MOST GPU_MATRIX_ONLY GPU_MATRIX_WHOLE GPU_TUNE
qst devices $on >"$log/devices.txt" 2>&1 || { cat "$log/devices.txt" >&2; exit 2; }
sed -n 1,4p "$log/devices.txt" >&2

: >"$log/sections.txt"
echo "$sections" | while read -r name seconds; do
    case ",$only," in ,, | *",$name,"*) ;; *) continue ;; esac
    case ",$skip," in *",$name,"*) continue ;; esac
    begin=$(date +%s)
    echo "$name, at most ${limit:-$seconds} s" >&2
    GPU_SECTION=$name timeout -k 15 "${limit:-$seconds}" sh "$0" </dev/null
    code=$?
    took=$(($(date +%s) - begin))
    case $code in 0) said='done' ;; 77) said=absent ;; 124 | 137) said=timeout ;; *) said=failed ;; esac
    echo "  $said after $took s" >&2
    echo "$name $said $took" >>"$log/sections.txt"
done
python3 "$here/gpu_table.py" ${small:+--small} "$log" | tee "$log/table.txt"
grep -q ' 0 missed, 0 failed$' "$log/table.txt"
