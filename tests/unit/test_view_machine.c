/* SPDX-License-Identifier: MIT */
/* test_view_machine.c - quoit top's lines of cores, nodes and devices, and those above them */
#include <string.h>

#include <quoit/abi.h>

#include <criterion/criterion.h>

#include "top/view_private.h"

#define HZ     1000000000u /* a tick is a nanosecond */
#define SECOND UINT64_C(1000000000)

static struct view v;
static struct view_options o;
static struct follow f;
static struct machine m;

static struct counters_totals *totals(unsigned reading)
{
	return &f.totals[reading % 2];
}

static void set_daemon(unsigned counter, uint64_t value)
{
	totals(2)->value[counter] = (struct counter){value, true};
}

/*
 * Two cores, a reactor on the second one.  In the second between two readings it worked for 0.3 s
 * and looked for work for 0.2 s; tiles took 10 % of the first core.
 */
static void open_scene(void)
{
	memset(&v, 0, sizeof v);
	v.width = 100;
	memset(&o, 0, sizeof o);
	memset(&m, 0, sizeof m);
	memset(&f, 0, sizeof f);
	f.readings = 2;
	f.read_ns = 100 * SECOND;
	f.daemon_lives = true;
	for (unsigned reading = 1; reading <= 2; reading++) {
		struct counters_totals *t = totals(reading);

		*t = (struct counters_totals){
			.origin = {.daemon_pid = 77, .tsc_hz = HZ}, .reactors = 1, .cores = 2};
		t->reactor[0].cpu = 5;
		t->core[0].cpu = 4;
		t->core[1].cpu = 5;
		for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
			t->reactor[0].value[i].known = i != QUOIT_REACTOR_ALIVE;
		for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
			t->value[i].known = true;
	}
	totals(2)->reactor[0].value[QUOIT_REACTOR_HEARTBEAT].value = SECOND;
	totals(2)->reactor[0].value[QUOIT_REACTOR_WORK_TICKS].value = SECOND * 3 / 10;
	totals(2)->reactor[0].value[QUOIT_REACTOR_POLL_TICKS].value = SECOND / 5;
	f.tiles[0] = 10;
	f.tiles[1] = -1;
	m.own_percent = -1;
	for (unsigned i = 0; i < MACHINE_CPUS; i++)
		m.busy[i] = -1;
	m.busy[5] = 62.5;
	for (unsigned i = 0; i < MACHINE_NODES; i++)
		m.node[i].bytes = -1;
}

static void close_scene(void)
{
	view_free(&v);
}

TestSuite(view_machine, .init = open_scene, .fini = close_scene);

static void begin_again(void)
{
	v.count = 0;
	view_begin_line(&v);
}

static void expect_line(unsigned line, const char *wanted)
{
	cr_assert_lt(line, v.count);
	cr_expect_str_eq(v.lines[line].text, wanted, "%s|\n%s|", v.lines[line].text, wanted);
}

/* ---- cores ---- */

Test(view_machine, a_core_has_a_bar_and_figures_of_what_is_known)
{
	view_cores(&v, &o, &f, &m, 0);
	cr_expect_eq(v.count, 2);
	expect_line(
		0,
		"cpu4      [====                                    ]    - w  10.0 t     - p     - sys               ");
	expect_line(
		1,
		"cpu5   r0 [||||||||||||........                    ] 30.0 w     - t  20.0 p  62.5 sys               ");
	cr_expect_eq(v.lines[1].style[11], VIEW_WORK);
	cr_expect_eq(v.lines[1].style[22], VIEW_WORK);
	cr_expect_eq(v.lines[1].style[23], VIEW_POLL);
	cr_expect_eq(v.lines[0].style[11], VIEW_TILE);
}

/* Two counters may be of different times. */
Test(view_machine, a_figure_keeps_its_place_however_large_it_is)
{
	m.busy[5] = 998.6;
	view_cores(&v, &o, &f, &m, 0);
	cr_expect(strstr(v.lines[1].text, "20.0 p 998.6 sys "), "%s", v.lines[1].text);
	m.busy[5] = 1000;
	begin_again();
	view_cores(&v, &o, &f, &m, 0);
	cr_expect(strstr(v.lines[1].text, "20.0 p 999.0 sys "), "%s", v.lines[1].text);
}

Test(view_machine, one_line_of_cores_has_their_mean)
{
	o.one_line_of_cores = true;
	f.tiles[1] = 30;
	m.busy[4] = 37.5;
	view_cores(&v, &o, &f, &m, 0);
	cr_expect_eq(v.count, 1);
	expect_line(
		0,
		"2 cores   [||||||========....                      ] 15.0 w  20.0 t  10.0 p  50.0 sys ");
	f.tiles[1] = -1;
	m.busy[4] = -1;
	begin_again();
	view_cores(&v, &o, &f, &m, 0);
	cr_expect(strstr(v.lines[0].text, "] 15.0 w     - t  10.0 p     - sys "), "%s",
		  v.lines[0].text);
}

/* A core's cell has 54 columns at least. */
Test(view_machine, cores_stand_side_by_side_and_are_read_downwards)
{
	totals(2)->cores = 3;
	totals(2)->core[2].cpu = 9;
	v.width = 108;
	view_cores(&v, &o, &f, &m, 0);
	cr_expect_eq(v.count, 2);
	cr_expect(!strncmp(v.lines[0].text, "cpu4 ", 5));
	cr_expect(!strncmp(v.lines[0].text + 54, "cpu9 ", 5), "%s", v.lines[0].text);
	cr_expect(!strncmp(v.lines[1].text, "cpu5 ", 5));
	v.width = 107;
	begin_again();
	view_cores(&v, &o, &f, &m, 0);
	cr_expect_eq(v.count, 3);
}

Test(view_machine, many_cores_are_one_line_where_they_took_a_third_of_the_screen)
{
	totals(2)->cores = 8;
	view_cores(&v, &o, &f, &m, 24);
	cr_expect_eq(v.count, 8);
	begin_again();
	view_cores(&v, &o, &f, &m, 23);
	cr_expect_eq(v.count, 1);
	begin_again();
	totals(2)->cores = 2;
	view_cores(&v, &o, &f, &m, 3);
	cr_expect_eq(v.count, 2, "two lines are few");
}

/* ---- nodes ---- */

Test(view_machine, a_node_has_its_memory_and_that_of_its_sessions)
{
	struct followed list[3] = {{.readings = 1}, {.readings = 2}, {.readings = 0}};

	m.node[0].bytes = INT64_C(64) << 30;
	m.node[0].free = INT64_C(16) << 30;
	m.node[2].bytes = INT64_C(32) << 30;
	m.node[2].free = -1;
	m.node[1].bytes = 0; /* a device's */
	for (unsigned i = 0; i < 3; i++) {
		struct counters_session *s = &list[i].reading[list[i].readings % 2];

		s->node = i == 1 ? 2 : 0;
		s->value[QUOIT_SESSION_HOST_USED] = (struct counter){(i + 1) << 20, true};
		s->value[QUOIT_SESSION_HOST_LEASE] = (struct counter){(i + 1) << 30, true};
	}
	f.list = list;
	f.count = 3;
	view_nodes(&v, &f, &m, 0);
	cr_expect_eq(v.count, 2);
	expect_line(0, "node0      64.0G of memory,  16.0G free;   1.0G leased,   1.0M used");
	expect_line(1, "node2      32.0G of memory,     0B free;   2.0G leased,   2.0M used");
}

Test(view_machine, nodes_take_a_sixth_of_the_screen_and_the_others_are_counted)
{
	for (unsigned i = 0; i < 5; i++)
		m.node[i].bytes = 1 << 20;
	view_nodes(&v, &f, &m, 30);
	cr_expect_eq(v.count, 5);
	begin_again();
	view_nodes(&v, &f, &m, 29);
	cr_expect_eq(v.count, 5);
	expect_line(4, "and 1 nodes more");
}

/* ---- the lines above ---- */

static void fill(void)
{
	view_fill(&v, &o, &f, &m, 140, 30);
	cr_assert_not(v.failed);
}

/* The first line without the clock, of which only the form is known. */
static const char *first_line(void)
{
	static char text[VIEW_COLUMNS_MOST + 1];
	char *clock;

	fill();
	strcpy(text, v.lines[0].text);
	clock = strstr(text, " - ");
	cr_assert(clock);
	for (unsigned i = 3; i < 11; i++) {
		cr_expect(i % 3 == 2 ? clock[i] == ':' : clock[i] >= '0' && clock[i] <= '9', "%s",
			  text);
		clock[i] = clock[i] == ':' ? ':' : 'h';
	}
	return text;
}

static void expect_first(const char *wanted)
{
	const char *text = first_line();

	cr_expect_str_eq(text, wanted, "%s|\n%s|", text, wanted);
}

/* This tool's version, as quoitd tells its own. */
static void be_of_this_version(void)
{
	unsigned a, b, c;

	cr_assert_eq(sscanf(QUOIT_VERSION, "%u.%u.%u", &a, &b, &c), 3);
	set_daemon(QUOIT_DAEMON_ABI, QUOIT_ABI_VERSION);
	set_daemon(QUOIT_DAEMON_VERSION, a * 1000000 + b * 1000 + c);
}

Test(view_machine, the_first_line_says_how_quoitd_is)
{
	be_of_this_version();
	totals(1)->origin.started_ns = totals(2)->origin.started_ns = 40 * SECOND;
	m.own_percent = 1.25;
	m.own_bytes = 3 << 20;
	expect_first("quoitd 77, up 00:01:00 - hh:hh:hh - top itself: 1.2% of a core, 3.0M");
	m.own_percent = -1;
	set_daemon(QUOIT_DAEMON_VERSION, 99001002);
	expect_first("quoitd 77, up 00:01:00, of version 99.1.2, not " QUOIT_VERSION
		     " - hh:hh:hh - top itself: -, 3.0M");
	f.daemon_lives = false;
	expect_first("quoitd 77 is dead: its last figures - hh:hh:hh - top itself: -, 3.0M");
	f.waiting = true;
	expect_first("quoitd 77 has ended, its socket waits for a client: its last figures - "
		     "hh:hh:hh - top itself: -, 3.0M");
}

Test(view_machine, a_reactor_that_is_silent_is_named)
{
	for (unsigned i = 1; i <= 2; i++) {
		totals(i)->reactor[0].value[QUOIT_REACTOR_ALIVE] = (struct counter){1, true};
		totals(i)->origin.started_ns = 1;
	}
	cr_expect(!strncmp(first_line(), "quoitd 77 does not move: reactor 0 silent for ", 46));
	f.daemon_lives = false;
	cr_expect(!strncmp(first_line(), "quoitd 77 is dead", 17));
}

Test(view_machine, the_second_line_has_rates_of_all_and_what_was_refused)
{
	totals(2)->reactor[0].value[QUOIT_REACTOR_SESSIONS].value = 3;
	totals(2)->reactor[0].value[QUOIT_REACTOR_OPEN].value = 8;
	totals(2)->reactor[0].value[QUOIT_REACTOR_JOBS].value = 2000;
	totals(2)->reactor[0].value[QUOIT_REACTOR_QUEUE_TICKS].value = 5 * SECOND;
	fill();
	expect_line(1, "3 sessions, 8 open jobs; 2000 SQEs/s, 5.00 open on average, 2.5m each; "
		       "0.30 cores at work");
	totals(2)->value[QUOIT_DAEMON_REFUSED_LEASE].value = 2;
	fill();
	cr_expect(strstr(v.lines[1].text, "at work; 2 refused, 0 ended"), "%s", v.lines[1].text);
	totals(2)->value[QUOIT_DAEMON_REFUSED_LEASE].value = 0;
	totals(2)->value[QUOIT_DAEMON_CLIENTS_DIED].value = 1;
	fill();
	cr_expect(strstr(v.lines[1].text, "at work; 0 refused, 1 ended"), "%s", v.lines[1].text);
}

static bool has_line(const char *text)
{
	for (unsigned i = 0; i < v.count; i++)
		if (!strcmp(v.lines[i].text, text))
			return true;
	return false;
}

static bool has_start(const char *start)
{
	for (unsigned i = 0; i < v.count; i++)
		if (!strncmp(v.lines[i].text, start, strlen(start)))
			return true;
	return false;
}

Test(view_machine, the_first_page_has_cores_nodes_devices_and_the_table)
{
	cr_assert(columns_choose(&o.columns, "session,pid", false, "test"));
	m.node[0].bytes = 1 << 20;
	f.devices = 1;
	fill();
	cr_expect(has_start("cpu4 "));
	cr_expect(has_start("node0 "));
	cr_expect(has_start("device1 "));
	cr_expect(has_start("SESSION PID "));
}

Test(view_machine, the_last_lines_say_what_is_missing)
{
	fill();
	cr_expect_not(has_line("3 sessions of other users"));
	f.unreadable = 3;
	f.asked = -1;
	f.damaged = 2;
	fill();
	cr_expect(has_line("3 sessions of other users"));
	cr_expect(has_line("quoitd does not answer, and it alone can tell your sessions"));
	cr_expect(has_line("2 sessions could not be read"));
	f.want = -24;
	fill();
	cr_expect(has_line(
		"2 sessions could not be read; cannot read new figures: Too many open files"));
	f.damaged = 0;
	fill();
	cr_expect(has_line("cannot read new figures: Too many open files"));
}

Test(view_machine, help_names_every_key_of_the_last_line_and_the_interval)
{
	static const char *const starts[] = {"  h ?  ", "  Enter  ", "  u  ",   "  / n  ",
					     "  k  ",   "  c  ",     "  d s  ", "  q  "};

	o.page = VIEW_HELP;
	o.interval = 2.5;
	fill();
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
		cr_expect(has_start(starts[i]), "%s", starts[i]);
	cr_expect(has_line("  Figures are of the last 2.5 s; '-' is not known"));
}
