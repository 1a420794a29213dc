/* SPDX-License-Identifier: MIT */
/*
 * test_exec_slots.c - which sessions' memory an executor has, if there are more sessions than slots
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/executor/backend_exec_memory.h"
#include "core_case.h"
#include "reactor/reactor.h"

static struct quoit_exec_daemon_channel *daemon_side;
static struct quoit_exec_channel *exec_side;
static struct quoit_exec_words words;
static struct exec_port *port;
static struct session *holder, *other;
static struct reactor *reactor;
static int sockets[2];

/* The holder has all slots, and no job there. */
static void open_port(void)
{
	daemon_side = aligned_alloc(QUOIT_LINE, sizeof *daemon_side);
	exec_side = aligned_alloc(QUOIT_LINE, sizeof *exec_side);
	port = calloc(1, sizeof *port);
	reactor = calloc(1, sizeof *reactor);
	cr_assert(daemon_side && exec_side && port && reactor);
	*daemon_side = (struct quoit_exec_daemon_channel){0};
	*exec_side = (struct quoit_exec_channel){0};
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	port->socket = sockets[0];
	port->words = &words;
	port->daemon = daemon_side;
	port->exec = exec_side;
	quoit_producer_init(&port->requests, &daemon_side->request_tail, &exec_side->request_head,
			    QUOIT_EXEC_ENTRIES);
	holder = core_session(16);
	other = core_session(16);
	holder->reactor = other->reactor = reactor;
	for (uint32_t i = 0; i < QUOIT_EXEC_SLOTS; i++)
		port->slot[i] = (struct exec_slot){.used = true, .session = holder};
}

static void close_port(void)
{
	core_session_free(holder);
	core_session_free(other);
	close(sockets[0]);
	close(sockets[1]);
	free(daemon_side);
	free(exec_side);
	free(port);
	free(reactor);
}

TestSuite(exec_slots, .init = open_port, .fini = close_port);

Test(exec_slots, an_idle_session_makes_room)
{
	cr_expect_eq(exec_map(port, other), -EBUSY);
	cr_assert_eq(daemon_side->request_tail, 1);
	cr_expect_eq(daemon_side->request[0].type, QUOIT_EXEC_UNMAP);
	cr_expect(port->slot[0].leaving);
	cr_assert(exec_unmapped(port, 0));
	cr_expect_eq(exec_map(port, other), 0);
	cr_expect_eq(other->exec.slot[0], 1);
}

Test(exec_slots, a_session_with_jobs_there_stays)
{
	holder->exec.in_flight[0] = 1;
	cr_expect_eq(exec_map(port, other), -EBUSY);
	cr_expect_eq(daemon_side->request_tail, 0);
}

/* Otherwise it would come back to another session's bytes. */
Test(exec_slots, a_session_with_memory_on_a_device_stays)
{
	port->device = 2;
	holder->device[1].used = 4096;
	cr_expect_eq(exec_map(port, other), -EBUSY);
	cr_expect_eq(daemon_side->request_tail, 0);
	holder->device[1].used = 0;
	cr_expect_eq(exec_map(port, other), -EBUSY);
	cr_expect_eq(daemon_side->request_tail, 1);
}
