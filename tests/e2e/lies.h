/* SPDX-License-Identifier: MIT */
/*
 * lies.h - what the device of tests/liar/quoit_exec.c says that is not so
 *
 * It has no memory and computes nothing, and answers every job well, one after the other.  A
 * job that is FILL with one of these numbers makes it lie; $QUOIT_LIE makes its first words
 * one.
 */
#ifndef TESTS_LIES_H
#define TESTS_LIES_H

enum lie {
	LIE_NOT,

	/* answers */
	LIE_ID,       /* of a request that cannot be, */
	LIE_OTHER_ID, /* or is not there */
	LIE_TYPE,
	LIE_UNMAP, /* of a slot that is in use */
	LIE_TWICE,
	LIE_EARLY, /* before the one that it is behind */
	LIE_COUNT, /* a device counts nothing */
	LIE_POISON,
	LIE_DEATH,
	LIE_FAR, /* INT32_MIN */
	LIE_STAMPS,
	LIE_STREAM, /* it was in a stream that there is not */
	LIE_FAILED, /* that may be */

	/* words */
	LIE_TAIL,      /* of the answers, far ahead, */
	LIE_TAIL_BACK, /* or behind */
	LIE_HEAD,      /* of the requests */
	LIE_RUNS_NONE, /* it works for a reactor that is not there, */
	LIE_RUNS_FREE, /* or at a request that is not, */
	LIE_RUNS_ONE,  /* or at this one, for ever */
	LIE_RUNS_ANEW, /* or at something else each time, for ever */
	LIE_FAULT,     /* a culprit and a fault that are none, and it ends */
	LIE_LOST,      /* the device is lost, and it ends */
	LIE_WHY,       /* it ends, by what is no text */
	LIE_SCRIBBLE,  /* any, for ever */

	/* deeds */
	LIE_SLEEP, /* it does nothing any more, */
	LIE_CLOSE, /* not even listen */
	LIE_EXIT,
	LIE_DESCRIPTORS, /* it sends some */
	LIE_STAY,        /* it keeps the memory of who leaves */
	LIE_HAD,         /* the session has had more time than there ever was */

	/* first words ($QUOIT_LIE) */
	LIE_MAGIC,
	LIE_VERSION,
	LIE_RESULT,
	LIE_OPERATIONS,
	LIE_DEVICES_NONE,
	LIE_DEVICES_MANY,
	LIE_BYTES_NONE,
	LIE_BYTES_MANY,
	LIE_NAME_ENDLESS,
	LIE_NAME_ESCAPE,
	LIE_TEXT_ENDLESS,
	LIE_SHORT,
	LIE_LONG,
	LIE_HELLO_EXIT,
	LIE_HELLO_CLOSE,
	LIE_HELLO_DESCRIPTORS, /* more than one */
};

#endif
