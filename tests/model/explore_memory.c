/* SPDX-License-Identifier: MIT */
/* explore_memory.c - let threads see shared words as C11 allows */
#include "explore_memory.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char *const order_names[EXPLORE_ORDER_NR] = {
	"plain", "relaxed", "acquire", "release", "seq_cst",
};

void explore_memory_reset(void)
{
	memset(explore_memory, 0, sizeof(*explore_memory));
	for (int i = 0; i < EXPLORE_THREADS; i++)
		explore_memory->view[i].clock[i] = 1;
}

static struct explore_word *word_add(const void *address, const char *name)
{
	assert(explore_memory->words < EXPLORE_WORDS);
	struct explore_word *w = &explore_memory->word[explore_memory->words++];

	w->address = address;
	w->name = name;
	return w;
}

void explore_share(const void *address, enum explore_kind kind, uint64_t value, const char *name)
{
	struct explore_word *w = word_add(address, name);

	w->kind = kind;
	w->store[w->stores++].value = value;
}

void explore_share_hostile(const void *address, const uint64_t *values, size_t count,
			   const char *name)
{
	assert(count <= EXPLORE_HOSTILE);
	struct explore_word *w = word_add(address, name);

	w->values = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		w->store[i].value = values[i];
}

static struct explore_word *word_find(const void *address)
{
	for (uint8_t i = 0; i < explore_memory->words; i++)
		if (explore_memory->word[i].address == address)
			return &explore_memory->word[i];
	return NULL;
}

static struct explore_word *word_at(const void *address)
{
	struct explore_word *w = word_find(address);

	assert(w && "a word that no scenario declared");
	return w;
}

#define HALF_BITS 32

/* If the address is a word's upper half, *ret_shift says how far up its value lies. */
static struct explore_word *word_or_half_at(const void *address, unsigned *ret_shift)
{
	struct explore_word *w = word_find(address);

	*ret_shift = w ? 0 : HALF_BITS;
	return w ? w : word_at((const uint32_t *)address - 1);
}

static void view_join(struct explore_view *to, const struct explore_view *from)
{
	for (int i = 0; i < EXPLORE_WORDS; i++)
		if (from->from[i] > to->from[i])
			to->from[i] = from->from[i];
	for (int i = 0; i < EXPLORE_THREADS; i++)
		if (from->clock[i] > to->clock[i])
			to->clock[i] = from->clock[i];
}

/* The store that this load sees: any that it may see; for a slot, the newest. */
static uint8_t word_pick(const struct explore_word *w, uint8_t oldest)
{
	uint8_t newest = w->stores - 1;

	if (w->kind == EXPLORE_SLOT) {
		explore_check(oldest == newest, "a slot is read that was not handed over");
		return newest;
	}
	return oldest + (uint8_t)explore_choose(newest - oldest + 1u);
}

static uint64_t word_load(struct explore_word *w, enum explore_order order)
{
	struct explore_view *view = &explore_memory->view[explore_self()];
	size_t nr = (size_t)(w - explore_memory->word);
	uint8_t oldest = view->from[nr];

	if (w->values)
		return w->store[explore_choose(w->values)].value;
	if (order == EXPLORE_SEQ_CST && w->last_seq_cst > oldest)
		oldest = w->last_seq_cst;
	uint8_t seen = word_pick(w, oldest);

	view->from[nr] = seen;
	w->read_at[explore_self()] = view->clock[explore_self()];
	if (order == EXPLORE_ACQUIRE || order == EXPLORE_SEQ_CST)
		view_join(view, &w->store[seen].view);
	return w->store[seen].value;
}

uint64_t explore_load(const void *address, enum explore_order order)
{
	struct explore_word *w = word_at(address);

	explore_step();
	uint64_t value = word_load(w, order);

	explore_log("%s -> %#" PRIx64 " (%s)", w->name, value, order_names[order]);
	return value;
}

uint64_t explore_kernel_load(const void *address)
{
	unsigned shift;
	struct explore_word *w = word_or_half_at(address, &shift);
	uint8_t seen = w->last_seq_cst;

	if (explore_memory->view[explore_self()].from[w - explore_memory->word] > seen)
		seen = explore_memory->view[explore_self()].from[w - explore_memory->word];
	return w->store[word_pick(w, seen)].value >> shift;
}

static void word_check_overwrite(const struct explore_word *w, const struct explore_view *view)
{
	for (int i = 0; i < EXPLORE_THREADS; i++)
		explore_check(i == explore_self() || w->read_at[i] <= view->clock[i],
			      "a slot is written that was not handed back");
}

void explore_put(const void *address, uint64_t value, enum explore_order order)
{
	struct explore_word *w = word_at(address);

	explore_step();
	explore_log("%s <- %#" PRIx64 " (%s)", w->name, value, order_names[order]);
	struct explore_view *view = &explore_memory->view[explore_self()];

	if (w->kind == EXPLORE_SLOT)
		word_check_overwrite(w, view);
	explore_check(w->stores < EXPLORE_STORES, "a word is stored into without end");
	struct explore_store *s = &w->store[w->stores];

	view->from[w - explore_memory->word] = w->stores;
	s->value = value;
	if (order == EXPLORE_RELEASE || order == EXPLORE_SEQ_CST) {
		s->view = *view;
		view->clock[explore_self()]++;
	}
	if (order == EXPLORE_SEQ_CST)
		w->last_seq_cst = w->stores;
	w->stores++;
}
