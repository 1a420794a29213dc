/* SPDX-License-Identifier: MIT */
/*
 * parts.c - include the files of tools/report/ by the assembler; paths are relative to the
 * Makefile's folder
 */
#include "parts.h"

#define PART(name, path)                                                                           \
	__asm__(".section .rodata\n.global " name "\n.type " name ", %object\n" name               \
		":\n.incbin \"" path "\"\n.byte 0\n.size " name ", . - " name "\n.previous\n")

PART("report_part_page", "tools/report/page.html");
PART("report_part_style", "tools/report/report.css");
PART("report_part_script", "tools/report/report.js");
