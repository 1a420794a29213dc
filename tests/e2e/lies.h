/* SPDX-License-Identifier: MIT */
/*
 * lies.h - the lies that the device of tests/liar/quoit_exec.c can tell
 *
 * The device has no memory and computes nothing; it answers every job well, one after the other.  A
 * FILL job with one of these numbers makes it lie; $QUOIT_LIE makes it lie in its first words.
 */
#ifndef TESTS_LIES_H
#define TESTS_LIES_H

enum lie {
	LIE_NOT,

	/* lies in answers */
	LIE_ID,       /* an impossible request id */
	LIE_OTHER_ID, /* the id of a request that is not there */
	LIE_TYPE,
	LIE_UNMAP, /* an UNMAP of a slot that is in use */
	LIE_TWICE,
	LIE_EARLY, /* an answer before that of a request which it depends on */
	LIE_COUNT, /* a count, which devices never give */
	LIE_POISON,
	LIE_DEATH,
	LIE_FAR, /* INT32_MIN as the result */
	LIE_STAMPS,
	LIE_STREAM, /* a stream that does not exist */
	LIE_FAILED, /* a failure that is possible */

	/* lies in words */
	LIE_TAIL,      /* the answers' tail, far ahead */
	LIE_TAIL_BACK, /* the answers' tail, back */
	LIE_HEAD,      /* the requests' head */
	LIE_RUNS_NONE, /* works for a reactor that does not exist */
	LIE_RUNS_FREE, /* works at a request that does not exist */
	LIE_RUNS_ONE,  /* works at this request for ever */
	LIE_RUNS_ANEW, /* works at something new each time, for ever */
	LIE_FAULT,     /* impossible culprit and fault; then it ends */
	LIE_LOST,      /* says that the device is lost; then it ends */
	LIE_WHY,       /* ends with a `why` that is not text */
	LIE_SCRIBBLE,  /* writes random words, for ever */

	/* bad behaviour */
	LIE_SLEEP, /* does nothing any more */
	LIE_CLOSE, /* does nothing, and closes its sockets */
	LIE_EXIT,
	LIE_DESCRIPTORS, /* sends descriptors */
	LIE_STAY,        /* keeps the memory of sessions that leave */
	LIE_HAD,         /* says that the session had more time than has passed */

	/* lies in its first words ($QUOIT_LIE) */
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
	LIE_HELLO_DESCRIPTORS, /* several descriptors */
};

#endif
