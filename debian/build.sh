#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh TO PROFILES [VERSION] - the Debian packages of the last commit, or of an unpacked tarball, in TO; lintian
#
# What is not committed is not in them.
set -eu
cd "$(dirname "$0")/.."
to=${1:?} profiles=${2-} version=${3-}
source=$to/source
rm -rf --one-file-system "$to"
mkdir -p "$source"
to=$(realpath "$to") source=$(realpath "$source")
export LC_ALL=C

if [ -e .git ]; then
	[ -z "$(git status --porcelain)" ] || echo 'What is not committed is not in the packages.'
	git archive HEAD | tar -x -C "$source"
	seconds=$(git log -1 --format=%ct)
else
	tar -c --exclude=./build . | tar -x -C "$source"
	seconds=$(cat debian/commit)
fi
sh debian/changelog.sh "$seconds" $version >"$source/debian/changelog"

cd "$source"
DEB_BUILD_PROFILES=$profiles dpkg-buildpackage -b --no-sign >"$to/build.log" 2>&1 || {
	tail -n 60 "$to/build.log"
	echo "dpkg-buildpackage: $to/build.log"
	exit 1
}
cd "$to"
rm -rf --one-file-system "$source"
ls -- *.deb
lintian --allow-root --display-info --show-overrides --fail-on error,warning quoit_*.changes
