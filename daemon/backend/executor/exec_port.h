/* SPDX-License-Identifier: MIT */
/*
 * exec_port.h - the port through which one reactor uses one executor.
 *
 * A port passes between the starter, the thread that starts executors (executors_loop.c), and the
 * reactor (exec_port.c, backend_exec.c):
 *
 *	DOWN ──started──► UP ──died──► DEAD ──the reactor has failed its jobs──► DOWN
 *
 * The state word says which of the two owns the port: the starter while it is DOWN or LOST, the
 * reactor while it is UP or DEAD.  A process is reaped only when all its ports are DOWN, so until
 * then a reactor can kill it by its pid, which no other process can have.
 */
#ifndef QUOITD_EXEC_PORT_H
#define QUOITD_EXEC_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/exec.h>
#include <quoit/ring.h>

#include "config/config.h"

struct session;

enum exec_port_state {
	PORT_DOWN,
	PORT_UP,
	PORT_DEAD,
	PORT_LOST, /* as DOWN, and no job should wait for it */
};

/* Jobs in flight of one port: a request's id is its place; the direct ring's places follow. */
#define EXEC_FLIGHTS (QUOIT_EXEC_ENTRIES + QUOIT_DIRECT_ENTRIES)

/* Why quoitd ended a process; executor_text.c has the texts. */
enum exec_kill {
	KILL_NOT,
	KILL_LATE,   /* a job's deadline has passed or its client is dead: no fault of the module */
	KILL_SILENT, /* it does not answer */
	KILL_START,  /* it is not up in time */
	KILL_HUNG_UP, /* it closed its socket; mostly it was dead already */
	KILL_HELLO,   /* its hello cannot be used */
	KILL_UNHEARD, /* epoll did not take its socket */
	KILL_RINGS,   /* its ring positions are impossible */
	KILL_ANSWER,  /* its answer is impossible */
	KILL_NAME,    /* it names a job that it was not given */
};

/* A job that the executor has. */
struct exec_flight {
	struct session *session; /* NULL: a free entry */
	uint32_t job;
	uint8_t leg;          /* of a copy between devices (bridge.h); 0: the job itself */
	uint8_t type;         /* of the request: RUN or EXPORT */
	bool may_be_poisoned; /* a job of its session failed while it was there */
	uint64_t serial;      /* tells it from earlier jobs in this entry */
	uint64_t overdue;     /* TSC when it was first seen to run after its deadline; 0: not yet */
};

/* What a stream, or a module, was seen to work at. */
struct exec_watch {
	uint64_t serial; /* of the flight; EXEC_NOBODY | name; 0: nothing of this reactor's */
	uint64_t since;  /* TSC */
};

#define EXEC_NOBODY (UINT64_C(1) << 63) /* a request that was never sent */

/* The LOAD or FIND that the process has not answered; one at a time. */
struct exec_asking {
	uint8_t type; /* enum quoit_exec_request_type; 0: none */
	uint32_t number;
	struct session *session; /* NULL: it has left */
	uint64_t since;          /* TSC */
};

/* A session whose memory the executor has mapped. */
struct exec_slot {
	bool used;
	bool leaving;   /* UNMAP is under way */
	bool cancelled; /* CANCEL was sent */
	uint64_t since;
	struct session *session; /* NULL: it did not wait for UNMAP's answer */
	uint64_t had, begun;     /* quoit_exec_channel.had when it came, and TSC */
	uint64_t counted;        /* ticks since then that are counted */
};

/* GPU-direct mode (backend_direct.h): the ring to the consumer on the device. */
struct direct_port {
	struct quoit_direct_requests *requests; /* these two set by the starter before UP */
	const struct quoit_direct_words *words;
	struct quoit_producer ring;
	uint32_t reaped;    /* all before this one have ended */
	uint32_t streamed;  /* those of them that the launcher put into a stream */
	uint64_t moved;     /* TSC: when the last one was done, or the first one put in */
	bool starter_knows; /* the starter knows that no consumer will come */
};

struct exec_port {
	_Atomic uint32_t state;  /* enum exec_port_state */
	_Atomic uint32_t killed; /* enum exec_kill */
	_Atomic uint64_t owner;  /* 1 + the uid of its only user; 0: it is shared */

	/*
	 * At n - 1: the process of device n that this process was told of; 0: none that it reaches.
	 * The starter sets it while UP.
	 */
	_Atomic pid_t peer[CONFIG_DEVICES];

	/* set by the starter before UP */
	uint32_t number; /* among the executors */
	uint32_t device; /* the device that it drives, from 1; 0: it is a module's */
	uint32_t channel;
	uint32_t channels; /* of its process: one per reactor */
	pid_t pid;
	int socket;
	int starter;     /* eventfd of the starter */
	bool profiled;   /* it wants to know each job's session and ring */
	uint64_t job_ms; /* the longest that one job may take */
	struct quoit_exec_daemon_channel *daemon;
	const struct quoit_exec_channel *exec;
	const struct quoit_exec_words *words;

	int status;        /* set by the starter before DEAD: as waitpid tells it */
	uint64_t answered; /* jobs of this process; set by the reactor before DOWN */

	/* the reactor's */
	bool open;    /* the rings below are those of the process that is UP */
	bool hung_up; /* the socket is not watched any more */
	bool lied;    /* no answer is taken any more */
	struct quoit_producer requests;
	struct quoit_consumer answers;
	uint32_t pending; /* requests without their answer */
	uint64_t shares;  /* sum over the users whose sessions have jobs waiting for it or there */
	uint64_t culprit; /* the job it was killed for, as in quoit_exec_words; 0: none */
	struct exec_asking asking;
	int unsent; /* -errno: why the last message could not be sent */
	struct direct_port direct;
	struct exec_flight flight[EXEC_FLIGHTS]; /* those in the direct ring are the last ones */
	uint64_t serial;                         /* of the last flight */
	struct {                                 /* over all its processes; for people */
		uint64_t requests, answers, bells, queries;
	} count;
	uint64_t queried;   /* the process's count of queries when last looked at */
	uint64_t last_look; /* TSC: when it was last checked for hanging */
	struct exec_watch watch[QUOIT_EXEC_STREAMS];
	uint64_t idle_since;    /* TSC; 0: at the last look it worked, or had nothing to do */
	uint64_t idle_answered; /* `answered` at the last look */
	struct exec_slot slot[QUOIT_EXEC_SLOTS];
};

/* Why the process has no GPU-direct consumers, as a positive errno; 0: it may have them. */
static inline int exec_direct_error(const struct quoit_exec_words *words)
{
	int err = __atomic_load_n(&words->direct, __ATOMIC_RELAXED);

	return err < 0 && err > -4096 ? -err : 0;
}

/* Kill the process with this pid, which is not reaped yet, and its process group.  Any thread. */
void exec_port_kill_process(pid_t pid);

/* ---- for the reactor alone (exec_port.c) ---- */

static inline uint32_t exec_port_state(const struct exec_port *p)
{
	return atomic_load_explicit(&p->state, memory_order_acquire);
}

/* It is UP: begin with empty rings, and watch for its bell in this epoll. */
void exec_port_open(struct exec_port *p, int epoll);

/* Stop watching for its bell. */
void exec_port_unwatch(struct exec_port *p, int epoll);

/* Have the starter look: there is news of the process. */
void exec_port_tell_starter(const struct exec_port *p);

/* Kill the process; the starter sets the port DEAD when it has ended. */
void exec_port_kill(struct exec_port *p, enum exec_kill why);

/* What the process says it works at in stream i (quoit_exec_words.running); 0: nothing. */
uint64_t exec_port_running(const struct exec_port *p, uint32_t i);

/* Does the process say that it works at anything? */
bool exec_port_works(const struct exec_port *p);

/* Could a request have this name? */
bool exec_port_can_name(const struct exec_port *p, uint64_t name);

/* The flight that the process works at in stream i, if it is this reactor's, else NULL. */
const struct exec_flight *exec_port_flight(const struct exec_port *p, uint32_t i);

/* Count the driver queries made since the last look; only the first reactor's port counts. */
void exec_port_count_queries(struct exec_port *p);

/* Does the process work at this flight, in any stream? */
bool exec_port_runs(const struct exec_port *p, const struct exec_flight *f);

/* The name of this flight in quoit_exec_words. */
uint64_t exec_port_name(const struct exec_port *p, const struct exec_flight *f);
/* Does stream i name a request that, as far as this reactor knows, was never sent? */
bool exec_port_names_unsent(const struct exec_port *p, uint32_t i);

/* Is there room for one more request, and for its answer? */
bool exec_port_has_room(struct exec_port *p);

/* Has the process requests that it has not answered, or not even taken? */
bool exec_port_owes(struct exec_port *p);

/*
 * Send a message, with descriptors, that a request needs first.  False: not now, because the
 * process has much to read, or is dead; any other reason is logged.
 */
bool exec_port_send(struct exec_port *p, const void *message, size_t size, const int *fds,
		    unsigned count);

/* Put a request into the ring, which must have room; exec_port_flush publishes it. */
void exec_port_request(struct exec_port *p, const struct quoit_exec_request *q);
void exec_port_flush(struct exec_port *p);

/* Wake the process. */
void exec_port_ring(struct exec_port *p);

#endif
