/* SPDX-License-Identifier: MIT */
/* module.c - load a plug-in module */
#include "module.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void refuse(struct quoit_exec_hello *h, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct quoit_exec_hello *h, int result, const char *format, ...)
{
	va_list args;

	h->result = result;
	va_start(args, format);
	vsnprintf(h->text, sizeof h->text, format, args);
	va_end(args);
}

static void describe(const struct quoit_exec_module *api, struct quoit_exec_hello *h)
{
	for (uint32_t i = 0; i < api->count; i++) {
		const struct quoit_exec_op *op = &api->ops[i];
		struct quoit_exec_op_row *row = &h->op[i];

		if (!op->name || strlen(op->name) >= sizeof row->name || !op->access ||
		    strlen(op->access) != QUOIT_MAX_TENSORS_PER_JOB || !op->run) {
			refuse(h, -EINVAL, "operation %u lacks its name, access or function", i);
			return;
		}
		strcpy(row->name, op->name);
		strcpy(row->access, op->access);
		row->flags = op->flags;
		row->cost = op->cost;
	}
	h->count = api->count;
}

void module_load(const char *path, struct module *ret, struct quoit_exec_hello *h)
{
	const struct quoit_exec_module *api = NULL;
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	*ret = (struct module){0};
	*h = (struct quoit_exec_hello){.magic = QUOIT_EXEC_MAGIC, .version = QUOIT_EXEC_VERSION};
	if (object)
		api = dlsym(object, QUOIT_EXEC_SYMBOL);
	if (!api) {
		refuse(h, -ENOEXEC, "%s", dlerror());
		return;
	}
	if (api->version != QUOIT_EXEC_VERSION) {
		refuse(h, -EPROTO, "the module has version %u, quoit-exec %u: build it again",
		       api->version, QUOIT_EXEC_VERSION);
		return;
	}
	if (!api->count || api->count > QUOIT_EXEC_MAX_OPS) {
		refuse(h, -EINVAL, "the module has %u operations: allowed are 1 to %u", api->count,
		       QUOIT_EXEC_MAX_OPS);
		return;
	}
	describe(api, h);
	if (!h->result && api->init) {
		int err = api->init(&ret->state);

		if (err < 0)
			refuse(h, err, "the module's init function failed: %s", strerror(-err));
	}
	if (!h->result)
		ret->api = api;
}

void module_unload(struct module *m)
{
	if (m->api && m->api->exit)
		m->api->exit(m->state);
	m->api = NULL;
}
