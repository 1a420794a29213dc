/* SPDX-License-Identifier: MIT */
/* answer.c - answer requests to the exporter */
#include "answer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accept.h"
#include "exposition.h"
#include "gzip.h"
#include "microhttpd.h"
#include "read/daemon_state.h"

static const char index_text[] = "quoit exporter: the metrics of quoitd are at /metrics\n";

/* It does not repeat the host's name, which is a stranger's text. */
static const char wrong_host[] =
	"quoit exporter: this request's Host is not served: allowed are an address in numbers, "
	"localhost, this machine's name, and the names of --host=NAME,...\n";

/* ---- responses ---- */

/* One request for each connection, so that its cost to us ends with the answer. */
static struct MHD_Response *describe(struct MHD_Response *r, const char *type)
{
	if (r && mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    mhd.add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES)
		return r;
	if (r)
		mhd.destroy_response(r);
	return NULL;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
				 const char *text)
{
	struct MHD_Response *r =
		describe(mhd.create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
							 MHD_RESPMEM_MUST_COPY),
			 "text/plain; charset=utf-8");
	enum MHD_Result done = MHD_NO;

	if (r && (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
		  mhd.add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
		done = mhd.queue_response(connection, status, r);
	if (r)
		mhd.destroy_response(r);
	return done;
}

/*
 * If the counters cannot be read, there are no metrics: the scrape fails, and the answer says why.
 */
static enum MHD_Result send_failure(struct MHD_Connection *connection, int err)
{
	char text[160];

	snprintf(text, sizeof text, "quoit exporter: no counters of quoitd: %s\n",
		 daemon_state_reason(err));
	return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

/* ---- the metrics ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A text that is still being sent to some clients. */
struct held {
	struct answer_text *of;
	char *text;
};

/* Called when the last client has the text. */
static void let_go(void *arg)
{
	struct held *h = arg;

	h->of->held--;
	free(h->text);
	free(h);
}

static void forget(struct answer_text *t)
{
	if (t->response)
		mhd.destroy_response(t->response);
	t->response = NULL;
}

/* Add the headers that a cache on the way needs. */
static struct MHD_Response *describe_form(struct MHD_Response *r, unsigned form)
{
	r = describe(r, exposition_content_type(form & ANSWER_OPENMETRICS));
	if (r &&
	    mhd.add_response_header(r, MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding") ==
		    MHD_YES &&
	    (!(form & ANSWER_GZIP) ||
	     mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip") == MHD_YES))
		return r;
	if (r)
		mhd.destroy_response(r);
	return NULL;
}

/* Takes the text over; 0 or -ENOMEM. */
static int hold(struct answer_text *t, char *text, size_t size, unsigned form)
{
	struct held *h = malloc(sizeof *h);
	struct MHD_Response *r = NULL;

	if (h) {
		*h = (struct held){t, text};
		r = mhd.create_response_from_buffer_with_free_callback_cls(size, text, let_go, h);
	}
	if (!r) {
		free(text);
		free(h);
		return -ENOMEM;
	}
	t->held++;
	t->response = describe_form(r, form);
	return t->response ? 0 : -ENOMEM;
}

/* Make the text.  0; -errno: there is none. */
static int make(struct answer_text *t, struct collect *c, unsigned form)
{
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int err = out ? collect_write(c, out, form & ANSWER_OPENMETRICS) : -ENOMEM;

	if (out && fclose(out) != 0 && !err)
		err = -ENOMEM;
	if (!err && form & ANSWER_GZIP)
		err = gzip_replace(&text, &size);
	if (err) {
		free(text);
		return err;
	}
	return hold(t, text, size, form);
}

/*
 * If many clients read slowly, they all get the old text, since each new one takes memory; slow
 * connections end soon.
 */
static bool is_fresh(const struct answer_text *t)
{
	return t->response && (now_ms() - t->made_ms < ANSWER_FRESH_MS || t->held >= ANSWER_TEXTS);
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result send_metrics(struct answers *a, struct MHD_Connection *connection)
{
	bool openmetrics =
		exposition_accepts_openmetrics(header(connection, MHD_HTTP_HEADER_ACCEPT));
	bool gzip = accept_takes(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING), "gzip");
	unsigned form = (openmetrics ? ANSWER_OPENMETRICS : 0) | (gzip ? ANSWER_GZIP : 0);
	struct answer_text *t = &a->text[form];
	int err = 0;

	if (!is_fresh(t)) {
		forget(t);
		err = make(t, a->collect, form);
		t->made_ms = now_ms();
	}
	if (err)
		return send_failure(connection, err);
	return mhd.queue_response(connection, MHD_HTTP_OK, t->response);
}

/* ---- requests ---- */

enum MHD_Result answer_request(struct answers *a, struct MHD_Connection *connection,
			       const char *url, const char *method)
{
	if (!hosts_has(a->hosts, header(connection, MHD_HTTP_HEADER_HOST)))
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST, wrong_host);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "quoit exporter: only GET and HEAD are allowed\n");
	if (!strcmp(url, "/metrics"))
		return send_metrics(a, connection);
	if (!strcmp(url, "/"))
		return send_text(connection, MHD_HTTP_OK, index_text);
	return send_text(connection, MHD_HTTP_NOT_FOUND, index_text);
}

void answers_free(struct answers *a)
{
	for (unsigned i = 0; i < ANSWER_FORMS; i++)
		forget(&a->text[i]);
}
