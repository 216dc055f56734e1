#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_command_stop.sh QST: told to end by a signal, the command tells what it found so far and dies by that signal; the
# candidate that is tried comes to its end before that, so that none counts as one at which a process died.

# shellcheck source=command.sh
. "$(dirname "$0")/command.sh"

# Each size is a key of its own, so that what is told to end has much to do.
few='--level full --pin matmul.naive.* --pin matmul.unit.m*'
export XDG_CACHE_HOME="$work/cache"
pipe=$work/pipe
mkfifo "$pipe"
set -f

# told SIGNALS TEXT ARGUMENT...: tells the command to end after a line with this text, of its results, or where TEXT is !TEXT
# of what it logs. What it wrote afterwards is in $out, $err; $got is its exit code. In the background a shell has its jobs
# ignore SIGINT, and nohup(1) SIGHUP, hence env.
told() {
    with=$1 text=$2
    shift 2
    : >"$out"
    : >"$err"
    case $text in
    !*) env --default-signal=HUP,INT,TERM "$qst" "$@" >"$out" 2>"$pipe" & rest=$err text=${text#!} ;;
    *) env --default-signal=HUP,INT,TERM "$qst" "$@" >"$pipe" 2>"$err" & rest=$out ;;
    esac
    told=$!
    {
        while read -r line; do
            echo "$line" >>"$rest"
            case $line in *"$text"*) break ;; esac
        done
        for each in $with; do
            kill "-$each" $told
        done
        cat >>"$rest"
    } <"$pipe"
    wait $told
    got=$?
}

# ends CODE LINE: what `told` told died so, and said so; LINE is an extended regular expression
ends() {
    [ $got -eq "$1" ] && grep -qE -e "$2" "$err"
    verdict $? "told to end: exit code $1 (got $got), $2"
}

# ends_or_was_done CODE LINE RESULT: where it was done before the signal came nothing is said, and the result is whole
ends_or_was_done() {
    if grep -q SIG "$err"; then
        ends "$1" "$2"
    else
        [ $got -eq 0 ] || [ $got -eq "$1" ]
        verdict $? "done before it was told to end: exit code 0, or $1 as it leaves (got $got)"
        matches "$3"
    fi
}

# ---- While keys are tuned ---------------------------------------------------------------------------------------

for signal in 2:INT 15:TERM 1:HUP; do
    # shellcheck disable=SC2086
    told "${signal#*:}" ' ' tune --sizes "$(seq -s , 16 400)" $few
    ends $((128 + ${signal%:*})) \
        "^qst: tune: ended by SIG${signal#*:} after $(wc -l <"$out") of 385 problems; what was found is kept"
done
runs 0 cache ls --table quarantine
never ' (suspect|watched|quarantined) '
# shellcheck disable=SC2086
runs 0 tune --sizes 16 $few
matches '^known '
# timeout(1) sends its signal twice: that is once.
told 'TERM TERM' '! built in ' tune --sizes "$(seq -s , 700 900)" --level full --pin 'matmul.naive.*' --set log=debug,cl
ends 143 '^qst: tune: ended by SIGTERM after [0-9]+ of 201 problems'
runs 0 cache ls --table quarantine
never ' (suspect|watched|quarantined) '
# The first candidate, and the only one, which takes its time: it comes to its end.
told TERM '! built in ' tune 1500 --pin 'matmul.naive.*' --set log=debug,cl
ends_or_was_done 143 '^qst: tune: ended by SIGTERM after [01] of 1 problems; what was found is kept' '^tuned '
runs 0 cache ls --table quarantine
never ' (suspect|watched|quarantined) '
# What is told in JSON is whole.
# shellcheck disable=SC2086
told TERM '! built in ' tune --json --sizes "$(seq -s , 401 600)" $few --set log=debug,cl
ends 143 '^qst: tune: ended by SIGTERM after [0-9]+ of 200 problems'
json "len(j) == $(sed -n 's/.* after \([0-9]*\) of .*/\1/p' "$err")"

# Nor is it torn, or told twice, where the signal comes while it is written: more of it than a pipe takes.
# shellcheck disable=SC2046,SC2086
told TERM '[' tune --json $(yes 16 | head -n 500) $few
[ $got -eq 0 ] || [ $got -eq 143 ]
verdict $? "told to end while it tells: exit code 0, or 143 as it leaves (got $got)"
json 'len(j) == 500'

# shellcheck disable=SC2046
told INT '64x64 next' shapes 64 $(seq 301 600) --level full --pin 'matmul.naive.*'
ends 130 '^qst: shapes: ended by SIGINT after [0-9]+ of 301 shapes; what was found is kept'
# shellcheck disable=SC2046
told TERM winner explain 64 $(seq 601 900) --level full --pin 'matmul.naive.*'
ends 143 '^qst: explain: ended by SIGTERM after [0-9]+ of 301 problems; what was found is kept'

# The last candidate of the last problem: whoever says that it ends, dies by the signal.
told TERM '! built in ' tune 1000 --pin 'matmul.naive.*' --set log=debug,cl
ends_or_was_done 143 '^qst: tune: ended by SIGTERM after [01] of 1 problems' '^tuned '

# A signal that is ignored stays so.
env --ignore-signal=HUP "$qst" tune 601 --pin 'matmul.naive.*' --set log=debug,cl >"$out" 2>"$pipe" &
told=$!
{
    while read -r line; do
        case $line in *' built in '*) break ;; esac
    done
    kill -HUP $told
    cat >"$err"
} <"$pipe"
wait $told
got=$?
[ $got -eq 0 ]
verdict $? "SIGHUP is ignored: exit code 0 (got $got)"
matches '^tuned '

# Who waits for another process, which is stopped for good, ends all the same.
mkfifo "$work/holder"
"$qst" tune 602 --pin 'matmul.naive.*' --set log=debug,cl >"$work/held" 2>"$work/holder" &
holder=$!
{
    while read -r line; do
        case $line in *' built in '*) break ;; esac
    done
    kill -STOP $holder
    told TERM 'known ' tune 601,602 --pin 'matmul.naive.*'
    kill -KILL $holder
} <"$work/holder"
wait $holder
ends 143 '^qst: tune: ended by SIGTERM after 1 of 2 problems'

# ---- The measurements -------------------------------------------------------------------------------------------

told TERM quernstone bench matmul --random 1000 --range 16..24 --rounds 1 --pin 'matmul.naive.*'
ends 143 "^qst: bench matmul: ended by SIGTERM after $(grep -c '^ *quernstone ' "$out") of 1000 problems$"
# shellcheck disable=SC2086
told INT matmul. bench tunings --keys 1000 --times 1 --range 16..40 $few
ends 130 '^qst: bench tunings: ended by SIGINT after [0-9]+ of 1000 keys$'
matches '^[0-9]+ tunings: '
# The first line of the log is written before there is a device.
told TERM '!' bench verify --set 'candidates.pin=["matmul.naive.*"]' --set log=debug
ends 143 '^qst: bench verify: ended by SIGTERM after 0 of 3 squares$'
told TERM 256x256: bench verify --set 'candidates.pin=["matmul.naive.*"]'
ends_or_was_done 143 '^qst: bench verify: ended by SIGTERM after [12] of 3 squares$' '^1024x1024: '
# Rounds of it are told of on a terminal alone: the pinned candidate's build is when it is under way, and it lasts for hours.
told TERM '! built in ' bench lookup --batches 100000 --size 1024 --set log=debug,cl
ends 143 '^qst: bench lookup: ended by SIGTERM after [0-9]+ of 100000 rounds$'
rounds=$(sed -n 's/.*after \([0-9]*\) of .*/\1/p' "$err")
[ "$(grep -c ' median ' "$out")" -eq "$([ "${rounds:-0}" -gt 0 ] && echo 3 || echo 0)" ]
verdict $? "  what $rounds rounds gave"
# Folders and processes of its own go with it. Each of these lasts for minutes.
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR"
for kind in 'first --pairs 10000 --size 16:of 10000 pairs' 'store:of 3 stores'; do
    # shellcheck disable=SC2086
    env --default-signal=TERM "$qst" bench ${kind%:*} >"$out" 2>"$err" &
    told=$!
    until [ "$(ls "$TMPDIR")" ]; do kill -0 $told || break; done
    kill -TERM $told
    wait $told
    got=$?
    ends 143 "^qst: bench ${kind%%[: ]*}: ended by SIGTERM after [0-9]+ ${kind#*:}$"
    [ -z "$(ls "$TMPDIR")" ]
    verdict $? '  nothing is left'
done

exit $failed
