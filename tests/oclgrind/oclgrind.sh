#!/bin/sh
# SPDX-License-Identifier: MIT
#
# oclgrind.sh [--quick] SMALL QST: runs every kernel at a small odd shape in the simulator oclgrind, which reports
# accesses outside of buffers, data races and diverging barriers; there must be no report, and the products right.
# SMALL, the program oclgrind_small, runs candidates and probes by themselves; QST runs one problem through the
# library, with its judge. --quick: one or two candidates of each family. `oclgrind_small NAME` without the simulator is
# the same program on the device. Exit code 77: there is no oclgrind.
set -u

quick=
if [ "${1:-}" = --quick ]; then
    quick=yes
    shift
fi
small=${1:?usage: oclgrind.sh [--quick] SMALL QST}
qst=${2:?usage: oclgrind.sh [--quick] SMALL QST}
command -v oclgrind >/dev/null 2>&1 || {
    echo "skipped: oclgrind is not installed"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# under NAME COMMAND...: in the simulator. Its local memory is 32 KB by default, less than some candidates need. It
# aborts on LLVM's `freeze`, which optimisation brings. Use of uninitialised values is not asked for: release 21.10 reports
# values that are not.
under() {
    name=$1
    shift
    oclgrind --data-races --local-mem-size 786432 --build-options -cl-opt-disable --log "$work/report" "$@" \
        >"$work/out" 2>&1
    code=$?
    if [ $code -ne 0 ]; then
        echo "FAIL $name: exit code $code"
        tail -n 20 "$work/out" | sed 's/^/     | /'
        failed=1
    fi
    if [ -s "$work/report" ]; then
        echo "FAIL $name: reported"
        head -n 60 "$work/report" | sed 's/^/     | /'
        failed=1
    elif [ $code -eq 0 ]; then
        echo "ok   $name: $(grep -c -E ' k=|^probe\.' "$work/out") runs"
        grep 'cannot run here' "$work/out" | sed 's/^/     | /'
    fi
    rm -f "$work/report"
}

run() { # run OPTION...: one problem, every candidate but the fallback denied
    under "qst run $*" "$qst" run matmul --m 19 --n 37 --k 21 --runs 1 --pin 'matmul.naive.*' \
        --set store.backend=memory "$@"
}

export XDG_CACHE_HOME="$work/cache" XDG_CONFIG_HOME="$work/config"
if [ -n "$quick" ]; then
    under "one of each family" "$small" 'naive.*' tiled.32x32x16_4x4 tiled.splitk4_64x64x16_4x4 cpu_gemm.6x4_k256 \
        cpu_gemm.8x3_k192_ab_rows2 cpu_gemm.24x1_k128_a cpu_gemm.24x1_k128_ab_rows1 gemv.dot_4x2 gemv.strip_4 \
        gemv.sweep_4 gemv.group64_dot gemv.group32x8_cols gemv.outer unit.min double_unit.min 'probe.*'
    run
else
    under "all candidates" "$small"
    run
    run --beta 0.5 --transa --transb
    run --dtype f64 --numerics strict
    run --alpha 0 --beta 0.5
fi
exit $failed
