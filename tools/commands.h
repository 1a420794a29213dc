/* SPDX-License-Identifier: MIT */
/* commands.h - the subcommands of `quoit`, each in the file of its name */
#ifndef QUOIT_TOOLS_COMMANDS_H
#define QUOIT_TOOLS_COMMANDS_H

/*
 * argv[0] is the subcommand's own name.  Each function prints, and returns the exit status: 0:
 * done; 1: failed, or nothing to show; 2: the command line makes no sense.
 */
int cmd_bench(int argc, char **argv);
int cmd_calls(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_exporter(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_share(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_topo(int argc, char **argv);
int cmd_trace(int argc, char **argv);

#endif
