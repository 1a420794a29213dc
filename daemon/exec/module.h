/* SPDX-License-Identifier: MIT */
/*
 * module.h - a plug-in module: found, checked, initialised, and described to quoitd.
 */
#ifndef QUOIT_EXEC_MODULE_H
#define QUOIT_EXEC_MODULE_H

#include <quoit/exec.h>

struct module {
	const struct quoit_exec_module *api;
	void *state;
};

/*
 * Load the shared object at `path`.  *ret_hello says to quoitd what it can do, or, with a
 * negative result and a text, why it is left out; then *ret is empty.
 */
void module_load(const char *path, struct module *ret, struct quoit_exec_hello *ret_hello);

/* Let it clean up.  An empty one is fine. */
void module_unload(struct module *m);

#endif
