#!/bin/sh
# SPDX-License-Identifier: MIT
# gpu_bundle.sh BUILD FOLDER - collect all that check-gpu and bench-gpu need, for a machine without
# our libraries
#
# There, run sh FOLDER/tests/gpu_first.sh [RESULTS [SECONDS]] for the first minutes, figures first,
# and sh FOLDER/run.sh [RESULTS] for everything.  They need an NVIDIA driver, cuBLAS for speed, and
# no network.
set -eu
cd "$(dirname "$0")/.."
b=${1:-build}
to=${2:-$b/gpu-bundle}
make -j2 --no-print-directory B="$b" all gpu-tests gpu-e2e "$b/anatomy"
[ -e "$b/quoit-cuda.so" ] || {
	echo 'gpu_bundle.sh: quoit-cuda.so was not built: there is nothing to carry' >&2
	exit 1
}
rm -rf "$to"
mkdir -p "$to/build/examples" "$to/build/tests/gpu" "$to/build/tests/e2e" "$to/lib" "$to/tests"
cp "$b/quoit" "$b/quoitd" "$b/quoit-exec" "$b/quoit-peer" "$b/quoit-peer-cuda" "$b/quoit-cuda.so" "$b/anatomy" "$to/build"
cp "$b"/examples/w1_queue "$b"/examples/w1_adds "$b"/examples/w1_train "$b"/examples/w1_window "$b"/examples/w1_both "$b"/examples/stencil "$b"/examples/stencil.ptx "$to/build/examples"
for program in "$b"/tests/gpu/test_*; do
	case $program in
	*.o | *.d) ;;
	*) cp "$program" "$to/build/tests/gpu" ;;
	esac
done
# shellcheck disable=SC2046 # a list of names
cp $(make --no-print-directory B="$b" gpu-e2e-list) "$b/tests/e2e/own.ptx" "$to/build/tests/e2e"
cp tests/gpu.sh tests/gpu_first.sh tests/demo.sh tests/bench_gpu.sh "$to/tests"
mkdir "$to/tests/bench"
cp tests/bench/verdict.sh tests/bench/w1.sh tests/bench/w1_torch.py "$to/tests/bench"
find "$to/build" -type f ! -name '*.ptx' -exec strip -g {} +
# All libraries that they link, except the C library, which any newer machine has.
find "$to/build" -type f ! -name "*.ptx" -exec ldd {} + 2>/dev/null | awk '/=> \// { print $3 }' | sort -u |
	grep -vE '/(libc|libm|libpthread|libdl|librt|libresolv|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$to/lib"
cat >"$to/run.sh" <<'END'
#!/bin/sh
# run.sh [RESULTS] - run bench-gpu, whose figures go into the folder RESULTS, then check-gpu
cd "$(dirname "$0")" || exit 1
results=${1:-.}
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$PWD/lib" # the machine's own come first
sh tests/bench_gpu.sh build "$results/bench-gpu.json" --as-built
figures=$?
sh tests/gpu.sh build --as-built
status=$?
[ $status -ne 77 ] || exit 77
[ $figures -eq 0 ] || status=1
exit $status
END
du -sh "$to" | cut -f1
