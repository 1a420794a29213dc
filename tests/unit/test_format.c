/* SPDX-License-Identifier: MIT */
/* test_format.c - figures, names and tables as the tools print them */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "read/format.h"

/* ---- figures ---- */

Test(format, bytes_have_a_unit_and_three_or_four_digits)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0B"},
		{1, "1B"},
		{1023, "1023B"},
		{1024, "1.0K"},
		{1536, "1.5K"},
		{100 << 10, "100K"},
		{1023 << 10, "1023K"},
		{1048524, "1024K"},
		{1048525, "1.0M"},
		{UINT64_C(5) << 29, "2.5G"},
		{UINT64_C(3) << 40, "3.0T"},
		{UINT64_C(7) << 50, "7.0P"},
		{UINT64_MAX, "16.0E"},
	};
	char text[16];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		format_bytes(cases[i].bytes, text, sizeof text);
		cr_expect_str_eq(text, cases[i].text, "%s, not %s", text, cases[i].text);
	}
}

Test(format, a_flow_is_bytes_and_ends_somewhere)
{
	char text[16];

	format_flow(1536, text, sizeof text);
	cr_expect_str_eq(text, "1.5K");
	format_flow(1e300, text, sizeof text);
	cr_expect_str_eq(text, "8.7E");
}

Test(format, a_time_has_days_from_the_first_on)
{
	static const struct {
		uint64_t s;
		const char *text;
	} cases[] = {
		{0, "00:00:00"},        {59, "00:00:59"},    {60, "00:01:00"},
		{3661, "01:01:01"},     {86399, "23:59:59"}, {86400, "1-00:00:00"},
		{273906, "3-04:05:06"},
	};
	char text[24];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		format_time(cases[i].s * 1000000000u + 999999999u, text, sizeof text);
		cr_expect_str_eq(text, cases[i].text, "%s, not %s", text, cases[i].text);
	}
}

Test(format, a_span_has_a_unit_and_three_digits)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{0, "0n"},           {5e-9, "5n"},     {840e-9, "840n"},  {999.96e-9, "1.0u"},
		{12.34e-6, "12.3u"}, {250e-6, "250u"}, {4.56e-3, "4.6m"}, {0.12, "120m"},
		{1, "1.0s"},         {7.84, "7.8s"},   {150, "150s"},     {4000, "4000s"},
	};
	char text[24];

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		format_span(cases[i].seconds, text, sizeof text);
		cr_expect_str_eq(text, cases[i].text, "%s, not %s", text, cases[i].text);
	}
}

/* ---- names ---- */

Test(format, a_name_keeps_what_is_printable_and_nothing_else)
{
	char text[64];

	format_escape("a ~\\\x1b\xff"
		      "b\x7f",
		      text, sizeof text);
	cr_expect_str_eq(text, "a ~\\x5c\\x1b\\xffb\\x7f");
}

/* Each escape is there whole, or not at all. */
Test(format, an_escaped_name_ends_where_its_room_ends)
{
	char text[16];

	memset(text, 'x', sizeof text);
	format_escape("\x01\x02\x03", text, 9);
	cr_expect_str_eq(text, "\\x01\\x02");
	cr_expect_eq(text[9], 'x');
	format_escape("abcdefgh", text, 9);
	cr_expect_str_eq(text, "abcde", "a letter takes its place only where an escape would fit");
}

/* ---- tables ---- */

/* The table as it is printed; free it. */
static char *printed(struct format_table *t, bool headers)
{
	FILE *const kept = stdout;
	char *text = NULL;
	size_t size;

	stdout = open_memstream(&text, &size);
	format_print(t, headers);
	fclose(stdout);
	stdout = kept;
	return text;
}

static void expect_printed(struct format_table *t, bool headers, const char *wanted)
{
	char *text = printed(t, headers);

	cr_expect_str_eq(text, wanted, "printed:\n%swanted:\n%s", text, wanted);
	cr_expect_eq(t->used, 0, "the cells are freed");
	free(text);
}

static const struct format_column columns[] = {{"NAME", true}, {"COUNT", false}, {"WORD", true}};

static void add_row(struct format_table *t, const char *name, unsigned count, const char *word)
{
	format_cell_escaped(t, name);
	format_cell(t, "%u", count);
	format_cell(t, "%s", word);
}

Test(format, columns_are_as_wide_as_their_widest_cell_and_no_line_ends_with_blanks)
{
	struct format_table t = {.columns = columns, .count = 3};

	add_row(&t, "a", 1, "x");
	add_row(&t, "longest", 1234567, "word");
	add_row(&t, "b\n", 20, "");
	expect_printed(&t, true,
		       "NAME      COUNT WORD\n"
		       "a             1 x\n"
		       "longest 1234567 word\n"
		       "b\\x0a        20\n");
}

Test(format, without_titles_columns_are_as_wide_as_their_cells)
{
	struct format_table t = {.columns = columns, .count = 3};

	add_row(&t, "a", 1, "x");
	add_row(&t, "bc", 20, "y");
	expect_printed(&t, false, "a   1 x\nbc 20 y\n");
}

Test(format, a_line_is_cut_to_its_width)
{
	struct format_table t = {.columns = columns, .count = 3, .width = 10};

	add_row(&t, "a", 1, "x");
	add_row(&t, "b", 20, "yz");
	expect_printed(&t, true, "NAME COUNT\na        1\nb       20\n");
}

Test(format, a_table_has_all_of_its_rows)
{
	struct format_table t = {.columns = columns, .count = 3};
	unsigned lines = 0;
	char *text;

	for (unsigned i = 0; i < 1000; i++)
		add_row(&t, "name", i, "w");
	text = printed(&t, true);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_eq(lines, 1001);
	cr_expect(strstr(text, "\nname   999 w\n"));
	free(text);
}

Test(format, an_unknown_figure_is_a_dash)
{
	static const struct format_column four[] = {{"A"}, {"B"}, {"C"}, {"D"}, {"E"}};
	const struct counter known = {3072, true}, whole = {4096, true}, unknown = {7, false};
	const struct counter none = {0, true};
	struct format_table t = {.columns = four, .count = 5};

	format_cell_counter(&t, known);
	format_cell_bytes(&t, known);
	format_cell_percent(&t, known, whole);
	format_cell_percent(&t, none, whole);
	format_cell_percent(&t, known, none);
	format_cell_counter(&t, unknown);
	format_cell_bytes(&t, unknown);
	format_cell_percent(&t, unknown, whole);
	format_cell_percent(&t, known, unknown);
	format_cell(&t, "end");
	expect_printed(&t, false, "3072 3.0K 75.0 0.0   -\n   -    -    -   - end\n");
}

/* ---- JSON ---- */

Test(format, an_unknown_figure_is_null_in_json)
{
	json_t *known = format_json_counter((struct counter){5, true});
	json_t *unknown = format_json_counter((struct counter){5, false});
	json_t *never = format_json_time(0);

	cr_expect_eq(json_integer_value(known), 5);
	cr_expect(json_is_null(unknown));
	cr_expect(json_is_null(never));
	json_decref(known);
	json_decref(unknown);
	json_decref(never);
}

/* A clock may be set while this runs; it would have to be within this minute. */
Test(format, a_time_in_json_is_of_the_wall_clock)
{
	struct timespec boot;
	json_t *json;
	double ago;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	json = format_json_time((uint64_t)boot.tv_sec * 1000000000u + (uint64_t)boot.tv_nsec);
	ago = (double)time(NULL) - json_real_value(json);
	cr_expect(ago > -2 && ago < 60, "%f s ago", ago);
	json_decref(json);
}
