# Sourced by the scripts beside it. `ensure_environment EXTRAS` makes .venv at the root of the
# repository and installs the project into it, editable, unless that has been done already.
#
# Invariant: the stamp file is written last and names the place and the pyproject.toml it was made
# for. So an interrupted installation, a moved folder or a changed pyproject.toml installs again, and
# otherwise nothing but the reading of the stamp happens here.

root=$(cd "$(dirname "$0")/.." && pwd -P)
environment=$root/.venv
python=$environment/bin/python

fail() {
    echo "lasker: $1" >&2
    exit 2
}

# Prints the first Python on the path that is new enough.
find_python() {
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer found on the path; install one, then run this again"
}

# is_installed STAMP WANTED
is_installed() {
    [ -x "$python" ] && [ -r "$1" ] && read -r found <"$1" && [ "$found" = "$2" ]
}

# EXTRAS is "" or a list of extras such as "[test]".
ensure_environment() {
    stamp=$environment/installed$1
    wanted="$root $(cksum <"$root/pyproject.toml")"
    if is_installed "$stamp" "$wanted"; then return; fi
    # One installation at a time, where the system has flock.
    exec 9<"$root"
    if command -v flock >/dev/null; then flock 9; fi
    if is_installed "$stamp" "$wanted"; then return; fi
    # An installation that was cut off may have left half of a package behind.
    unfinished=$environment/unfinished
    if [ -e "$unfinished" ] || ! "$python" -m pip --version >/dev/null 2>&1; then
        base=$(find_python) || exit 2
        echo "lasker: making the environment $environment (first use only)" >&2
        if ! said=$("$base" -m venv --clear "$environment" 2>&1); then
            echo "$said" | tail -n 5 >&2
            fail "$base can't make $environment; it may lack the venv module (python3-venv)"
        fi
    fi
    echo "lasker: installing the project and what it needs (first use only)" >&2
    log=$environment/install.log
    : >"$unfinished"
    if ! "$python" -m pip install --disable-pip-version-check --editable "$root$1" >"$log" 2>&1
    then
        tail -n 5 "$log" >&2
        fail "the installation failed, all of it is in $log; run this again when the cause is gone"
    fi
    echo "$wanted" >"$stamp.new"
    mv "$stamp.new" "$stamp"
    rm "$unfinished"
    exec 9<&-
}
