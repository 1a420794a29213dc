/* SPDX-License-Identifier: MIT */
/* test_report.c - quoit report's page, shown by a browser */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tool.h"

#define BROWSER "chromium"

static char folder[] = "/tmp/quoit-report.XXXXXX";
static char dom[4 << 20];

/* Make a page of a real recording, with its files in the folder. */
static void make_page(void)
{
	char said[4096];

	cr_assert(mkdtemp(folder));
	cr_assert_eq(tool_run(said, sizeof said, "trace record -o %s/trace -- %s/examples/w1_queue",
			      folder, tool_folder()),
		     0, "%s", said);
	cr_assert_eq(tool_run(said, sizeof said, "report %s/trace -o %s/page.html", folder, folder),
		     0, "%s", said);
}

static void remove_page(void)
{
	char line[128];

	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(report, .init = make_page, .fini = remove_page, .timeout = 240);

/*
 * Let the browser print the page with these options; requests of the page to the network cannot
 * succeed.
 */
static void browse(const char *options)
{
	char line[1024];
	size_t n;
	FILE *from;

	if (system("command -v " BROWSER " >/dev/null 2>&1") != 0)
		cr_skip_test("no " BROWSER " here");
	snprintf(line, sizeof line,
		 "HOME=%s timeout 200 " BROWSER " --headless --no-sandbox --disable-gpu "
		 "--disable-dev-shm-usage --user-data-dir=%s/profile --no-first-run "
		 "--virtual-time-budget=5000 %s file://%s/page.html 2>/dev/null",
		 folder, folder, options, folder);
	from = popen(line, "r");
	cr_assert(from);
	n = fread(dom, 1, sizeof dom - 1, from);
	dom[n] = '\0';
	cr_expect_eq(pclose(from), 0, "%s", line);
}

/* The axes of the charts of cores must reach the number of cores, even if few were busy. */
static void expect_scale(const char *page)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned charts = 0;

	for (const char *at = page; (at = strstr(at, " data-top=\"")); charts++) {
		at += strlen(" data-top=\"");
		cr_expect_geq(strtod(at, NULL), (double)cores, "%.20s", at);
	}
	cr_expect_geq(charts, 1);
}

/* The page says that it has drawn all jobs of the recording. */
Test(report, a_browser_draws_it_without_an_error)
{
	unsigned slices = 0;
	const char *state, *ticks;

	browse("--window-size=1200,900 --dump-dom");
	state = strstr(dom, "data-state=\"");
	cr_assert(state, "it did not come to its end");
	cr_expect_eq(sscanf(state, "data-state=\"ready: %u slices\"", &slices), 1, "%.60s", state);
	cr_expect_geq(slices, 40, "%u", slices);
	cr_expect(strstr(dom, "<td>gemm</td>"), "the table of operations");
	cr_expect(strstr(dom, "<path class=\"area\""), "the charts");
	cr_expect(strstr(dom, "<p id=\"verdict\">Jobs spent most of their time "), "the verdict");
	cr_expect(strstr(dom, "</i>gemm</li>"), "the legend");
	cr_expect(strstr(dom, "</i>pale: it waited</li>"), "the legend's rules");
	cr_expect(strstr(dom, "<canvas id=\"axis\""), "the axis");
	ticks = strstr(dom, "data-ticks=\"");
	cr_assert(ticks);
	cr_expect_geq(atoi(ticks + strlen("data-ticks=\"")), 2, "%.20s", ticks);
	expect_scale(dom);
	cr_expect(strstr(dom, "<option value=\"1\">1 w1_queue</option>"), "its session");
}

Test(report, it_fits_on_a_phone)
{
	browse("--window-size=360,740 --dump-dom");
	cr_expect(strstr(dom, "data-fits=\"true\""), "%.200s", dom);
}

Test(report, it_can_be_printed)
{
	char options[128], path[64];
	struct stat st = {0};

	snprintf(path, sizeof path, "%s/page.pdf", folder);
	snprintf(options, sizeof options, "--print-to-pdf=%s", path);
	browse(options);
	cr_expect_eq(stat(path, &st), 0);
	cr_expect_gt(st.st_size, 20000, "%lld", (long long)st.st_size);
}
