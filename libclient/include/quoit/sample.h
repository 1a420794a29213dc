/* SPDX-License-Identifier: MIT */
/*
 * sample.h - chooses the jobs that are timed phase by phase: one of each 64 indices of a ring, or of
 * 64 times a power of two if they come so fast that the daemon would not look at most of the
 * samples.
 *
 * Client and daemon find the same samples by the index and by one word of the daemon's
 * (quoit_daemon_words.sampling), which lies beside the word that the client reads at each flush
 * anyway.  While only one of them knows of a change, some samples have no note.  A sample's place
 * in its block moves from block to block, so that no rhythm of a program keeps to one side of it.
 * The first job of a ring, for which much is done once only, is never a sample.
 *
 * The client notes when it submitted a sample's SQE, and when it reaped its CQE, in words that lie
 * beside the index which it writes then anyway (quoit_client_words): the lowest 16 bits of the
 * block's number above 48 bits of the TSC, so that one word tells both.
 */
#ifndef QUOIT_SAMPLE_H
#define QUOIT_SAMPLE_H

#include <stdint.h>

#include <quoit/abi.h>

#define QUOIT_SAMPLE_EVERY 64u
#define QUOIT_SAMPLE_BITS  6u

/* Each block of this many indices, times two to the power of `rarity`, has one sample. */
#define QUOIT_SAMPLE_RAREST 8u

/* The word that tells both rarities: for SQEs and for CQEs. */
static inline uint32_t quoit_sampling(uint32_t of_sqes, uint32_t of_cqes)
{
	return of_sqes | of_cqes << 8;
}

static inline uint32_t quoit_sampling_of_sqes(uint32_t word)
{
	uint32_t rarity = word & 0xffu;

	return rarity < QUOIT_SAMPLE_RAREST ? rarity : QUOIT_SAMPLE_RAREST;
}

static inline uint32_t quoit_sampling_of_cqes(uint32_t word)
{
	return quoit_sampling_of_sqes(word >> 8);
}

/* The sample in the block of this index; multiples of the golden ratio choose its place. */
static inline uint32_t quoit_sample_of(uint32_t index, uint32_t rarity)
{
	const uint32_t bits = QUOIT_SAMPLE_BITS + rarity, block = index >> bits;

	return (block << bits) + ((block + 1u) * 0x9e3779b1u >> (32u - bits));
}

/* The first sample that is not before this index. */
static inline uint32_t quoit_sample_from(uint32_t index, uint32_t rarity)
{
	uint32_t sample = quoit_sample_of(index, rarity);

	return (int32_t)(sample - index) >= 0
		       ? sample
		       : quoit_sample_of(index + (QUOIT_SAMPLE_EVERY << rarity), rarity);
}

/*
 * Does this sample come before `end`?  Right for a ring's next sample, which is never behind the
 * ring's next index, if `end` is at or after that index.
 */
static inline int quoit_sample_precedes(uint32_t sample, uint32_t end)
{
	return (int32_t)(sample - end) < 0;
}

/* The number of the word for the sample with this index, and the word's value at this time. */
static inline uint32_t quoit_note_word(uint32_t index, uint32_t rarity)
{
	return (index >> (QUOIT_SAMPLE_BITS + rarity)) % QUOIT_NOTED;
}

static inline uint64_t quoit_note_of(uint32_t index, uint64_t tsc)
{
	return (uint64_t)(index / QUOIT_SAMPLE_EVERY) << 48 | (tsc & 0xffffffffffffu);
}

/*
 * When the sample was noted, as seen at `now`; 0: the word belongs to another sample, or its time
 * is not before `now`.
 */
static inline uint64_t quoit_note_time(uint64_t word, uint32_t index, uint64_t now)
{
	uint64_t ago = (now - word) & 0xffffffffffffu;

	if (!word || word >> 48 != (index / QUOIT_SAMPLE_EVERY & 0xffffu) || ago >> 47 || ago > now)
		return 0;
	return now - ago;
}

#endif
