/* SPDX-License-Identifier: MIT */
/*
 * fuzz_control.c - send any messages in any order, from two clients, to connection.c.
 *
 * The fuzzer plays the reactor's part, and answers when the input says so.  Required: every
 * request is answered once, in its turn, or ends the connection.  When both clients are gone, no
 * descriptor, lease, session or trace may be left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/service/servers.h"
#include "base/log.h"
#include "base/tsc.h"
#include "control/connections.h"
#include "control/recorder.h"
#include "control/services.h"
#include "ops/optable.h"
#include "session/kernels.h"
#include "session/mail.h"
#include "session/named_tensor.h"

#define CLIENTS 2u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "fuzz_control: line %d: %s\n", __LINE__, #condition);      \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The client's end of a connection. */
struct client {
	struct connection *connection;
	int fd;
	bool asked; /* a request is open: this one */
	uint32_t seq;
	uint16_t type;
	bool ended;                /* the daemon has ended the connection */
	int kept[QUOIT_MAX_RINGS]; /* memory that was handed over, and is not ready */
	unsigned kept_count;
};

static struct config config;
static struct control control;
static const struct gpu_choice no_gpu = {.why = "this is a test"};
static struct reactor reactor;
static struct client client[CLIENTS];
static uint32_t seq;

static struct placement_core core = {.memory_node = -1, .reactor = 0};
static uint32_t reactor_core;
static const struct placement plan = {
	.nr_cores = 1, .nr_reactors = 1, .cores = &core, .reactors = &reactor_core};

/* ---- the runtime directory ---- */

static char folder[] = "/dev/shm/fuzz_control.XXXXXX";

static void remove_directory(void)
{
	(void)rmdir(folder);
}

static int make_directory(void)
{
	int fd;

	REQUIRE(mkdtemp(folder));
	REQUIRE(atexit(remove_directory) == 0);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct features features; /* no feature is missing */
	static uint32_t sessions_of;
	static int no_file;

	(void)argc;
	(void)argv;
	tsc_init();
	optable_init();
	log_init(LOG_LEVEL_ERROR, 0);
	static const struct file_systems writable; /* no file system */

	config_init(&config);
	config.memory = 8 << 20;
	config.uid_memory = 6 << 20;
	config.uid_connections = CLIENTS;
	config.uid_rings = 70;
	config.lease = 2 << 20;
	config.max_jobs = 64;
	config.max_tensors = 256;
	control = (struct control){.config = &config,
				   .gpu = &no_gpu,
				   .plan = &plan,
				   .features = &features,
				   .reactors = &reactor,
				   .reactor_count = 1,
				   .users = {.reactors = 1},
				   .epoll = -1,
				   .directory = make_directory(),
				   .budget = budget_new(&config),
				   .totals = totals_open(-1, 1, &no_file),
				   .sessions_of = &sessions_of};
	reactor.eventfd = eventfd(0, EFD_NONBLOCK);
	control.eventfd = eventfd(0, 0);
	REQUIRE(blocking_pool_new(control.eventfd, &writable, &control.blocking) == 0);
	mailbox_init(&reactor.inbox, &reactor.need_wake, reactor.eventfd);
	return 0;
}

/* ---- the input ---- */

struct input {
	const uint8_t *data;
	size_t size;
};

static uint32_t take(struct input *in, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes && in->size; i++, in->size--)
		value |= (uint32_t)*in->data++ << 8 * i;
	return value;
}

/* ---- the reactor ---- */

static void add_ring(struct mail *m, bool fail)
{
	if (fail) {
		m->result = -ENOSPC;
		return;
	}
	m->session->rings[m->ring->index] = m->ring;
	if (m->ring->index >= m->session->ring_count)
		m->session->ring_count = m->ring->index + 1;
}

static void close_ring(struct mail *m)
{
	struct session *s = m->session;

	m->ring = m->a < s->ring_count ? s->rings[m->a] : NULL;
	m->result = m->ring ? 0 : -EINVAL;
	if (m->ring)
		s->rings[m->a] = NULL;
}

static void add_file(struct mail *m, bool fail)
{
	unsigned i = 0;

	while (i < QUOIT_MAX_FILES && m->session->files[i].fd >= 0)
		i++;
	if (fail || i == QUOIT_MAX_FILES) {
		m->result = -ENFILE;
		return;
	}
	m->session->files[i].fd = (int)m->a;
	m->result = (int32_t)i;
}

/* The process of a device agrees, or fails. */
static void bring(struct mail *m, bool fail)
{
	struct session *s = m->session;
	struct kernels_ask *ask = m->ask;
	bool is_image = ask->type == QUOIT_CTL_IMAGE_ADD;

	if (ask->type == QUOIT_CTL_IMAGE_REMOVE)
		m->result = kernels_remove_image(s, ask->of);
	else
		m->result = is_image ? kernels_add_image(s, ask) : kernels_add_kernel(s, ask);
	if (!m->result && ask->type == QUOIT_CTL_KERNEL_ADD)
		REQUIRE(kernel_check(&s->kernels->kernel[ask->index].desc, ask->text,
				     sizeof ask->text) == 0);
	if (!m->result && ask->type == QUOIT_CTL_IMAGE_REMOVE)
		kernels_free_image(s, ask->of);
	if (m->result || !fail || ask->type == QUOIT_CTL_IMAGE_REMOVE)
		return;
	m->result = -ENOEXEC;
	if (is_image)
		kernels_free_image(s, ask->index);
	else
		kernels_free_kernel(s, ask->index);
}

static void tell(enum mail_type type, struct server *server, struct caller *caller)
{
	struct mail m = {.type = (uint8_t)type};

	if (server)
		m.server = server;
	else
		m.caller = caller;
	REQUIRE(services_mail(&control, &m));
}

static struct server *server_of(const struct service *service, const struct session *s)
{
	struct server *i = service->servers;

	while (i && (!i->connection || i->connection->session != s))
		i = i->next;
	return i;
}

static struct caller *caller_of(const struct service *service, uint64_t session, uint32_t index)
{
	struct caller *i = service->callers;

	while (i && (i->session_id != session || (index < QUOIT_MAX_SERVICES && i->index != index)))
		i = i->next;
	return i;
}

/* Nothing uses this caller of the session (or, beyond the last index, any of its callers). */
static void let_callers_go(const struct session *s, uint32_t index)
{
	struct caller *caller;

	for (struct service *i = control.services.first; i; i = i->next)
		while ((caller = caller_of(i, s->id, index)) != NULL) {
			caller->goes = NULL;
			tell(MAIL_CALLERS_GONE, NULL, caller);
		}
}

static void let_servers_go(const struct session *s)
{
	struct server *server;

	for (struct service *i = control.services.first; i; i = i->next)
		while ((server = server_of(i, s)) != NULL)
			tell(MAIL_SERVER_GONE, server, NULL);
}

/* What is about services; false: it is not. */
static bool answer_about_services(struct mail *m, struct connection *owner)
{
	switch (m->type) {
	case MAIL_SERVE:
		if (m->server)
			tell(MAIL_SERVE, m->server, NULL);
		else if (m->session->rings[m->a])
			m->session->rings[m->a]->team->serves = false;
		return true;
	case MAIL_SERVICE_END:
		REQUIRE(services_mail(&control, m));
		return true;
	case MAIL_CALLERS_GONE:
		return true;
	case MAIL_CALLER_ADD:
		m->result = (int32_t)m->caller->index;
		connection_answer(owner, m);
		return true;
	case MAIL_CALLER_CLOSE:
		connection_answer(owner, m);
		let_callers_go(m->session, m->a);
		return true;
	default:
		return false;
	}
}

/* Answer the oldest mail; false: there is none. */
static bool answer(bool fail)
{
	struct connection *owner;
	struct mail m;

	if (!mailbox_receive(&reactor.inbox, &m))
		return false;
	owner = connections_find_owner(&control, m.session);
	if (answer_about_services(&m, owner))
		return true;
	if (m.type == MAIL_SESSION_ADD || m.type == MAIL_TRACE_BEGIN)
		return true;
	if (m.type == MAIL_TRACE_END) {
		recorder_answer(&control, m.a);
		return true;
	}
	if (m.type == MAIL_RING_ADD)
		add_ring(&m, fail);
	else if (m.type == MAIL_RING_CLOSE)
		close_ring(&m);
	else if (m.type == MAIL_FILE_ADD)
		add_file(&m, fail);
	else if (m.type == MAIL_CANCEL)
		m.result = fail ? -EALREADY : 0;
	else if (m.type == MAIL_KERNELS)
		bring(&m, fail);
	else if (m.type == MAIL_FUNCTION_ADD)
		m.result = team_add(m.session, m.function);
	else if (m.type == MAIL_SERVE_ASK)
		m.result = server_ask(m.session, m.serve);
	else if (m.type == MAIL_CLOSE || m.type == MAIL_DEAD) {
		let_callers_go(m.session, QUOIT_MAX_SERVICES);
		let_servers_go(m.session);
	}
	if (owner)
		connection_answer(owner, &m);
	return true;
}

/* ---- the clients ---- */

static void connect_client(struct client *c)
{
	int pair[2], buffer = 1 << 20;

	REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) == 0);
	(void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
	REQUIRE(budget_connect(control.budget, 1000, NULL, 0) == 0);
	*c = (struct client){.fd = pair[1], .connection = calloc(1, sizeof *c->connection)};
	*c->connection = (struct connection){.control = &control,
					     .next = control.connections,
					     .arena.fd = -1,
					     .fd = pair[0],
					     .pidfd = -1,
					     .uid = 1000,
					     .pid = getpid(),
					     .state = CONNECTION_NEW,
					     .counted = true,
					     .patience_ns = UINT64_MAX};
	blocking_init(&c->connection->blocking, control.blocking, 1000, &control.dear);
	control.connections = c->connection;
}

/* Read the daemon's messages: the one reply that is due, or the reason for the end. */
static void read_replies(struct client *c)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(QUOIT_MAX_RINGS * sizeof(int))];
	} space;
	struct quoit_ctl m;
	struct iovec part = {&m, sizeof m};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	for (;;) {
		message.msg_control = &space;
		message.msg_controllen = sizeof space;
		if (recvmsg(c->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof m)
			return;
		for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h))
			for (size_t i = 0; i < (h->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++)
				close(((int *)(void *)CMSG_DATA(h))[i]);
		REQUIRE(m.magic == QUOIT_CTL_MAGIC && !m.flags);
		REQUIRE(m.result >= 0 || m.type == QUOIT_CTL_END || m.text[0] ||
			m.type != QUOIT_CTL_HELLO);
		if (m.type == QUOIT_CTL_END) {
			c->ended = true;
			continue;
		}
		REQUIRE(!c->ended);
		REQUIRE(c->asked && m.seq == c->seq && m.type == c->type);
		c->asked = false;
	}
}

static void fill_body(struct quoit_ctl *m, struct input *in)
{
	switch (m->type) {
	case QUOIT_CTL_HELLO:
		m->hello = (struct quoit_hello){.abi_version = QUOIT_ABI_VERSION,
						.sqe_size = sizeof(struct quoit_sqe),
						.cqe_size = sizeof(struct quoit_cqe),
						.name = "fuzz"};
		if (take(in, 1) & 0x80) { /* otherwise the defaults, which are granted */
			m->hello.host_bytes = (uint64_t)take(in, 1) << 16;
			m->hello.arena_bytes = (uint64_t)take(in, 1) << 14;
			m->hello.pinned_bytes = (uint64_t)take(in, 1) << 12;
			m->hello.shared_bytes = (uint64_t)take(in, 1) << 12;
			m->hello.max_tensors = take(in, 1);
		}
		break;
	case QUOIT_CTL_RING_OPEN:
		m->ring_open = (struct quoit_ring_open){.sq_entries = 1u << take(in, 1) % 8,
							.cq_entries = take(in, 1),
							.flags = take(in, 1) % 4,
							.count = take(in, 1) % 70};
		break;
	case QUOIT_CTL_ARENA_MORE:
		m->arena_more.bytes = (uint64_t)take(in, 1) * QUOIT_CTL_PAGE;
		break;
	case QUOIT_CTL_RING_CLOSE:
		m->job.ring = take(in, 1);
		break;
	case QUOIT_CTL_KILL:
		m->end.session = control.next_session - take(in, 1) % 4;
		break;
	case QUOIT_CTL_USER:
	case QUOIT_CTL_SHARE:
		m->user.uid = take(in, 1) % 4 ? 1000 : take(in, 1);
		m->user.share = m->type == QUOIT_CTL_SHARE ? take(in, 1) : 0;
		break;
	case QUOIT_CTL_TRACE:
		m->trace.session = take(in, 1) % 2 ? control.next_session - take(in, 1) % 4 : 0;
		m->trace.records = take(in, 1) % 2 ? QUOIT_TRACE_LEAST << take(in, 1) % 8 : 0;
		break;
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
		m->kernels.of = take(in, 1) % 4;
		break;
	case QUOIT_CTL_SERVE:
		m->serve.name[0] = (char)('a' + take(in, 1) % 2);
		m->serve.name[1] = (char)(take(in, 1) % 8 ? 0 : take(in, 1));
		m->serve.ring = take(in, 1) % 8;
		m->serve.mode = take(in, 1) % 8 ? 0 : take(in, 1);
		break;
	case QUOIT_CTL_SERVICE:
		m->service.name[0] = (char)('a' + take(in, 1) % 2);
		m->service.uid = take(in, 1) % 8 ? QUOIT_SERVICE_OWN : 1000;
		m->service.wait_ms = take(in, 1);
		break;
	case QUOIT_CTL_SYNC:
		m->sync.name[0] = (char)('a' + take(in, 1) % 2);
		m->sync.uid = take(in, 1) % 8 ? QUOIT_SERVICE_OWN : 1000;
		m->sync.kind = (uint16_t)(take(in, 1) % (QUOIT_SYNC_NR + 1));
		m->sync.flags = (uint16_t)(take(in, 1) % 4 ? 0 : take(in, 1) % 64);
		m->sync.mode = take(in, 1) % 8 ? 0 : take(in, 1);
		m->sync.value = take(in, 1) % 4;
		m->sync.most =
			take(in, 1) % 4 * (m->sync.kind == QUOIT_SYNC_QUEUE ? QUOIT_LINE : 1);
		break;
	case QUOIT_CTL_TENSOR:
		m->tensor.name[0] = (char)('a' + take(in, 1) % 2);
		m->tensor.dtype = (uint16_t)(take(in, 1) % 8);
		m->tensor.flags = (uint16_t)(take(in, 1) % 4 ? 0 : take(in, 1) % 64);
		m->tensor.mode = take(in, 1) % 8 ? 0 : take(in, 1);
		for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
			m->tensor.dim[i] = take(in, 1) % 8 ? 1 : take(in, 1) << take(in, 1) % 24;
		break;
	case QUOIT_CTL_TENSOR_MEMORY:
		m->tensor_memory.number = take(in, 1) % 4;
		break;
	case QUOIT_CTL_SERVICE_FUNCTION:
	case QUOIT_CTL_SERVICE_CLOSE:
		m->service_function.service = take(in, 1) % 4;
		m->service_function.name[0] = (char)take(in, 1);
		break;
	case QUOIT_CTL_CALLER:
		m->caller.ring = take(in, 1) % 8;
		m->caller.caller = take(in, 1) % 8;
		break;
	case QUOIT_CTL_FUNCTION_ADD:
		memcpy(m->function.access, "WMR-", 4);
		m->function.ring = take(in, 1) % 8;
		for (unsigned i = 0; i < 3; i++)
			m->function.name[i] = (char)take(in, 1);
		m->function.access[take(in, 1) % sizeof m->function.access] = (char)take(in, 1);
		break;
	default:
		for (unsigned i = 0; i < 4; i++)
			m->bytes[i] = (uint8_t)take(in, 1);
		break;
	}
}

/* Make good memory, or nearly good memory: sometimes too short, not sealed, or of huge pages. */
static int make_shared(uint64_t bytes, uint8_t how)
{
	int fd = memfd_create("fuzz",
			      MFD_CLOEXEC | MFD_ALLOW_SEALING | (how == 0x21 ? MFD_HUGETLB : 0));

	if (fd < 0)
		return memfd_create("fuzz", MFD_CLOEXEC);
	(void)!ftruncate(fd, (off_t)(how == 0x22 ? bytes / 2 : bytes));
	(void)fcntl(fd, F_ADD_SEALS, how == 0x23 ? F_SEAL_GROW : F_SEAL_SHRINK | F_SEAL_GROW);
	return fd;
}

/* Keep a descriptor of memory that is handed over, to make it ready later; none of it is mapped. */
static void keep(struct client *c, int fd)
{
	if (c->kept_count < QUOIT_MAX_RINGS)
		c->kept[c->kept_count++] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/*
 * Make each piece ready, perhaps without some pages or seals.  Of an arena sometimes only the
 * granted pages, so that it cannot grow.
 */
static void make_ready(struct client *c, uint8_t how)
{
	while (c->kept_count) {
		int fd = c->kept[--c->kept_count];
		off_t end = lseek(fd, 0, SEEK_END);

		if (how & 1 && c->connection->arena.base)
			end = (off_t)c->connection->arena_bytes;
		if (how != 0x24 && end > 0)
			(void)!fallocate(fd, 0, 0, end);
		if (how == 0x25)
			(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
		if (how != 0x26)
			(void)fcntl(fd, F_ADD_SEALS, (int)shared_seals(true, false));
		close(fd);
	}
}

static void hand_over(struct client *c, const struct quoit_ctl *m, uint8_t how, struct ctl_fds *fds)
{
	const struct session *s = c->connection->session;
	struct quoit_ring_open open = m->ring_open;
	struct quoit_ring_layout layout = {0};
	uint64_t bytes = s ? s->arena_most : 4096;
	uint32_t count = m->type == QUOIT_CTL_RING_OPEN ? open.count : 1;

	if (m->type == QUOIT_CTL_TENSOR)
		bytes = named_tensor_bytes(m->tensor.dim, m->tensor.dtype) % (1 << 20);
	if (m->type == QUOIT_CTL_RING_OPEN) {
		if (!open.cq_entries)
			open.cq_entries = 2 * open.sq_entries;
		quoit_ring_layout_of(&open, &layout);
		bytes = quoit_ring_bytes(&layout);
	}
	count -= how == 0x27 && count;
	for (uint32_t i = 0; i < count && i < QUOIT_MAX_RINGS + 1; i++) {
		fds->fd[fds->count++] = make_shared(bytes, how);
		keep(c, fds->fd[fds->count - 1]);
	}
}

/* No file system hangs here: wait until all descriptors are closed. */
static void await_blocking(struct client *c)
{
	connection_look_at_waiting(c->connection);
	while (!blocking_idle(&c->connection->blocking)) {
		struct pollfd p = {.fd = control.eventfd, .events = POLLIN};

		REQUIRE(poll(&p, 1, 10000) == 1);
		connection_look_at_waiting(c->connection);
	}
}

/* Make a good kernel description, or a damaged one; perhaps without some seals. */
static int some_memory(struct input *in)
{
	struct quoit_kernel_desc d = {.name = "k",
				      .grid = {1, 1, 1},
				      .block = {1, 1, 1},
				      .access = "WR--",
				      .args = 1,
				      .arg = {{.kind = QUOIT_ARG_TENSOR, .bytes = 8}}};
	uint8_t how = (uint8_t)take(in, 1);
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (how & 0x80)
		((uint8_t *)&d)[256 + take(in, 1)] ^= (uint8_t)take(in, 1);
	if (write(fd, &d, how & 0x40 ? take(in, 1) : sizeof d) < 0)
		REQUIRE(how & 0x40);
	(void)fcntl(fd, F_ADD_SEALS,
		    how & 0x20 ? how & 0x0f : F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	return fd;
}

/* As if there were devices. */
static void let_bring(struct connection *c)
{
	if (!c->session || c->session->kernels)
		return;
	c->session->kernels = kernels_new();
	c->session->devices = 2;
}

static int some_descriptor(uint8_t kind)
{
	switch (kind % 4) {
	case 0:
		return memfd_create("fuzz", MFD_CLOEXEC);
	case 1:
		return open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	case 2:
		return open("/", O_PATH | O_CLOEXEC);
	default:
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
}

/* Send one message; most have the form of a good one. */
static void send_message(struct client *c, struct input *in)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC};
	struct ctl_fds fds = {0};
	uint8_t how;

	m.type = (uint16_t)(take(in, 1) % (QUOIT_CTL_NR + 2));
	m.seq = ++seq;
	how = (uint8_t)take(in, 1);
	fill_body(&m, in);
	if (how >= 0xe0) /* overwrite any bytes */
		((uint8_t *)&m)[take(in, 1) % sizeof m] ^= (uint8_t)take(in, 1);
	if (c->connection->state == CONNECTION_GONE)
		return;
	if (m.type == QUOIT_CTL_READY)
		make_ready(c, how);
	if ((m.type == QUOIT_CTL_ARENA || m.type == QUOIT_CTL_RING_OPEN ||
	     m.type == QUOIT_CTL_TENSOR) &&
	    how < 0xd0)
		hand_over(c, &m, how, &fds);
	else if ((m.type == QUOIT_CTL_IMAGE_ADD || m.type == QUOIT_CTL_KERNEL_ADD) && how & 0xc0)
		fds.fd[fds.count++] = some_memory(in);
	else if ((m.type == QUOIT_CTL_FILE_ADD) != ((how & 0x1f) == 1))
		fds.fd[fds.count++] = some_descriptor(how);
	if (!c->asked) {
		c->asked = true;
		c->seq = m.seq;
		c->type = m.type;
	}
	connection_request(c->connection, &m, &fds);
	let_bring(c->connection);
	await_blocking(c);
	read_replies(c);
	REQUIRE(!c->asked || c->connection->pending || c->connection->state == CONNECTION_GONE);
}

static void disconnect(struct client *c)
{
	connection_end(c->connection, QUOIT_DAEMON_CLIENTS_DIED, NULL);
	while (answer(false))
		;
	await_blocking(c);
	read_replies(c);
	make_ready(c, 0);
	close(c->fd);
	REQUIRE(!c->connection->session);
	REQUIRE(!c->connection->arena.base);
	REQUIRE(!c->connection->rings_waiting);
	REQUIRE(!c->connection->rings_expected);
	REQUIRE(!c->connection->leased);
	REQUIRE(!c->connection->rings);
}

static unsigned open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned before = open_descriptors();

	for (unsigned i = 0; i < CLIENTS; i++)
		connect_client(&client[i]);
	while (in.size) {
		uint8_t what = (uint8_t)take(&in, 1);
		struct client *c = &client[what % CLIENTS];

		if (what >= 0xfc)
			connection_end(c->connection, QUOIT_DAEMON_CLIENTS_DIED, NULL);
		else if (what >= 0x80)
			(void)answer(what & 2);
		else
			send_message(c, &in);
		recorder_advance(&control);
		for (unsigned i = 0; i < CLIENTS; i++) {
			connection_look_at_waiting(client[i].connection);
			read_replies(&client[i]);
		}
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		disconnect(&client[i]);
	while (recorder_timeout_ms(&control) >= 0)
		recorder_advance(&control);
	REQUIRE(!control.lent);
	REQUIRE(budget_leased(control.budget) == 0);
	REQUIRE(control.sessions_of[0] == 0);
	REQUIRE(control.waiting == 0);
	control.connections = NULL;
	for (unsigned i = 0; i < CLIENTS; i++) {
		budget_disconnect(control.budget, 1000);
		free(client[i].connection);
	}
	REQUIRE(open_descriptors() == before);
	return 0;
}
