# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# prepare.sh, read by try.sh and test.sh: Debian packages by name, and a configured and built folder.

# The variables of the caller that would change what is shown or tested.
unset QST_CONFIG QST_LOG QST_PLUGIN_PATH QST_MODE QST_ENVIRONMENT QST_AUTOTUNE_CACHE QST_AUTOTUNE_LEVEL \
    QST_THROUGHPUT_CACHE QST_PIN QST_DENY

say() {
    echo "quernstone: $*" >&2
}

# The packages of the list that are not installed.
absent() {
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
    done
}

# Without dpkg, or where packages may not be installed, what counts is that the thing itself is there.
unusable() {
    for tool in cmake ninja pkg-config cc; do
        command -v $tool >/dev/null 2>&1 || printf '%s ' $tool
    done
    if command -v pkg-config >/dev/null 2>&1; then
        for module; do
            pkg-config --exists "$module" || printf '%s ' "$module"
        done
    fi
}

# need_packages "<package>..." "<pkg-config module>...": installs what is missing, or says in one line what it is.
need_packages() {
    missing=
    if command -v dpkg-query >/dev/null 2>&1; then
        # shellcheck disable=SC2086
        missing=$(absent $1)
        if [ -z "$missing" ]; then
            return 0
        fi
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
            say "installing $missing"
            mkdir -p build
            # shellcheck disable=SC2086
            if (apt-get update -qq && install_packages $missing) >build/apt.log 2>&1; then
                return 0
            fi
            say "apt-get failed: $(tail -n 1 build/apt.log) (all of it: build/apt.log)"
        fi
    fi
    # shellcheck disable=SC2086
    tools=$(unusable $2)
    if [ -n "$tools" ]; then
        say "missing: ${tools% }; as root: apt-get install ${missing:-$1}"
        exit 1
    fi
}

install_packages() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Nice to have: nothing is said when it cannot be had.
want_packages() {
    # shellcheck disable=SC2046
    if command -v dpkg-query >/dev/null 2>&1 && [ -n "$(absent "$@")" ] && [ "$(id -u)" = 0 ]; then
        install_packages $(absent "$@") >/dev/null 2>&1 || true
    fi
}

# configure <folder> <cmake option>...: quiet unless it fails. A folder made for another checkout is made anew.
configure() {
    folder=$1
    shift
    made_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null)
    if [ -n "$made_for" ] && [ "$made_for" != "$(pwd -P)" ] && [ "$made_for" != "$(pwd)" ]; then
        rm -rf "$folder"
    fi
    mkdir -p "$folder"
    say "configuring $folder"
    cmake -S . -B "$folder" -G Ninja "$@" >"$folder/configure.log" 2>&1 || {
        tail -n 30 "$folder/configure.log" >&2
        say "configuring failed: $folder/configure.log"
        return 1
    }
}

# build <folder> <ninja option>...
build() {
    folder=$1
    shift
    say "building $folder"
    ninja -C "$folder" "$@" >"$folder/build.log" 2>&1 || {
        grep -E -A 8 'error|FAILED|undefined' "$folder/build.log" | head -n 80 >&2
        say "building failed: $folder/build.log"
        return 1
    }
}
