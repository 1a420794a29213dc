/* SPDX-License-Identifier: MIT */
/* output.c - convert a recording into a file or to standard output */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Warn of gaps, before the reader trusts the output. */
static void warn(const char *command, const struct trace_reader *r, const struct recording *rec)
{
	const struct trace_end *e = &rec->end;

	if (r->cut || !rec->ended)
		fprintf(stderr,
			"quoit %s: the recording ends early: its recorder was killed, or the disk "
			"was full\n",
			command);
	if (e->how & TRACE_DAEMON_DIED)
		fprintf(stderr, "quoit %s: quoitd ended during the recording\n", command);
	if (e->dropped || e->lost || e->unwritten)
		fprintf(stderr,
			"quoit %s: the recording is incomplete: quoitd dropped %" PRIu64
			" jobs, the recorder lost %" PRIu64 " records and had no room for %" PRIu64
			"\n",
			command, e->dropped, e->lost, e->unwritten);
	if (rec->damaged || rec->foreign)
		fprintf(stderr, "quoit %s: %" PRIu64 " records are invalid and were left out\n",
			command, rec->damaged + rec->foreign);
}

/* ---- the file ---- */

static int no_file(const char *command, const char *path)
{
	fprintf(stderr, "quoit %s: %s: %s\n", command, path, strerror(errno));
	return 1;
}

static int write_stdout(struct trace_reader *r, struct recording *rec, output_fn *write)
{
	int err = write(r, rec, stdout);

	if (err)
		return err;
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

/* A device or a pipe is written directly, and never replaced by a file. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* The output is as private as the recording. */
static FILE *open_new(char *name, bool special)
{
	int fd = special ? open(name, O_WRONLY | O_CLOEXEC) : mkostemp(name, O_CLOEXEC);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !out)
		close(fd);
	return out;
}

/*
 * Write under another name first.  So the file is always whole, even for readers of the old one, or
 * if we are killed.
 */
static int write_file(const char *command, struct trace_reader *r, struct recording *rec,
		      const char *path, output_fn *write)
{
	bool special = is_special(path);
	char *new = NULL;
	FILE *out = NULL;
	int err = 0;

	if (asprintf(&new, "%s%s", path, special ? "" : ".XXXXXX") < 0)
		return -ENOMEM;
	out = open_new(new, special);
	if (!out) {
		err = no_file(command, new);
		free(new);
		return err;
	}
	err = write(r, rec, out);
	if (!err && (fflush(out) || ferror(out)))
		err = no_file(command, new);
	if (fclose(out) && !err)
		err = no_file(command, new);
	if (!err && !special && rename(new, path) < 0)
		err = no_file(command, path);
	if (err && !special)
		(void)unlink(new);
	free(new);
	return err;
}

int output_write(const char *command, const char *from, const char *to, output_fn *write)
{
	struct trace_reader r;
	struct recording rec = {0};
	int err = trace_reader_open(&r, from);

	if (!err)
		err = recording_load(&r, &rec);
	if (!err)
		warn(command, &r, &rec);
	if (!err)
		err = to && strcmp(to, "-") != 0 ? write_file(command, &r, &rec, to, write)
						 : write_stdout(&r, &rec, write);
	if (err == -EIO && !*r.why)
		err = 1; /* standard output failed; the last flush reports it */
	if (err < 0)
		fprintf(stderr, "quoit %s: %s: %s\n", command, from,
			*r.why ? r.why : strerror(-err));
	recording_free(&rec);
	trace_reader_close(&r);
	return err != 0;
}
