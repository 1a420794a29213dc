/* SPDX-License-Identifier: MIT */
/* test_shared.c - memory that a client brings is locked and checked in parts */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "store/shared.h"

#define MIB        (UINT64_C(1) << 20)
/* one call may hold the lock of quoitd's address space for this many bytes */
#define PART_BYTES (4 * MIB)
#define BYTES      (7 * MIB) /* the most that may be locked */
#define FIRST      (UINT64_C(4096) * 3)

/* ---- calls to the kernel ---- */

static uint64_t longest;   /* bytes of the longest call */
static uint64_t locked;    /* bytes locked in total */
static uint64_t unlocked;  /* bytes unlocked again */
static unsigned locks;     /* number of calls */
static unsigned refuse_at; /* the call that the kernel refuses; 0: none */

static bool count(long number, uint64_t bytes)
{
	if (number != SYS_mlock2 && number != SYS_munlock)
		return true;
	longest = bytes > longest ? bytes : longest;
	if (number == SYS_munlock)
		unlocked += bytes;
	else if (++locks != refuse_at)
		locked += bytes;
	else
		return false;
	return true;
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (!count(number, (uint64_t)a[1])) {
		errno = ENOMEM;
		return -1;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- a client's memory ---- */

static struct shared memory;
static uint8_t *client;
static char text[128];

/* For a session with an arena that had FIRST bytes, and may have more. */
static void bring(void)
{
	const struct shared_wish wish = {.bytes = BYTES, .node = -1};
	int fd = memfd_create("test-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_eq(ftruncate(fd, BYTES), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	client = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(client, MAP_FAILED);
	if (shared_guard_init() < 0)
		cr_skip_test("without userfaultfd missing pages are made");
	cr_assert_eq(shared_map(fd, &wish, &memory, text, sizeof text), 0, "%s", text);
}

static void drop(void)
{
	shared_drop(&memory);
	munmap(client, BYTES);
}

TestSuite(shared, .init = bring, .fini = drop, .timeout = 60);

static int more(void)
{
	return shared_more(&memory, FIRST, BYTES, 0, text, sizeof text);
}

/* ---- tests ---- */

Test(shared, what_is_there_is_locked_part_by_part)
{
	memset(client, 1, BYTES);
	cr_assert_eq(more(), 0, "%s", text);
	cr_expect_eq(memory.unlocked, 0, "%s", strerror(-memory.unlocked));
	cr_expect_eq(locked, BYTES - FIRST);
	cr_expect_eq(unlocked, 0);
	cr_expect_leq(longest, PART_BYTES);
}

Test(shared, what_lacks_a_page_is_unlocked_part_by_part)
{
	memset(client, 1, BYTES - 4096);
	cr_expect_eq(more(), -EFAULT);
	cr_expect(strstr(text, "is not allocated"), "%s", text);
	cr_expect_eq(locked, BYTES - FIRST);
	cr_expect_eq(unlocked, locked);
	cr_expect_leq(longest, PART_BYTES);
}

Test(shared, what_begins_with_a_hole_costs_one_part)
{
	cr_expect_eq(more(), -EFAULT);
	cr_expect_eq(locked, PART_BYTES);
	cr_expect_eq(unlocked, locked);
}

Test(shared, what_cannot_be_locked_whole_stays_unlocked)
{
	refuse_at = 2;
	memset(client, 1, BYTES);
	cr_expect_eq(more(), 0, "that is for others to judge: %s", text);
	cr_expect_eq(memory.unlocked, -ENOMEM);
	cr_expect_eq(locked, PART_BYTES);
	cr_expect_eq(unlocked, locked);
}

Test(shared, what_is_not_sealed_is_not_locked)
{
	memset(client, 1, BYTES);
	cr_expect_eq(shared_more(&memory, FIRST, BYTES, F_SEAL_SEAL, text, sizeof text), -EPERM);
	cr_expect_eq(locks, 0);
}
