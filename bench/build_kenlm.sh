#!/bin/sh
# Builds KenLM's programs lmplz, build_binary and query from its PyPI source package into <folder>/bin.
#
#     bench/build_kenlm.sh <folder>
#
# Needs cmake, a C++ compiler and, on Debian: libboost-program-options-dev libboost-system-dev
# libboost-thread-dev libboost-test-dev zlib1g-dev libbz2-dev liblzma-dev. PYTHON names the interpreter whose pip fetches.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 <folder>" >&2; exit 2; }
command -v cmake >/dev/null || { echo "$0: cmake is missing; install it and try again" >&2; exit 1; }

mkdir -p "$1"
cd "$1"
[ -f kenlm-0.3.0.tar.gz ] || "${PYTHON:-python3}" -m pip download --quiet --no-binary kenlm --no-deps kenlm==0.3.0
tar -xzf kenlm-0.3.0.tar.gz
# The package's old minimum version is refused by cmake 4 unless a policy floor is given.
cmake -S kenlm-0.3.0 -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5
cmake --build build --target lmplz build_binary query --parallel 2
mkdir -p bin
cp build/bin/lmplz build/bin/build_binary build/bin/query bin/
