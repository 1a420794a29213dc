/* SPDX-License-Identifier: MIT */
/* answer.c - what the exporter answers to a request */
#include "exporter/answer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/collect.h"
#include "exporter/exposition.h"
#include "exporter/microhttpd.h"

static const char index_text[] = "quoit exporter: the metrics of quoitd are at /metrics\n";

/* One connection, one request: what it costs us ends with the answer. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, unsigned status,
				   struct MHD_Response *r, const char *type)
{
	enum MHD_Result done = MHD_NO;

	if (r && mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    mhd.add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
	    (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	     mhd.add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES))
		done = mhd.queue_response(connection, status, r);
	if (r)
		mhd.destroy_response(r);
	return done;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
				 const char *text)
{
	struct MHD_Response *r = mhd.create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	return send_answer(connection, status, r, "text/plain; charset=utf-8");
}

/* What cannot be read is no metrics: the scrape fails, and says why. */
static enum MHD_Result send_failure(struct MHD_Connection *connection, int err)
{
	char text[160];

	snprintf(text, sizeof text, "quoit exporter: no counters of quoitd: %s\n",
		 collect_reason(err));
	return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
}

static enum MHD_Result send_metrics(struct collect *c, struct MHD_Connection *connection)
{
	bool openmetrics = exposition_accepts_openmetrics(
		mhd.lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int err = out ? collect_write(c, out, openmetrics) : -ENOMEM;

	if (out && fclose(out) != 0 && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return send_failure(connection, err);
	}
	return send_answer(connection, MHD_HTTP_OK,
			   mhd.create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE),
			   exposition_content_type(openmetrics));
}

enum MHD_Result answer_request(void *arg, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *body,
			       size_t *body_size, void **state)
{
	(void)version;
	(void)body;
	(void)body_size;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "quoit exporter: only GET and HEAD\n");
	if (!strcmp(url, "/metrics"))
		return send_metrics(arg, connection);
	if (!strcmp(url, "/"))
		return send_text(connection, MHD_HTTP_OK, index_text);
	return send_text(connection, MHD_HTTP_NOT_FOUND, index_text);
}
