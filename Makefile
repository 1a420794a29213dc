# SPDX-License-Identifier: MIT
# Makefile - build, check, demo, install.  `make help` lists the targets.
#
# Variables: CC, CPPFLAGS, CFLAGS, LDFLAGS, PREFIX, LIBDIR, DESTDIR, V=1 (show commands), B (build
# folder), SAN (a -fsanitize= list; give it a B of its own), DEBUG=1 (in build/debug: little optimized,
# quickly linked), WERROR=1 (a warning ends the build, as in all checks).

VERSION := 0.1.0
SOVERSION := 0
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR := $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
# Programs look for it from where they lie, as ../libexec/quoit: a tree can be moved.
LIBEXECDIR := $(PREFIX)/libexec/quoit
INCLUDEDIR := $(PREFIX)/include
MANDIR := $(PREFIX)/share/man
BASHDIR := $(PREFIX)/share/bash-completion/completions
ZSHDIR := $(PREFIX)/share/zsh/site-functions
SHAREDIR := $(PREFIX)/share/quoit
SYSCONFDIR := $(if $(filter /usr,$(PREFIX)),/etc,$(PREFIX)/etc)
SYSTEMDDIR := $(PREFIX)/lib/systemd
units := $(patsubst systemd/%,%,$(wildcard systemd/system/* systemd/user/*))
# An administrator's, once it is there.
conf = $(DESTDIR)$(SYSCONFDIR)/quoit/quoitd.conf
DOCDIR := $(PREFIX)/share/doc/quoit
DEBUG ?=
B ?= $(if $(DEBUG),build/debug,build)
SAN ?=
WERROR ?=
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
# For sanitizers: their reports need the names of functions and lines alone, which takes less time, and
# what they add is most of what runs.
quickly := -O1 -g1
CFLAGS ?= $(if $(SAN),$(quickly),$(if $(DEBUG),-Og,-O2) -g)

DEPS := gcc make pkg-config libhwloc-dev libnuma-dev liburing-dev libinih-dev libjansson-dev \
	libproc2-dev libncurses-dev libmicrohttpd-dev zlib1g-dev libsystemd-dev libopenblas0-pthread systemtap-sdt-dev
# What only tests need.
TEST_DEPS := libcriterion-dev spin clang libclang-rt-14-dev clang-format qemu-system-x86 cpio tmux mandoc zsh \
	prometheus python3-prometheus-client chromium numactl bpftrace systemd systemd-container mmdebstrap e2fsprogs
# The library's ABI, other architectures, packages.
TEST_DEPS += abigail-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross
# Programs in other languages.
TEST_DEPS += g++ gfortran
# An example that factors a matrix with LAPACK's tiles; it is left out where this is not installed.
TEST_DEPS += liblapacke-dev libblas-dev

# Goals that need no compiler, or get one first.
without_compiler := help deps build-deps list-deps list-test-deps demo quick check check-vm check-gpu bench bench-gpu torture fuzz \
	lint format uninstall clean
ifneq ($(filter-out $(without_compiler),$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell command -v $(firstword $(CC))),)
$(error the compiler '$(firstword $(CC))' is not found: `make deps` installs what is missing (Debian), CC= names another)
endif
endif

# What the compiler makes code for: x86_64, aarch64.
arch := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wno-missing-field-initializers
# These follow the data, and what sanitizers add misleads them; they are heard of in the other builds.
warnings += $(if $(SAN),-Wno-maybe-uninitialized -Wno-format-overflow -Wno-format-truncation)
# Wherever the sources are, the same is made of them.
map := -ffile-prefix-map='$(CURDIR)=.'
base := -std=gnu17 -D_GNU_SOURCE -MMD -MP -fno-strict-aliasing $(warnings) $(if $(WERROR),-Werror) $(map) -Ilibclient/include \
	-DQUOIT_VERSION='"$(VERSION)"' \
	$(if $(DEBUG)$(SAN),,-DNDEBUG) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -DQUOIT_SANITIZE)
# Neighbouring fields are not read as one vector, kernels apart: they were written one by one just
# before, and such a load waits until those stores have reached the cache.
late := -fno-tree-slp-vectorize
# The daemon's path crosses many small files: let the linker inline over them.
lto := $(if $(DEBUG)$(SAN)$(findstring clang,$(CC)),,-flto=auto -ffat-lto-objects)
ldflags := -pthread $(map) $(if $(SAN),-fsanitize=$(SAN)) $(LDFLAGS)
# The linker would compile the whole daemon again for each test.  gold takes half as long as the default.
$(B)/tests/% $(B)/liar/%: ldflags += -fno-lto $(gold)
daemon_libs := -lhwloc -lnuma -luring -linih -ljansson -lsystemd -ldl -lm
tool_libs := -ljansson -lproc2 -lncursesw -ltinfo -lnuma -lz -lm

# Kernels are compiled once per instruction set; ops.c chooses among them.
isas := base $(if $(filter x86_64,$(arch)),avx2 avx512)
ops_once := daemon/ops/ops.c daemon/ops/blas.c daemon/ops/cache.c daemon/ops/optable.c
ops_each := $(filter-out $(ops_once),$(wildcard daemon/ops/*.c))
ops_flags := -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -Wno-psabi -Wno-pass-failed
isa_base := -DOP_ISA=base
isa_avx2 := -DOP_ISA=avx2 -march=x86-64-v3
isa_avx512 := -DOP_ISA=avx512 -march=x86-64-v4 -mprefer-vector-width=512

lib_src := $(wildcard libclient/*.c)
lib_obj := $(lib_src:%.c=$(B)/%.o)
# In the order in which they include each other (tests/lint.sh): each only what stands before it.
daemon_folders := base store fair config machine session observe memory job backend/cpu backend/file backend/executor backend/program backend/service processes reactor control
daemon_src := $(filter-out daemon/main.c,$(wildcard daemon/*.c $(daemon_folders:%=daemon/%/*.c))) $(ops_once)
daemon_obj := $(daemon_src:%.c=$(B)/%.o) \
	$(foreach isa,$(isas),$(ops_each:%.c=$(B)/%.$(isa).o))
exec_src := $(wildcard daemon/quoit-exec/*.c)
exec_obj := $(exec_src:%.c=$(B)/%.o)
soft_obj := $(patsubst %.c,$(B)/%.o,$(wildcard daemon/quoit-exec/soft/*.c))
tool_folders := cli read launch bench doctor trace top exporter
tool_src := $(wildcard tools/*.c $(tool_folders:%=tools/%/*.c))
tool_obj := $(tool_src:%.c=$(B)/%.o)
bench_obj := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/*.c))
# Does the compiler link a program that begins with these lines, with these flags?
links = $(shell printf '$(1)int main(void){return 0;}' | $(CC) -x c - $(2) -o /dev/null 2>/dev/null && echo $(2))
hash := \#
gold := $(call links,,-fuse-ld=gold)
lapack := $(call links,$(hash)include <lapacke.h>\n$(hash)include <cblas.h>\n,-llapacke -lblas)
example_src := $(filter-out $(if $(lapack),,%/cholesky.c),$(wildcard libclient/examples/*.c))
# A peer of `make bench`; it is left out where StarPU is not installed.
starpu := $(shell pkg-config --exists starpu-1.3 2>/dev/null && pkg-config --cflags --libs starpu-1.3)
starpu := $(if $(starpu),$(call links,$(hash)include <starpu.h>\n,$(patsubst -I%,-isystem %,$(starpu))))
bench_programs := $(addprefix $(B)/quoit-,crowd shares neighbours beside $(if $(starpu),starpu))
examples := $(example_src:libclient/examples/%.c=$(B)/examples/%)
unit_tests := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
unit_help := $(patsubst %.c,$(B)/%.o,$(filter-out $(wildcard tests/unit/test_*.c),$(wildcard tests/unit/*.c)))
e2e_tests := $(patsubst tests/e2e/%.c,$(B)/tests/e2e/%,$(wildcard tests/e2e/test_*.c))
e2e_help := $(patsubst %.c,$(B)/%.o,$(filter-out $(wildcard tests/e2e/test_*.c),$(wildcard tests/e2e/*.c)))
torture_help := $(patsubst %.c,$(B)/%.o,$(wildcard tests/torture/support/*.c) tests/e2e/daemon.c)
torture_tests := $(patsubst tests/torture/%.c,$(B)/tests/torture/%,$(wildcard tests/torture/*.c))
vm_tests := $(B)/tests/vm/placement $(B)/tests/vm/client $(B)/tests/torture/hostile_shared
fuzzers := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
# A quoitd that finds the liar beside it where quoit-exec should be.
liar := $(B)/liar/quoitd $(B)/liar/quoit-exec
modules := $(patsubst tests/modules/%.c,$(B)/modules/%.so,$(wildcard tests/modules/*.c))

# A call's page is that of its group, where it has none of its name.
pages := $(notdir $(wildcard docs/man/*.[1-8]))
pages := $(sort $(pages) $(addsuffix .3,$(shell sed -n 's/^@calls //p' docs/man/*.3)))

programs := $(B)/quoitd $(B)/quoit-exec $(B)/quoit $(B)/quoit-peer
libraries := $(B)/libquoit.so.$(SOVERSION) $(B)/libquoit.a

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s%s\n' $(1) '$(2)')

.PHONY: all binaries tests shipped-tests torturers fuzzers list-deps list-test-deps deps build-deps demo quick test check check-vm check-gpu bench bench-gpu torture fuzz lint format install uninstall clean help FORCE
.SECONDARY:
all: binaries $(B)/man/made $(B)/completion/made $(B)/quoitd.conf.sample
# What can also be made for another machine; manual pages and completion need programs that run.
binaries: $(programs) $(libraries) $(examples) $(modules)
# With CC=clang and a B of its own: everything below is built for libFuzzer.
fuzzers: base += -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -DQUOIT_SANITIZE
fuzzers: CFLAGS := $(quickly)
fuzzers: $(fuzzers)
tests: shipped-tests $(unit_tests)
# What `make check` runs of the build that is shipped. Most unit tests run with sanitizers only, but
# those make other code of the kernels.
shipped-tests: all torturers $(liar) $(filter $(B)/tests/unit/test_ops_%,$(unit_tests)) $(e2e_tests) $(vm_tests) $(bench_programs)
torturers: binaries $(torture_tests)

help:
	@printf '%s\n' 'make            build into $(B)/' 'make deps       install what is missing (Debian)' \
	'make demo       start a private daemon and run the workloads' 'make check      all tests that need no GPU' \
	'make test T=test_deps  one test, built and run' 'make quick      the half of the tests that takes under two minutes' \
	'make check-vm   the tests of make check in virtual machines and under systemd alone' 'make check-gpu  the tests that need a GPU' \
	'make bench      the speed table of docs/performance.md' 'make bench-gpu  the same of a GPU' 'make torture    long tests (TIMES=n: longer still)' 'make fuzz       long fuzzing' \
	'make lint       include rule and format' 'make install    DESTDIR= PREFIX=' \
	'make dist       the sources in one file, $(B)/quoit-$(VERSION).tar.xz' 'make deb        Debian packages in $(B)/deb, and lintian' \
	'make check-packages  build, install, use, upgrade and remove them' 'make uninstall' 'make clean'

$(B)/libclient/%.o: base += -fPIC -fvisibility=hidden
$(B)/daemon/%.o: base += -iquote daemon $(lto)
$(B)/tools/%.o: base += -iquote tools
$(B)/tests/%.o: base += -iquote daemon -iquote libclient -iquote cuda -iquote tests/bench -iquote tests/e2e \
	-iquote tests/torture/support -iquote tools
# Optimizing these would take most of their build, and they mostly wait for quoitd, which is optimized.
# Those of operations, and what they share, compute much themselves.
$(B)/tests/e2e/%.o $(B)/tests/torture/%.o $(B)/tests/unit/%.o: late := -O0
$(B)/tests/unit/test_ops_%.o $(B)/tests/unit/ops_%.o: late := -O2
$(B)/daemon/ops/%.o: late := -fno-lto $(ops_flags)
$(B)/daemon/ops/optable.o: late := # no arithmetic, and on the path of every job
# Notes name these words in assembler, where the linker would not find what it has inlined.
$(B)/daemon/job/probes.o: late += -fno-lto

define compile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(base) $(CPPFLAGS) $(CFLAGS) $(late) $(1) -c $< -o $@
endef

$(B)/%.o: %.c
	$(call compile)
$(B)/daemon/ops/%.base.o: daemon/ops/%.c
	$(call compile,$(isa_base))
$(B)/daemon/ops/%.avx2.o: daemon/ops/%.c
	$(call compile,$(isa_avx2))
$(B)/daemon/ops/%.avx512.o: daemon/ops/%.c
	$(call compile,$(isa_avx512))

define link
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ldflags) $(filter %.o,$^) $(filter %.a,$^) $(1) -o $@
endef

# What it takes in as it is.
$(B)/tools/trace/parts.o: $(wildcard tools/report/*)

$(B)/libquoit.a: $(lib_obj)
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/libquoit.so.$(SOVERSION): $(lib_obj) libclient/libquoit.map
	$(call link,-shared -Wl$(,)-soname$(,)libquoit.so.$(SOVERSION) -Wl$(,)--version-script=libclient/libquoit.map)
	$(Q)ln -sf libquoit.so.$(SOVERSION) $(B)/libquoit.so
$(B)/daemon.a: $(daemon_obj)
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/quoitd: $(B)/daemon/main.o $(B)/daemon.a
	$(call link,$(lto) $(CFLAGS) $(daemon_libs))
$(B)/soft.a: $(soft_obj)
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/exec.a: $(filter-out $(B)/daemon/quoit-exec/main.o,$(exec_obj))
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/quoit-exec: $(B)/daemon/quoit-exec/main.o $(B)/exec.a $(soft_obj) $(B)/daemon.a
	$(call link,-lnuma -ldl -lm)
$(B)/tools.a: $(filter-out $(B)/tools/quoit.o,$(tool_obj))
	$(Q)rm -f $@ && ar rcs $@ $^
$(B)/quoit: $(B)/tools/quoit.o $(B)/tools.a $(B)/libquoit.a
	$(call link,$(tool_libs))
# A compiler without OpenMP builds the peer without the loop that OpenMP divides.
openmp := $(call links,,-fopenmp)
$(B)/tests/bench/peer_hypot.o: base += $(openmp)
$(B)/quoit-peer: $(bench_obj) $(B)/exec.a $(B)/soft.a $(B)/daemon.a
	$(call link,$(openmp) -luring -lnuma -ldl -lm)
$(B)/examples/cholesky: example_libs := $(lapack)
# Its plain reference must not fuse what Quoit does not.
$(B)/libclient/examples/sampler_hmc.o: base += -ffp-contract=off
$(B)/examples/%: $(B)/libclient/examples/%.o $(B)/libquoit.a
	$(call link,$(example_libs) -lm)
# It is called before a sanitizer's runtime is ready.
$(B)/modules/fail_calls.so: base += -fno-sanitize=all
define module
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(base) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $< -o $@
endef

$(B)/modules/%.so: tests/modules/%.c
	$(call module)
$(B)/liar/quoitd: $(B)/quoitd
	@mkdir -p $(@D)
	$(Q)ln -f $< $@
$(B)/liar/quoit-exec: $(B)/tests/liar/quoit_exec.o $(B)/exec.a $(B)/daemon.a
	$(call link)
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(unit_help) $(B)/tools.a $(B)/exec.a $(B)/soft.a $(B)/daemon.a $(B)/libquoit.a
	$(call link,-lcriterion $(daemon_libs) $(tool_libs))
$(B)/tests/e2e/%: $(B)/tests/e2e/%.o $(e2e_help) $(B)/libquoit.a
	$(call link,-lcriterion -ljansson -lz -lm)
$(B)/tests/vm/placement: $(addprefix $(B)/tests/vm/,placement.o guest.o broken.o near.o) $(addprefix $(B)/tests/e2e/,daemon.o hello.o) $(B)/libquoit.a
	$(call link,-ljansson)
$(B)/tests/vm/client: $(B)/tests/vm/client.o $(B)/tests/vm/client_memory.o $(B)/libquoit.a
	$(call link,-lnuma -lm)
$(B)/quoit-shares: $(B)/tests/bench/shares/shares.o $(B)/tests/bench/support/figures.o $(addprefix $(B)/tests/e2e/,configuration.o daemon.o flood.o) $(B)/libquoit.a
	$(call link)
$(B)/quoit-neighbours: $(B)/tests/bench/neighbours/neighbours.o $(B)/tests/bench/support/figures.o $(addprefix $(B)/tests/e2e/,configuration.o daemon.o) \
		$(B)/tests/torture/support/raw_client.o $(B)/libquoit.a
	$(call link)
$(B)/quoit-beside: $(B)/tests/bench/beside/beside.o $(B)/libquoit.a
	$(call link,-ldl)
$(B)/tests/bench/starpu/starpu.o: base += $(filter-out -l%,$(starpu))
$(B)/quoit-starpu: $(B)/tests/bench/starpu/starpu.o
	$(call link,$(filter -l%,$(starpu)))
$(B)/quoit-crowd: $(B)/tests/bench/crowd/crowd.o $(B)/libquoit.a
	$(call link)
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tools.a $(B)/daemon.a $(B)/libquoit.a
	$(call link,-fsanitize=fuzzer$(,)address$(,)undefined $(daemon_libs) $(tool_libs))
$(B)/tests/torture/%: $(B)/tests/torture/%.o $(torture_help) $(B)/soft.a $(B)/daemon.a $(B)/libquoit.a
	$(call link,$(daemon_libs) $(tool_libs))

# What options there are, the programs say.
$(B)/tables/made: $(B)/quoit $(B)/quoitd libclient/include/quoit.h $(wildcard libclient/include/quoit/*) \
		docs/man/tables.sh docs/man/calls.awk docs/man/texts.awk
	$(call say,GEN,$(@D))
	$(Q)CC='$(CC)' sh docs/man/tables.sh $(B) && touch $@
$(B)/quoitd.conf.sample: $(B)/quoitd
	$(call say,GEN,$@)
	$(Q)$(B)/quoitd --sample >$@.new && mv $@.new $@
# Pages name the folders that are installed into: those of another PREFIX are made anew.
$(B)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' >$@
FORCE:
$(B)/man/made: $(B)/tables/made $(B)/prefix $(wildcard docs/man/*) libclient/examples/hello.c
	$(call say,GEN,$(@D))
	$(Q)sh docs/man/build.sh $(B) $(PREFIX) $(LIBEXECDIR) $(SYSCONFDIR) && touch $@
$(B)/completion/made: $(B)/tables/made $(wildcard tools/completion/*)
	$(call say,GEN,$(@D))
	$(Q)sh tools/completion/build.sh $(B) && touch $@

, := ,
include cuda/rules.mk
include tests/emulator/rules.mk
include debian/packages.mk
# These have folders with more than ours in them.
-include $(shell [ -d $(B) ] && find $(B) \( -path '*/packages' -o -path '*/vm/root' -o -path '*/vm/tree' -o -path '*/vm/payload' \) -prune -o -type f -name '*.d' -print)

list-deps:
	@echo $(DEPS)
list-test-deps:
	@echo $(TEST_DEPS)
deps:
	@sh tests/deps.sh $(DEPS) $(TEST_DEPS)
build-deps:
	@sh tests/deps.sh $(DEPS)
demo: build-deps
	@$(MAKE) --no-print-directory all
	@sh tests/demo.sh $(B)
# A= are arguments of the test.
test:
	@sh tests/one.sh $(B) $(T) $(A)
quick: deps
	@sh tests/quick.sh $(B)
check: deps
	@sh tests/check.sh
check-vm: deps
	@$(MAKE) --no-print-directory all $(vm_tests)
	@sh tests/vm/all.sh $(B)
check-gpu:
	@sh tests/gpu.sh $(B)
bench: build-deps
	@$(MAKE) --no-print-directory all $(bench_programs)
	@sh tests/bench.sh $(B)
bench-gpu:
	@sh tests/bench_gpu.sh $(B)
torture: deps
	@sh tests/check.sh --torture
fuzz: deps
	@sh tests/check.sh --fuzz
lint:
	@sh tests/lint.sh
format:
	@git ls-files '*.c' '*.h' '*.cc' '*.cu' '*.cuh' | xargs clang-format -i

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(INCLUDEDIR)/quoit \
		$(DESTDIR)$(SHAREDIR) $(DESTDIR)$(DOCDIR)
	install -m 755 $(B)/quoit $(B)/quoitd $(DESTDIR)$(BINDIR)
	install -m 755 $(B)/quoit-exec $(B)/quoit-peer $(cuda_peer) $(DESTDIR)$(LIBEXECDIR)
	$(if $(cuda_so),install -m 644 $(cuda_so) $(DESTDIR)$(LIBEXECDIR))
	install -m 644 $(libraries) $(DESTDIR)$(LIBDIR)
	ln -sf libquoit.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libquoit.so
	install -m 644 libclient/include/quoit.h $(DESTDIR)$(INCLUDEDIR)
	install -m 644 libclient/include/quoit/* $(DESTDIR)$(INCLUDEDIR)/quoit
	install -m 644 tools/exporter/grafana.json tools/exporter/alerts.yml $(DESTDIR)$(SHAREDIR)
	install -m 644 $(B)/quoitd.conf.sample $(DESTDIR)$(DOCDIR)
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|; s|@VERSION@|$(VERSION)|' libclient/quoit.pc.in | install -m 644 /dev/stdin $(DESTDIR)$(LIBDIR)/pkgconfig/libquoit.pc
	for page in $(pages); do install -D -m 644 $(B)/man/man$${page##*.}/$$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$$page || exit 1; done
	install -D -m 644 $(B)/completion/quoit $(DESTDIR)$(BASHDIR)/quoit
	ln -sf quoit $(DESTDIR)$(BASHDIR)/quoitd
	install -D -m 644 $(B)/completion/_quoit $(DESTDIR)$(ZSHDIR)/_quoit
	install -d $(DESTDIR)$(SYSCONFDIR)/quoit $(addprefix $(DESTDIR)$(SYSTEMDDIR)/,system user)
	set -e; for unit in $(units); do sed 's|@BINDIR@|$(BINDIR)|; s|@SYSCONFDIR@|$(SYSCONFDIR)|' systemd/$$unit | install -m 644 /dev/stdin $(DESTDIR)$(SYSTEMDDIR)/$$unit; done
	install -D -m 644 systemd/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/quoit.conf
	install -D -m 644 systemd/tmpfiles.conf $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/quoit.conf
	[ -e $(conf) ] || install -m 644 systemd/quoitd.conf $(conf)
uninstall:
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,quoit quoitd) $(addprefix $(DESTDIR)$(LIBEXECDIR)/,quoit-exec quoit-peer quoit-cuda.so quoit-peer-cuda)
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libquoit.so libquoit.so.$(SOVERSION) libquoit.a pkgconfig/libquoit.pc)
	rm -f $(foreach page,$(pages),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(page))
	rm -f $(addprefix $(DESTDIR)$(BASHDIR)/,quoit quoitd) $(DESTDIR)$(ZSHDIR)/_quoit
	rm -f $(DESTDIR)$(INCLUDEDIR)/quoit.h $(addprefix $(DESTDIR)$(INCLUDEDIR)/quoit/,$(notdir $(wildcard libclient/include/quoit/*)))
	rm -f $(addprefix $(DESTDIR)$(SHAREDIR)/,grafana.json alerts.yml) $(DESTDIR)$(DOCDIR)/quoitd.conf.sample
	rm -f $(addprefix $(DESTDIR)$(SYSTEMDDIR)/,$(units)) $(patsubst %,$(DESTDIR)$(PREFIX)/lib/%.d/quoit.conf,sysusers tmpfiles)
	! cmp -s systemd/quoitd.conf $(conf) || rm -f $(conf)
	-rmdir $(DESTDIR)$(INCLUDEDIR)/quoit $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(SHAREDIR) $(DESTDIR)$(DOCDIR) $(DESTDIR)$(SYSCONFDIR)/quoit
clean:
	rm -rf --one-file-system $(B)
