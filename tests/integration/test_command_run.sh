#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_command_run.sh QST: verbs that tune and run: the reference's experiment, products, explanations, limits.

# shellcheck source=command.sh
. "$(dirname "$0")/command.sh"

# ---- The main job: 208 lives on 240's answer, 250 is its own key ------------------------------------------------

runs 0 shapes 240 208 250 --deny '*x16_*'
matches '^ *240x240 first: .* outside builds [0-9.]+ m?s  launches=[0-9]+ \[candidate=[0-9]+, verify=[0-9]+.*\] tuned winner matmul\.'
matches '^ *208x208 first: .* launches=1 \[candidate=1.*\] known winner matmul\.'
matches '^ *250x250 first: .* tuned winner matmul\.'
matches '^ *250x250 next 20: min .* median .* launches=20 \[candidate=20\]$'
never 'wrong'
runs 0 shapes 33x65x129 48T 640 --pin '*naive*' --json
json '[s["right"] for s in j["shapes"]] == [True] * 3 and j["cache"] == "cold"'
json 'all(s["winner"].startswith("matmul.naive.") for s in j["shapes"])'
json 'all(s["launches"]["total"] == sum(v for k, v in s["launches"].items() if k not in ("total", "kernels")) for s in j["shapes"])'
json 'all(s["next"]["runs"] == 20 and s["next"]["min_ms"] <= s["next"]["median_ms"] for s in j["shapes"])'
json 'j["device"]["target"] and all(s["tuned"] for s in j["shapes"])'
json 'all(s["wait_ms"] > 0 and s["outside_ms"] >= s["probe_ms"] + s["verify_ms"] + s["sample_ms"] for s in j["shapes"])'
json 'all(abs(s["first_ms"] - s["wait_ms"] - s["outside_ms"]) < 1e-3 for s in j["shapes"])'

# ---- run: views, scalars, nothing to compute, pinned candidates -------------------------------------------------

matmul() {
    runs 0 run matmul --runs 2 --deny '*x16_*' --deny '*clblast*' "$@"
    matches '^check: +right'
    never 'wrong'
}
matmul --m 333 --n 65 --k 129
matmul --m 33 --n 65 --k 29 --lda 31 --ldb 70 --ldc 67 --offset-a 1 --offset-b 3 --offset-c 5
matmul --m 17 --n 31 --k 29 --transa --transb --colmajor-c --ldc 20 --alpha -1.5 --beta 0.5
matmul --m 17 --n 31 --k 29 --ta --tb
matmul --m 7 --n 9 --k 11 --batch 5 --broadcast a --dtype f64
matmul --m 5 --n 6 --k 0 --beta 2
says 'trivial'
matmul --m 5 --n 6 --k 7 --alpha 0 --beta 3
matmul --m 0 --n 6 --k 7
says 'none'
# A scalar that a candidate cannot take is in its way there, and not in that of the key's other problems.
matmul --m 30 --n 40 --k 300 --alpha 1e20 --pin 'matmul.cpu_gemm.6x4_k128/*' --pin 'matmul.naive.*'
matches '^winner: +matmul\.naive\.'
matmul --m 30 --n 40 --k 300 --pin 'matmul.cpu_gemm.6x4_k128/*' --pin 'matmul.naive.*'
matches '^winner: +matmul\.cpu_gemm\.6x4_k128/'
# Nor where it is in the way of all that may run.
matmul --m 30 --n 40 --k 500 --alpha 1e20 --pin 'matmul.cpu_gemm.6x4_k128/*'
matches '^winner: +matmul\.naive\.'
matmul --m 30 --n 40 --k 500 --pin 'matmul.cpu_gemm.6x4_k128/*'
matches '^winner: +matmul\.cpu_gemm\.6x4_k128/'
matmul --m 33 --n 20 --k 31 --batch 3 --broadcast b --scaled --same
refuses '--same: with beta 1' run matmul --m 3 --n 4 --k 5 --same --beta 1
refuses '--scaled: 2^40 is no f16' run matmul --m 3 --n 4 --k 5 --scaled --dtype f16
runs 0 run matmul --m 40 --n 50 --k 60 --pin 'matmul.naive*' --json
json 'len(j["digest"]) == 16 and j["same"]'
json 'j["right"] and j["winner"].startswith("matmul.naive.") and j["pinned"][0]["name"] == j["winner"]'
json '0 < j["error_of_bound"] <= 1 and j["outside_untouched"] and j["inputs_untouched"]'
runs 1 run matmul --m 16 --n 16 --k 16 --pin nobody
says 'pinned:  nobody: no candidate of such a name'
runs 0 run matmul --m 24 --n 24 --k 24 --pin 'matmul.naive*' --set tune.mode=background --json
json 'j["right"] and j["pinned"][0]["name"] == j["winner"] and j["pinned"][0]["outcome"] in ("TIMED", "VERIFIED")'
runs 0 run matmul --m 40 --n 24 --k 24 --pin 'matmul.naive*' --set tune.mode=fallback
says 'nothing is known: it could not be tuned, or tune.mode lets nothing be tuned'
runs 1 run matmul --m 8 --n 8 --k 8 --dtype f32 --dtype-c f16 --json # at once: nothing is built
[ "$(wc -l <"$err")" -eq 1 ] && grep -q 'no candidate computes m=8 n=8 k=8 a=f32,.* c=f16,' "$err"
verdict $? '  one line: the types that nobody computes'
runs 1 run matmul --m 8 --n 8 --k 8 --dtype f16 --dtype-c f64
grep -q 'no candidate computes m=8 n=8 k=8 a=f16,.* c=f64,' "$err" && ! grep -q 'right result' "$err"
verdict $? '  names the types that nobody computes'
if "$qst" plugins | grep -q '^clblast .* started'; then
    runs 0 run matmul --m 16 --n 16 --k 16 --pin '*clblast*' --set plugin.clblast.library=/nonexistent/lib.so
    matches '^pinned: +matmul\.clblast\..*: .*/nonexistent/lib\.so'
    says 'winner:  matmul.naive.'
fi

# ---- explain ----------------------------------------------------------------------------------------------------

runs 0 explain 48 'matmul m=48 n=48 k=48' --deny '*x16_*'
matches '^round 1:$'
matches '^winner matmul\.'
matches '^  because: '
matches '^key +m=64 n=64 k=64 '
[ "$(grep -c '^key ' "$out")" -eq 2 ] && [ "$(grep '^key ' "$out" | sort -u | wc -l)" -eq 1 ]
verdict $? '  a size and its text have one key'
runs 0 explain 48 --deny '*x16_*' --all
if "$qst" plugins --all 2>/dev/null | grep -q 'x16_'; then
    matches '^  refused: .*:.*x16_'
fi
never ' \([0-9]+\)$'
runs 0 explain 48 --deny '*x16_*'
says 'matmul.gemv.* ('

runs 0 explain 48 --pin '*naive*' --json --set store.environment=pinned
json 'j["winner"].startswith("matmul.naive.") and j["runs"] == j["winner"] and j["findings"]'
runs 0 explain 'matmul m=0 n=3 k=3'
matches '^runs +none: nothing to choose here'
# Broadcast along k there is nothing to scale badly: judged by whole numbers and the bound alone.
for one in 'a=f32,1,0' 'b=f32,0,1' 'a=f32,0,0 b=f32,0,0' 'a=f64,1,0 b=f64,16,1 c=f64,16,1'; do
    runs 0 explain "matmul m=16 n=16 k=16 $one" --deny '*x16_*' --deny '*clblast*' --set tune.max_samples=3
    matches '^winner matmul\.'
done
# A pin is not measured by who is not pinned, whatever was found before.
if "$qst" plugins --all | grep -q '^cblas .* started'; then
    runs 0 run matmul --m 3 --n 5 --k 7 --pin '*naive*' --set store.environment=pins
    runs 0 run matmul --m 3 --n 5 --k 7 --pin '*cblas*' --set store.environment=pins
    says 'winner:  matmul.cblas.'
fi
runs 0 run matmul --m 3 --n 5 --k 7 --deny '*unit*' --set store.environment=pins
runs 0 run matmul --m 3 --n 5 --k 7 --pin 'matmul.unit.32x64x32_4x4/*' --set store.environment=pins
says 'winner:  matmul.unit.'

# ---- What is not tuned, and keys of many names ---------------------------------------------------------------------

runs 1 tune --sizes 26 --set tune.mode=fallback
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF 'not tuned: another process is tuning it, or tune.mode' "$err"
verdict $? '  one line: why there is no answer'
runs 2 config --set "$(printf 'a.%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)a=1"
grep -qF 'a: unknown key' "$err"
verdict $? '  a key of forty names is an unknown key'

# ---- What the device cannot hold -----------------------------------------------------------------------------------

runs 1 run matmul --m 65536 --n 65536 --k 1 --batch 100000
[ "$(wc -l <"$err")" -eq 1 ] && grep -qE "^qst: run matmul: [abc] takes [0-9.e+]+ MB, over the device.s largest buffer" "$err"
verdict $? '  one line: more than the device holds'

exit $failed
