/* SPDX-License-Identifier: MIT */
/* loaded.c - use the library by dlopen only: of quoit.h only types and constants */
#include <dlfcn.h>
#include <stdio.h>

#include <quoit.h>

#undef quoit_wait_tensor
#undef quoit_read

static void *library;

static void *find(const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fprintf(stderr, "loaded: %s\n", dlerror());
	return symbol;
}

#define GET(name) (*(void **)&name##_here = find(#name))

int main(int argc, char **argv)
{
	__typeof__(quoit_open) *quoit_open_here;
	__typeof__(quoit_open_ring) *quoit_open_ring_here;
	__typeof__(quoit_create_vector) *quoit_create_vector_here;
	__typeof__(quoit_fill) *quoit_fill_here;
	__typeof__(quoit_with_priority) *quoit_with_priority_here;
	__typeof__(quoit_push) *quoit_push_here;
	__typeof__(quoit_wait_tensor) *quoit_wait_tensor_here;
	__typeof__(quoit_read) *quoit_read_here;
	__typeof__(quoit_close) *quoit_close_here;

	for (int i = 0; i < 2; i++) { /* closed, and opened again */
		struct quoit_session *s;
		struct quoit_ring *q;
		quoit_tensor t;
		float x = 0;

		library = dlopen(argc > 1 ? argv[1] : "libquoit.so.0", RTLD_NOW | RTLD_LOCAL);
		if (!library || !GET(quoit_open) || !GET(quoit_open_ring) ||
		    !GET(quoit_create_vector) || !GET(quoit_fill) || !GET(quoit_with_priority) ||
		    !GET(quoit_push) || !GET(quoit_wait_tensor) || !GET(quoit_read) ||
		    !GET(quoit_close))
			return 1;
		if (quoit_open_here(NULL, &s) || quoit_open_ring_here(s, NULL, &q))
			return 1;
		t = quoit_create_vector_here(q, QUOIT_F32, 1);
		if (quoit_push_here(
			    q, quoit_with_priority_here(quoit_fill_here(t, 7), QUOIT_PRIO_HIGH)) ||
		    quoit_wait_tensor_here(q, t, QUOIT_FOREVER) ||
		    quoit_read_here(q, t, &x, sizeof x) || x != 7 || quoit_close_here(s, 0))
			return 1;
		dlclose(library);
	}
	return 0;
}
