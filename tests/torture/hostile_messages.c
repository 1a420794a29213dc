/* SPDX-License-Identifier: MIT */
/* hostile_messages.c - control messages of any size and content */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl_client.h"

#define PROTO QUOIT_DAEMON_KILL_PROTO

static const struct raw_wish small = {
	.host_bytes = 1 << 20, .arena_bytes = 4096, .max_tensors = 64};

/* ---- sizes and contents ---- */

static bool begin(struct stage *s, struct raw_client *c, bool open)
{
	return open ? stage_open(s, c, &small) : CHECK(s, !raw_connect(c, s->daemon.socket));
}

static void wrong_size_ends_the_connection(struct stage *s)
{
	static const size_t sizes[] = {0, 1, 4, 255, 257, 512, 4096, 65536};
	static const uint8_t zeros[65536];

	for (unsigned i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
		struct raw_client c;

		if (!begin(s, &c, i & 1))
			return;
		CHECK(s, !ctl_put(c.socket, zeros, sizes[i / 2], NULL, 0));
		ctl_expect_end(s, &c, PROTO, "wrong length");
	}
}

static void fill(struct stage *s, void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)stage_random(s, 256);
}

static void random_message_ends_the_connection(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 200, 100000); i++) {
		struct raw_client c;
		struct quoit_ctl m;

		if (!begin(s, &c, i & 1))
			return;
		fill(s, &m, sizeof m);
		if (i & 2)
			m.magic = QUOIT_CTL_MAGIC;
		if (i & 4)
			m.type = (uint16_t)stage_random(s, QUOIT_CTL_NR + 1);
		if (i & 8)
			m.flags = 0, m.result = 0;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
		ctl_expect_end(s, &c, PROTO, "unknown bits");
	}
}

/* Expect the counter for a hello's answer, and the state of the connection. */
static void count_hello(struct stage *s, struct raw_client *c, const struct quoit_ctl *answer)
{
	if (answer->result == -EPROTO)
		stage_expect(s, QUOIT_DAEMON_REFUSED_VERSION, 1);
	if (answer->result == -EDQUOT)
		stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	if (answer->result)
		ctl_leave(s, c);
	else
		stage_die(s, c);
}

static void hello_with_a_flipped_bit_is_answered_or_ends_the_connection(struct stage *s)
{
	for (unsigned bit = 0; bit < 8 * sizeof(struct quoit_ctl); bit++) {
		struct quoit_ctl m = ctl_hello(), answer;
		struct raw_client c;

		if (!s->times && bit > 8 * 24 && stage_random(s, 4))
			continue;
		if (!begin(s, &c, false))
			return;
		((uint8_t *)&m)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!CHECK(s, !ctl_ask(c.socket, &m, -1, &answer)))
			printf("  bit %u\n", bit);
		if (answer.type == QUOIT_CTL_END) {
			stage_expect(s, PROTO, 1);
			raw_close(&c);
		} else {
			CHECK(s, answer.type == QUOIT_CTL_HELLO && answer.seq == m.seq);
			CHECK(s, !answer.result == !answer.text[0]);
			count_hello(s, &c, &answer);
		}
	}
}

static void unused_bits_end_the_connection(struct stage *s)
{
	static const struct {
		uint16_t type;
		bool open;
		size_t at; /* offset of the byte that should be zero */
	} rows[] = {
#define BODY(member) offsetof(struct quoit_ctl, member)
		{QUOIT_CTL_HELLO, false, BODY(flags)},
		{QUOIT_CTL_HELLO, false, BODY(result)},
		{QUOIT_CTL_HELLO, false, BODY(bytes) + sizeof(struct quoit_hello)},
		{QUOIT_CTL_HELLO, false, BODY(bytes) + 127},
		{QUOIT_CTL_HELLO, false, BODY(text)},
		{QUOIT_CTL_HELLO, false, sizeof(struct quoit_ctl) - 1},
		{QUOIT_CTL_KILL, false, BODY(end.flags)},
		{QUOIT_CTL_KILL, false, BODY(end.reserved)},
		{QUOIT_CTL_TRACE, false, BODY(trace.sessions)},
		{QUOIT_CTL_USER, false, BODY(user.share)},
		{QUOIT_CTL_SHARE, false, BODY(bytes) + 8},
		{QUOIT_CTL_RING_OPEN, true, BODY(bytes) + sizeof(struct quoit_ring_open)},
		{QUOIT_CTL_RING_CLOSE, true, BODY(job.sq_index)},
		{QUOIT_CTL_CANCEL, true, BODY(bytes) + 8},
		{QUOIT_CTL_FILE_ADD, true, BODY(bytes)},
		{QUOIT_CTL_FILE_REMOVE, true, BODY(file.reserved)},
		{QUOIT_CTL_OP, true, BODY(bytes) + 127},
		{QUOIT_CTL_DEVICE, true, BODY(device.reserved)},
		{QUOIT_CTL_DEVICE, true, BODY(bytes) + 127},
		{QUOIT_CTL_IMAGE_ADD, true, BODY(kernels.index)},
		{QUOIT_CTL_IMAGE_REMOVE, true, BODY(kernels.index)},
		{QUOIT_CTL_KERNEL_ADD, true, BODY(kernels.index)},
		{QUOIT_CTL_CLOSE, true, BODY(end.session)},
		{QUOIT_CTL_CLOSE, true, BODY(end.flags) + 3},
		{QUOIT_CTL_CLOSE, true, BODY(end.reserved)},
#undef BODY
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_ctl m =
			rows[i].type == QUOIT_CTL_HELLO ? ctl_hello() : ctl_request(rows[i].type);
		struct raw_client c;

		if (!begin(s, &c, rows[i].open))
			return;
		((uint8_t *)&m)[rows[i].at] = 0x80;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
		ctl_expect_end(s, &c, PROTO, "unknown");
	}
}

/* ---- hello ---- */

static void versions_that_differ_are_told_both(struct stage *s)
{
	static const struct {
		uint32_t version;
		uint16_t sqe, cqe;
	} rows[] = {
		{0, 64, 16},
		{QUOIT_ABI_VERSION + 1, 64, 16},
		{UINT32_MAX, 64, 16},
		{QUOIT_ABI_VERSION, 63, 16},
		{QUOIT_ABI_VERSION, 128, 16},
		{QUOIT_ABI_VERSION, 64, 0},
		{QUOIT_ABI_VERSION, 64, 32},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_ctl m = ctl_hello(), answer;
		struct raw_client c;
		char both[80];

		if (!begin(s, &c, false))
			return;
		m.hello.abi_version = rows[i].version;
		m.hello.sqe_size = rows[i].sqe;
		m.hello.cqe_size = rows[i].cqe;
		CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && answer.result == -EPROTO);
		CHECK(s, answer.hello_reply.abi_version == QUOIT_ABI_VERSION);
		snprintf(both, sizeof both, "ABI %u (SQE %u, CQE %u), quoitd ABI %u",
			 rows[i].version, rows[i].sqe, rows[i].cqe, QUOIT_ABI_VERSION);
		CHECK(s, strstr(answer.text, both));
		stage_expect(s, QUOIT_DAEMON_REFUSED_VERSION, 1);
		m = ctl_hello(); /* it may try again */
		CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && !answer.result);
		stage_die(s, &c);
	}
}

static void unknown_offers_are_ignored(struct stage *s)
{
	struct quoit_ctl m = ctl_hello(), answer;
	struct raw_client c;

	if (!begin(s, &c, false))
		return;
	m.hello.features = UINT64_MAX;
	CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && !answer.result);
	CHECK(s, !(answer.hello_reply.features & ~(uint64_t)QUOIT_FEATURE_MODULES));
	stage_die(s, &c);
}

static void wishes_that_cannot_be_are_refused_by_name(struct stage *s)
{
	static const struct {
		struct quoit_hello h; /* changes to a good one */
		int result;
		const char *words;
	} rows[] = {
		{{.host_bytes = 1}, -EINVAL, "at least"},
		{{.host_bytes = UINT64_MAX}, -EDQUOT, "are left"},
		{{.host_bytes = UINT64_C(1) << 46}, -EDQUOT, "are left"},
		{{.arena_bytes = UINT64_MAX}, -EINVAL, "exceed the lease"},
		{{.arena_bytes = (1 << 20) + 1}, -EINVAL, "exceed the lease"},
		{{.pinned_bytes = UINT64_MAX}, -EINVAL, "exceed the lease"},
		{{.pinned_bytes = 1 << 20}, -EINVAL, "exceed the lease"},
		{{.device_bytes = 1}, -ENODEV, "device"},
		{{.max_tensors = 1}, -EINVAL, "max_tensors"},
		{{.max_tensors = UINT32_MAX}, -EINVAL, "max_tensors"},
		{{.cpu_hint = 1}, 0, ""},
		{{.cpu_hint = 4096}, 0, ""},
		{{.cpu_hint = INT32_MAX}, 0, ""},
		{{.cpu_hint = (uint32_t)INT32_MAX + 1}, 0, ""},
		{{.cpu_hint = UINT32_MAX}, 0, ""},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_ctl m = ctl_hello(), answer;
		const struct quoit_hello *h = &rows[i].h;
		struct raw_client c;

		if (!begin(s, &c, false))
			return;
		m.hello.host_bytes = h->host_bytes ? h->host_bytes : m.hello.host_bytes;
		m.hello.arena_bytes = h->arena_bytes ? h->arena_bytes : m.hello.arena_bytes;
		m.hello.max_tensors = h->max_tensors ? h->max_tensors : m.hello.max_tensors;
		m.hello.pinned_bytes = h->pinned_bytes;
		m.hello.device_bytes = h->device_bytes;
		m.hello.cpu_hint = h->cpu_hint;
		CHECK(s, !ctl_ask(c.socket, &m, -1, &answer));
		if (!CHECK(s,
			   answer.result == rows[i].result && strstr(answer.text, rows[i].words)))
			printf("  row %u: %d %.112s\n", i, answer.result, answer.text);
		count_hello(s, &c, &answer);
	}
}

static void names_that_could_fool_a_terminal_are_refused(struct stage *s)
{
	static const struct {
		char name[QUOIT_NAME_BYTES + 1];
		int result;
	} rows[] = {
		{"", 0},
		{" ~", 0},
		{"1234567890123456789012345678901", 0},
		{"12345678901234567890123456789012", -EINVAL}, /* no room for its NUL */
		{"a\0b", -EINVAL},
		{"\0b", -EINVAL},
		{"a\n", -EINVAL},
		{"\033[2J", -EINVAL},
		{"\t", -EINVAL},
		{"a\177", -EINVAL},
		{"\x80", -EINVAL},
		{"\xc3\xa9", -EINVAL},
		{"\xc3(", -EINVAL},
		{"\xff\xfe", -EINVAL},
	};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_ctl m = ctl_hello(), answer;
		struct raw_client c;

		if (!begin(s, &c, false))
			return;
		memcpy(m.hello.name, rows[i].name, sizeof m.hello.name);
		if (!CHECK(s,
			   !ctl_ask(c.socket, &m, -1, &answer) && answer.result == rows[i].result))
			printf("  name %u\n", i);
		for (const char *p = answer.text; *p; p++)
			CHECK(s, *p >= ' ' && *p <= '~');
		count_hello(s, &c, &answer);
	}
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(wrong_size_ends_the_connection),
		STAGE_CASE(random_message_ends_the_connection),
		STAGE_CASE(hello_with_a_flipped_bit_is_answered_or_ends_the_connection),
		STAGE_CASE(unused_bits_end_the_connection),
		STAGE_CASE(versions_that_differ_are_told_both),
		STAGE_CASE(unknown_offers_are_ignored),
		STAGE_CASE(wishes_that_cannot_be_are_refused_by_name),
		STAGE_CASE(names_that_could_fool_a_terminal_are_refused),
	};
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
