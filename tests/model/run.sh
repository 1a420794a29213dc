#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh - verify the ring: Spin models, and the shipped ring.h under every schedule
#
# Usage: run.sh.  It prints one line per check, then "N passed, N failed, N skipped".  Exit status
# 1: one failed.  CC is the compiler; TMPDIR holds the builds, and is left as it was.
#
# Each seeded mistake is a check of its own, which passes when the mistake is found: a check that
# cannot fail proves nothing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
include=$here/../../libclient/include
CC=${CC:-gcc}

# spin MODEL holds|fails [-DMISTAKE...]
spin_checks='
spin ring.pml holds
spin ring.pml holds -DARM
spin ring.pml holds -DCLEAR_FIRST
spin ring.pml holds -DSTARVED_SLEEP -DREAP_KICK
spin ring.pml fails -DNO_FENCE_CLIENT
spin ring.pml fails -DNO_FENCE_DAEMON
spin ring.pml fails -DNO_RECHECK
spin ring.pml fails -DCLEAR_BEFORE_DRAIN
spin ring.pml fails -DRUNG_ONCE_FOR_ALL
spin ring.pml fails -DPUBLISH_FIRST
spin ring.pml fails -DRELEASE_FIRST
spin ring.pml fails -DNO_FENCE_POST
spin ring.pml fails -DNO_FENCE_WAIT
spin ring.pml fails -DNO_COMPARE
spin ring.pml fails -DARM -DNO_FENCE_POST
spin ring.pml fails -DARM -DNO_FENCE_WAIT
spin ring.pml fails -DSTARVED_SLEEP
spin ring.pml fails -DSTARVED_SLEEP -DREAP_KICK -DNO_FENCE_REAP
spin hostile.pml holds
spin hostile.pml fails -DNO_RANGE_CHECK
spin hostile.pml fails -DNO_HEAD_CHECK
spin hostile.pml fails -DREREAD_TAIL
spin hostile.pml fails -DDOUBLE_FETCH
spin hostile.pml fails -DNO_CREDIT
spin death.pml holds
spin death.pml fails -DPUBLISH_FIRST
spin death.pml fails -DFILL_LAST'

# use SCENARIO holds|fails [-DMISTAKE]: mistakes in how ring.h is used
# cut SCENARIO MISTAKE: mistakes in ring.h, see mutate
explore_checks='
use doorbell holds
use futex holds
use descriptor holds
use transfer holds
use death holds
use line holds
use line-doorbell holds
use line-futex holds
use line-descriptor holds
use line-death holds
use hostile-producer holds
use hostile-line holds
use hostile-consumer holds
use hostile-reserve holds
use transfer fails -DPUBLISH_FIRST
use transfer fails -DRELEASE_FIRST
use death fails -DPUBLISH_FIRST
use line fails -DPUBLISH_FIRST
use line-death fails -DPUBLISH_FIRST
use line fails -DRELEASE_FIRST
use hostile-line fails -DNO_RANGE_CHECK
use hostile-line fails -DREREAD_TAIL
use doorbell fails -DSLEEP_UNASKED
use doorbell fails -DCLEAR_BEFORE_DRAIN
use futex fails -DNO_COMPARE
use descriptor fails -DARM_RELAXED
use hostile-producer fails -DNO_RANGE_CHECK
use hostile-producer fails -DREREAD_TAIL
use hostile-producer fails -DDOUBLE_FETCH
use hostile-consumer fails -DNO_CREDIT
cut transfer R1-relaxed
cut transfer A1-relaxed
cut transfer R2-relaxed
cut transfer A2-relaxed
cut line R3-relaxed
cut line A3-relaxed
cut line line-not-emptied
cut line line-emptied-relaxed
cut line line-not-looked-at-again
cut line carried-for-any-index
cut hostile-line upper-half-carried
cut line-doorbell line-W1-store-release
cut line-futex line-W1-store-release
cut line-doorbell W1-load-acquire
cut line-futex W2-store-release
cut doorbell W1-store-release
cut doorbell W1-load-acquire
cut doorbell W2-store-release
cut doorbell W2-load-acquire
cut futex W1-store-release
cut futex W1-load-acquire
cut futex W2-store-release
cut doorbell rung-once-for-all
cut line-doorbell rung-once-for-all
cut doorbell rung-while-head-stands
cut doorbell rung-by-a-stale-head
cut doorbell no-recheck
cut doorbell flag-not-raised
cut transfer full-ring-reserved
cut transfer indices-compared-by-size
cut hostile-consumer head-believed
cut hostile-reserve unpublished-counts-as-free'

# The sed program that makes a mistake in a copy of ring.h.
mutate() {
	case $1 in
	R1-relaxed) echo 's/(p->tail, p->next, QUOIT_RING_RELEASE)/(p->tail, p->next, QUOIT_RING_RELAXED)/' ;;
	A1-relaxed) echo 's/QUOIT_RING_TAIL(c, QUOIT_RING_ACQUIRE)/QUOIT_RING_TAIL(c, QUOIT_RING_RELAXED)/' ;;
	R2-relaxed) echo 's/(c->head, c->next, QUOIT_RING_RELEASE)/(c->head, c->next, QUOIT_RING_RELAXED)/' ;;
	A2-relaxed) echo 's/(p->head, QUOIT_RING_ACQUIRE)/(p->head, QUOIT_RING_RELAXED)/' ;;
	R3-relaxed) echo 's/(&line\[i\], item\[i\], QUOIT_RING_RELEASE)/(\&line[i], item[i], QUOIT_RING_RELAXED)/' ;;
	A3-relaxed) echo 's/(&line\[i\], QUOIT_RING_ACQUIRE)/(\&line[i], QUOIT_RING_RELAXED)/' ;;
	line-not-emptied) echo '/(uint64_t)p->published << 32/d' ;;
	line-emptied-relaxed) echo 's/(uint64_t)p->published << 32, QUOIT_RING_RELEASE/(uint64_t)p->published << 32, QUOIT_RING_RELAXED/' ;;
	line-not-looked-at-again) echo 's/return QUOIT_RING_LOAD(&line\[0\], QUOIT_RING_RELAXED) == first/return true/' ;;
	carried-for-any-index) echo 's/ || (uint32_t)(first >> 32) - c->next != 1)/)/' ;;
	upper-half-carried) echo 's/to\[0\] = ~(uint32_t)first;/to[0] = ~first;/' ;;
	line-W1-store-release) echo 's/(&line\[0\], tail, QUOIT_RING_SEQ_CST)/(\&line[0], tail, QUOIT_RING_RELEASE)/' ;;
	W1-store-release) echo 's/(p->tail, p->next, QUOIT_RING_SEQ_CST)/(p->tail, p->next, QUOIT_RING_RELEASE)/' ;;
	W1-load-acquire) echo 's/(need_wake, QUOIT_RING_SEQ_CST)/(need_wake, QUOIT_RING_ACQUIRE)/' ;;
	W2-store-release) echo 's/(need_wake, 1u, QUOIT_RING_SEQ_CST)/(need_wake, 1u, QUOIT_RING_RELEASE)/' ;;
	W2-load-acquire) echo 's/QUOIT_RING_TAIL(c, QUOIT_RING_SEQ_CST)/QUOIT_RING_TAIL(c, QUOIT_RING_ACQUIRE)/' ;;
	rung-once-for-all) echo 's/return !p->rung || .*/return !p->rung;/' ;;
	rung-while-head-stands) echo 's/p->rung_for = p->published;/p->rung_for = QUOIT_RING_LOAD(p->head, QUOIT_RING_RELAXED) + 1;/' ;;
	rung-by-a-stale-head) echo 's/head = QUOIT_RING_LOAD(p->head, QUOIT_RING_RELAXED);/head = p->cached_head;/' ;;
	no-recheck) echo 's/return c->cached_tail == c->next;/return true;/' ;;
	flag-not-raised) echo 's/(need_wake, 1u, /(need_wake, 0u, /' ;;
	full-ring-reserved) echo 's/if (quoit_ring_space(p) == 0 && .*/if (false)/' ;;
	indices-compared-by-size) echo 's/if (head - p->cached_head > .*/if (head < p->cached_head || head > p->published)/' ;;
	head-believed) echo 's/if (head - p->cached_head > .*/if (false)/' ;;
	unpublished-counts-as-free) echo 's/> p->published - p->cached_head/> p->next - p->cached_head/' ;;
	esac
}

# Spin's verdict on a model in the current folder: "holds", "fails", or why there is none.
spin_verdict() {
	model=$1
	shift
	if ! spin -a "$@" "$here/$model" >spin.out 2>&1 ||
		! $CC -w -O1 -DSAFETY -DMEMLIM=1024 -o pan pan.c; then
		echo "does not compile"
		return
	fi
	./pan -m200000 >pan.out 2>&1
	if grep -q 'max search depth too small\|reached -DMEMLIM' pan.out; then
		echo "was cut off"
	elif grep -q 'errors: 0$' pan.out; then
		echo holds
	else
		echo fails
	fi
}

# explore_verdict INCLUDE SCENARIO [-DMISTAKE]
explore_verdict() {
	first=$1
	scenario=$2
	shift 2
	$CC -std=gnu17 -D_GNU_SOURCE -O2 -Wall -Wextra "$@" -I"$first" -I"$include" \
		-o explore "$here"/explore*.c >cc.out 2>&1 || { echo "does not compile"; return; }
	./explore "$scenario" >explore.out 2>&1
	case $? in
	0) echo holds ;;
	1) grep -q 'cut off\|out of memory' explore.out && echo "was cut off" || echo fails ;;
	*) echo "crashed" ;;
	esac
}

# Run one check in a folder of its own.
check_one() {
	kind=$1
	what=$2
	work=$(mktemp -d)
	cd "$work" || exit 1
	expect=fails
	case $kind in
	spin)
		expect=$3
		shift 3
		got=$(spin_verdict "$what" "$@")
		;;
	use)
		expect=$3
		shift 3
		got=$(explore_verdict "$include" "$what" "$@")
		;;
	cut)
		shift 2
		mkdir quoit
		sed "$(mutate "$1")" "$include/quoit/ring.h" >quoit/ring.h
		if cmp -s quoit/ring.h "$include/quoit/ring.h"; then
			got="the mistake does not apply to ring.h"
		else
			got=$(explore_verdict "$work" "$what")
		fi
		;;
	esac
	cd / && rm -r "$work"
	label=$(echo "$kind $what $*" | sed 's/^use /ring.h /; s/^cut /ring.h /; s/ -D/ /g; s/ *$//')
	if [ "$got" = "$expect" ]; then
		echo "ok    $label: $got"
	else
		echo "FAIL  $label: $got, should be: $expect"
	fi
}

if [ $# -gt 0 ]; then
	check_one "$@"
	exit
fi

command -v spin >/dev/null || {
	spin_checks=$(echo "$spin_checks" | sed '/./s/^/skip /')
}
results=$(mktemp)
printf '%s\n%s\n' "$explore_checks" "$spin_checks" | grep -v '^skip \|^$' |
	xargs -L1 -P"$(nproc)" sh "$here/run.sh" | tee "$results"
printf '%s\n' "$spin_checks" | sed -n 's/^skip \(.*\)/skip  \1: spin is not installed/p' | tee -a "$results"
passed=$(grep -c '^ok' "$results")
failed=$(grep -c '^FAIL' "$results")
skipped=$(grep -c '^skip' "$results")
rm "$results"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
