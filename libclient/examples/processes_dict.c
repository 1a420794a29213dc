/* SPDX-License-Identifier: MIT */
/*
 * processes_dict.c - a Manager's dict, list and Namespace: keys with values.  Processes read what
 * the first one has set, note their results in a dict, and append to a list as they come.
 */
#include <errno.h>
#include <string.h>

#include "processes.h"

#define WORKERS 4u
#define APPENDS 25u /* to the list, by each worker */

struct shared {
	struct name keys;
};

/* manager.list().append(number): the length is counted up, unless another process was faster */
static int append(struct own *own, int keys, int64_t number)
{
	struct quoit_key_state state;
	char key[32];
	int64_t length;
	int err;

	do {
		state.revision = 0; /* there is no list yet */
		length = 0;
		err = quoit_get_value(own->q, keys, "list/length", &length, sizeof length, &state);
		if (err && err != -ENOENT)
			return err;
		length++;
		err = quoit_put_value(own->q, keys, "list/length", &length, sizeof length,
				      state.revision, NULL);
	} while (err == -EEXIST || err == -ESTALE);
	if (err)
		return err;
	snprintf(key, sizeof key, "list/%08lld", (long long)length - 1);
	return quoit_put_value(own->q, keys, key, &number, sizeof number, 0, NULL);
}

static int work(unsigned number, void *with)
{
	const struct shared *shared = with;
	struct own own;
	double scale, result;
	char key[32];
	int keys, err = own_open(&own);

	if (err)
		return err;
	keys = quoit_open_keyspace(own.s, shared->keys.text, NULL);
	/* namespace.scale */
	err = quoit_get_value(own.q, keys, "namespace/scale", &scale, sizeof scale, NULL);
	result = scale * number;
	/* dict[number] = result */
	snprintf(key, sizeof key, "dict/%u", number);
	if (!err)
		err = quoit_put_value(own.q, keys, key, &result, sizeof result, QUOIT_ANY_REVISION,
				      NULL);
	for (unsigned i = 0; i < APPENDS && !err; i++)
		err = append(&own, keys, number);
	return err ? err : quoit_close(own.s, 0);
}

/* for key in dict: total += dict[key] */
static int add_up(struct own *own, int keys, double *ret)
{
	const struct quoit_key_entry *entry = NULL;
	struct quoit_key_state state;
	char page[1024];
	double value;
	int err = quoit_list_keys(own->q, keys, "dict/", NULL, 0, page, sizeof page, &state);

	*ret = 0;
	while (!err && (entry = quoit_next_entry(page, state.bytes, entry)) != NULL) {
		err = quoit_get_value(own->q, keys, entry->key, &value, sizeof value, NULL);
		*ret += value;
	}
	return err;
}

/* Every worker's number is in the list as often as that has appended it. */
static int check_list(struct own *own, int keys, int64_t *ret_length)
{
	unsigned seen[WORKERS] = {0};
	char key[32];
	int64_t number;
	int err =
		quoit_get_value(own->q, keys, "list/length", ret_length, sizeof *ret_length, NULL);

	for (int64_t i = 0; i < *ret_length && !err; i++) {
		snprintf(key, sizeof key, "list/%08lld", (long long)i);
		err = quoit_get_value(own->q, keys, key, &number, sizeof number, NULL);
		if (!err)
			seen[number % WORKERS]++;
	}
	for (unsigned i = 0; i < WORKERS && !err; i++)
		err = seen[i] == APPENDS ? 0 : -EBADMSG;
	return err;
}

int main(void)
{
	struct shared shared = {name_of("keys")};
	const double scale = 2.5;
	pid_t worker[WORKERS];
	int64_t length = 0;
	double total = 0;
	struct own own;
	int keys, bad;

	if (own_open(&own))
		return 1;
	keys = quoit_open_keyspace(own.s, shared.keys.text, NULL);
	if (keys < 0 || quoit_put_value(own.q, keys, "namespace/scale", &scale, sizeof scale,
					QUOIT_ANY_REVISION, NULL))
		return 1;
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = process_start(work, i, &shared);
	bad = process_join_all(worker, WORKERS);
	bad += add_up(&own, keys, &total) != 0;
	bad += check_list(&own, keys, &length) != 0;
	printf("a dict of %u results, whose sum is %g, and a list of %lld; %d failed\n", WORKERS,
	       total, (long long)length, bad);
	quoit_close(own.s, 0);
	return bad || total != scale * 6 || length != WORKERS * APPENDS;
}
