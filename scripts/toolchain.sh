#!/bin/sh
# Print the Python to build with, or say in one sentence what is missing and how to get it.
# usage: toolchain.sh [preferred-python]
set -eu

fail() {
    printf 'penstock: %s\n' "$1" >&2
    exit 1
}

runs_python() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

python=
for candidate in "${1:-python3}" python3.14 python3.13 python3.12 python3.11; do
    if command -v "$candidate" >/dev/null 2>&1 && runs_python "$candidate"; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] ||
    fail 'Python 3.11 or newer is needed; install it, or name one with `make PYTHON=/path/to/python3`.'
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python cannot create virtual environments; install its venv package (Debian: apt install python3-venv)."

command -v cargo >/dev/null 2>&1 ||
    fail 'cargo is needed to build the kernel; install Rust 1.88 or newer with rustup (https://rustup.rs) and open a new shell.'
version=$(cargo --version 2>/dev/null | cut -d ' ' -f 2)
major=${version%%.*}
minor=${version#*.}
minor=${minor%%.*}
case $major$minor in
'' | *[!0-9]*) fail 'cargo does not run; repair it with `rustup update`.' ;;
esac
[ "$major" -gt 1 ] || [ "$minor" -ge 88 ] ||
    fail "cargo $version is too old for the kernel; get Rust 1.88 or newer with \`rustup update\`."
command -v cc >/dev/null 2>&1 ||
    fail 'a C linker (cc) is needed to link the kernel; install gcc or clang (Debian: apt install gcc; macOS: xcode-select --install).'

printf '%s\n' "$python"
