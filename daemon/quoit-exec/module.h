/* SPDX-License-Identifier: MIT */
/* module.h - find, check and initialise a plug-in module, and describe it to quoitd. */
#ifndef QUOIT_EXEC_MODULE_H
#define QUOIT_EXEC_MODULE_H

#include <quoit/exec.h>

struct module {
	const struct quoit_exec_module *api;
	void *state;
};

/*
 * Load the shared object at `path`.  *ret_hello tells quoitd what it can do.  With a negative
 * result, its text says why the module is left out, and *ret is empty.
 */
void module_load(const char *path, struct module *ret, struct quoit_exec_hello *ret_hello);

/* Let the module clean up; an empty *m is fine. */
void module_unload(struct module *m);

#endif
