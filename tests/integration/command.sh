# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# command.sh: what the tests of the command share; to be sourced with the command as $1. Prints a line a check; a script
# ends with `exit $failed`.

set -u
qst=${1:?usage: $0 QST}
case $qst in
/*) ;;
*) qst=$PWD/$qst ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# No configuration but the library's own: neither a file upwards from here nor a variable.
cd "$work" || exit 1
export XDG_CONFIG_HOME="$work"
for variable in $(env | sed -n 's/^\(QST_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done
out=$work/out
err=$work/err
failed=0 # read by who sources this

verdict() { # verdict TRUTH TEXT: 0 is good
    if [ "$1" -eq 0 ]; then
        echo "ok   $2"
    else
        echo "FAIL $2"
        sed 's/^/     | /' "$out" "$err" | head -n 20
        failed=1
    fi
}

# runs CODE ARGUMENT...: runs the command, compares the exit code
runs() {
    code=$1
    shift
    timeout 240 "$qst" "$@" >"$out" 2>"$err" </dev/null
    got=$?
    [ "$got" -eq "$code" ]
    verdict $? "qst $*: exit code $code (got $got)"
}

says() { # a line of the results holds this text
    grep -qF -e "$1" "$out"
    verdict $? "  says: $1"
}

matches() { # a line of the results is of this form
    grep -qE -e "$1" "$out"
    verdict $? "  matches: $1"
}

never() { # no line of the results is of this form
    ! grep -qE -e "$1" "$out"
    verdict $? "  never: $1"
}

# Not understood: exit code 2, nothing on stdout, one line on stderr with this text.
refuses() {
    text=$1
    shift
    runs 2 "$@"
    [ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -qF -e "$text" "$err"
    verdict $? "  one line: $text"
}

json() { # json PYTHON-EXPRESSION over the result j; without Python, braces are all that is looked at
    if command -v python3 >/dev/null 2>&1; then
        python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' \
            "$out" "$1" 2>>"$err"
        verdict $? "  JSON: $1"
    else
        head -c 1 "$out" | grep -q '[[{]'
        verdict $? "  looks like JSON"
    fi
}

# What takes long to build and is not what these tests are about.
# shellcheck disable=SC2034
slow="--deny *x16_* --deny *clblast*"
