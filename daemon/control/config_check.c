/* SPDX-License-Identifier: MIT */
/* config_check.c - checks options that only this machine and this build can judge */
#include "config_check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <quoit/file_system.h>
#include <quoit/nearest.h>

#include "base/hang_injection.h"
#include "base/log.h"
#include "machine/topology.h"
#include "ops/blas.h"
#include "ops/optable.h"
#include "session/file_systems.h"

#define MOST_CPUS 8192u /* the most of a kernel for x86 */

/* Report a word that is not an operation, or one that cannot be switched off. */
static int look_at_operations(const struct config *config, bool first)
{
	const char *bad, *nearest = NULL;
	unsigned distance = UINT_MAX;
	int err = (first ? optable_disable : optable_check)(config->disable, &bad);
	char word[sizeof config->disable], where[CONFIG_WHERE_BYTES];

	if (!err)
		return 0;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(bad, ","), bad);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		const struct op_row *row = optable_find((uint8_t)i);

		if (row && quoit_nearest_is(word, row->name, &distance))
			nearest = row->name;
	}
	log_error("%s: disable: unknown operation '%s', or one that cannot be switched off%s%s%s",
		  config_where(config, "disable", 0, where), word,
		  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return err;
}

static int look_at_file_systems(const struct config *config)
{
	char word[sizeof config->file_systems], where[CONFIG_WHERE_BYTES];
	const char *bad, *nearest = NULL;
	struct quoit_file_system one;
	struct file_systems list;
	unsigned distance = UINT_MAX;

	if (file_systems_read(config->file_systems, &list, &bad) == 0)
		return 0;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(bad, ","), bad);
	for (unsigned i = 0; quoit_file_system_at(i, &one); i++)
		if (quoit_nearest_is(word, one.name, &distance))
			nearest = one.name;
	log_error("%s: file-systems: invalid '%s': allowed are " FILE_SYSTEMS_DISKS
		  ", the name of a file system that quoitd knows, and a number as 0x6969 (stat -f "
		  "-c %%t FILE)%s%s%s",
		  config_where(config, "file-systems", 0, where), word,
		  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return -EINVAL;
}

static int choose_devices(const struct config *config, struct gpu_choice *ret)
{
	char where[CONFIG_WHERE_BYTES];

	if (gpu_choose(config->gpu, ret))
		return 0;
	log_error("%s: gpu: invalid value '%s': allowed are auto, none, cuda, soft and soft:1 to "
		  "soft:%u",
		  config_where(config, "gpu", 0, where), config->gpu, CONFIG_DEVICES);
	return -EINVAL;
}

static int look_at_blas(const struct config *config)
{
	char where[CONFIG_WHERE_BYTES];

	if (!*config->blas || blas_is_word(config->blas))
		return 0;
	log_error("%s: blas: invalid value '%s': allowed are %s",
		  config_where(config, "blas", 0, where), config->blas, blas_words());
	return -EINVAL;
}

static bool is_there(uint32_t cpu)
{
	char path[64];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u", cpu);
	return access(path, F_OK) == 0;
}

/* Is a CPU of the list there?  Negative: it is not a list. */
static int names_cpus(const char *list)
{
	int named = topology_list_has(list, 0);

	for (uint32_t cpu = 0; cpu < MOST_CPUS && named >= 0; cpu++)
		if (topology_list_has(list, cpu) && is_there(cpu))
			return 1;
	return named < 0 ? named : 0;
}

static int look_at_cpus(const struct config *config)
{
	int named = *config->cpus ? names_cpus(config->cpus) : 1;
	char where[CONFIG_WHERE_BYTES];

	if (named > 0)
		return 0;
	log_error("%s: cpus: '%s' %s", config_where(config, "cpus", 0, where), config->cpus,
		  named < 0 ? "is not a list of CPUs like 0-3,8"
			    : "has none of the CPUs of this machine");
	return -EINVAL;
}

static int look_at_hang(const struct config *config, bool first)
{
	char where[CONFIG_WHERE_BYTES];
	enum hang_place place;

	if (hang_find(config->inject_hang, &place)) {
		if (first)
			hang_place = place;
		return 0;
	}
	log_error(
		"%s: inject-hang: no thread '%s' can be made to get stuck; allowed are " HANG_NAMES,
		config_where(config, "inject-hang", 0, where), config->inject_hang);
	return -EINVAL;
}

static int look_for_modules(const struct config *config)
{
	char where[CONFIG_WHERE_BYTES];
	int err = 0;

	for (unsigned i = 0; i < config->modules; i++)
		if (access(config->module[i], R_OK) < 0) {
			log_error("%s: module: cannot read '%s': %s",
				  config_where(config, "module", i, where), config->module[i],
				  strerror(errno));
			err = -EINVAL;
		}
	return err;
}

static int look_at_words(const struct config *config, struct gpu_choice *gpu, bool first)
{
	int operations = look_at_operations(config, first);
	int devices = choose_devices(config, gpu);
	int cpus = look_at_cpus(config), hang = look_at_hang(config, first);
	int blas = look_at_blas(config), files = look_at_file_systems(config);

	return operations ? operations
	       : devices  ? devices
	       : cpus     ? cpus
	       : blas     ? blas
	       : hang     ? hang
			  : files;
}

int config_check_words(const struct config *config, struct gpu_choice *gpu)
{
	optable_init();
	return look_at_words(config, gpu, true);
}

int config_check_again(const struct config *config)
{
	struct gpu_choice gpu;
	int words = look_at_words(config, &gpu, false), modules = look_for_modules(config);

	return words ? words : modules;
}

int config_check(const struct config *config)
{
	optable_init();
	return config_check_again(config);
}

#define INSTEAD "; or start quoitd with --lax-memory, and users can hold each other up"

int config_check_shared(const struct config *config, const struct features *features)
{
	int err = 0;

	if (config->is_private || config->lax_memory)
		return 0;
	if (features->missing[FEATURE_USERFAULTFD]) {
		log_error("cannot serve several users: userfaultfd for shared memory is refused "
			  "(%s): allow it where system calls are filtered" INSTEAD,
			  features->why[FEATURE_USERFAULTFD]);
		err = -EPERM;
	}
	if (features->missing[FEATURE_SEAL]) {
		log_error("cannot serve several users: F_SEAL_FUTURE_WRITE is refused (%s): it "
			  "needs Linux 5.1" INSTEAD,
			  features->why[FEATURE_SEAL]);
		err = -EPERM;
	}
	if (features_try_lock(config->memory) < 0) {
		log_error("cannot serve several users: the %llu MiB that leases may take (option "
			  "memory) cannot be locked: " FEATURES_MORE_MEMLOCK INSTEAD,
			  (unsigned long long)config->memory >> 20);
		err = -EPERM;
	}
	return err;
}
