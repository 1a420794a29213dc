# SPDX-License-Identifier: MIT
# rules.mk - build a quoit-cuda.so that uses the emulator as its runtime; needs the toolkit's headers, nvcc for a little PTX, and g++, which nvcc needs too.
#
# $(B)/emulator also has a quoitd, which loads the quoit-cuda.so in its own folder; tests/gpu.sh can run on that folder.

emulator := $(B)/emulator
emulator_c := $(filter-out tests/emulator/blas.c tests/emulator/failures.c,$(wildcard tests/emulator/*.c))
emulator_obj := $(emulator_c:%.c=$(B)/%.o) $(B)/tests/emulator/own.cc.o
emulated_obj := $(cuda_c:%.c=$(emulator)/%.o) $(cuda_cu:%.cu=$(emulator)/%.cu.o)
# These are looked for in the folder of the file that links them; later requests for libraries of these names get them, too.
emulated := $(emulator)/libcuda.so.1 $(emulator)/libcublas.so.13
emulated_libs := -Wl$(,)--no-as-needed $(emulated) -Wl$(,)--as-needed -Wl$(,)-rpath$(,)'$$ORIGIN'
emulator_kernels := $(patsubst %,$(emulator)/%,$(wildcard cuda/kernels/*.cu cuda/kernels/*.cuh))

.PHONY: emulator
ifneq ($(cuda_home),)
# Not `all`: nvcc, which takes long, compiles no more than the PTX that tests bring.
emulator: binaries $(gpu_tests) $(gpu_e2e) $(B)/tests/e2e/own.ptx $(B)/examples/stencil.ptx $(addprefix $(emulator)/,quoit-cuda.so quoit-exec quoitd quoit failures quoit-peer quoit-peer-cuda)
	$(Q)ln -sfn ../tests $(emulator)/tests && ln -sfn ../examples $(emulator)/examples
endif

# Results must be the same as the CPU's, as with nvcc.
emulator_cxx = $(CXX) -std=c++17 -O2 -g -fPIC -ffp-contract=off -fvisibility=hidden -fno-exceptions -fno-rtti -Wall -Wextra \
	$(if $(WERROR),-Werror) -Wno-unknown-pragmas -Wno-unused-function -Wno-missing-field-initializers -Wno-maybe-uninitialized -MD -MP -Itests/emulator -I$(emulator)/cuda -Icuda -Ilibclient/include \
	-isystem $(cuda_home)/include $(if $(SAN),-fsanitize=$(SAN))
$(B)/tests/emulator/%.o: base += -fPIC -isystem $(cuda_home)/include
# Threads that wait at a barrier have stacks of their own, which longjmp's check would refuse.
$(B)/tests/emulator/block.o: base += -U_FORTIFY_SOURCE
$(B)/tests/emulator/%.cc.o: tests/emulator/%.cc
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)$(emulator_cxx) -fvisibility=default -c $< -o $@

# The device's code: each launch becomes a call.
launch := s/([A-Za-z_0-9]+(<[A-Za-z_0-9, ]+>)?)[[:space:]]*<<<([^;]*)>>>[[:space:]]*\(([^;]*)\);/emulate({\3}, \1, \4);/g
define emulate
	@mkdir -p $(@D)
	$(Q)sed -zE '$(launch)' $< >$@
endef
$(emulator)/cuda/kernels/%: cuda/kernels/% tests/emulator/rules.mk
	$(call emulate)
$(emulator)/tests-bench-cuda/%: tests/bench/cuda/% tests/emulator/rules.mk
	$(call emulate)
$(emulator)/%.cu.o: $(emulator)/%.cu $(emulator_kernels)
	$(call say,CXX,$<)
	$(Q)$(emulator_cxx) -include kernels.cuh -x c++ -c $< -o $@
# The host's code, unchanged.
$(emulator)/cuda/%.o: base += -fPIC -fvisibility=hidden -iquote cuda -isystem $(cuda_home)/include
$(emulator)/cuda/%.o: cuda/%.c
	$(call compile)

$(emulator)/libcuda.so.1: $(emulator_obj)
	$(call link,-shared -Wl$(,)-soname$(,)$(@F) -Wl$(,)-z$(,)defs -lstdc++ -lpthread)
$(emulator)/libcublas.so.13: $(B)/tests/emulator/blas.o $(emulator)/libcuda.so.1
	$(call link,-shared -Wl$(,)-soname$(,)$(@F) $(emulator)/libcuda.so.1 -Wl$(,)-z$(,)defs -ldl)
$(emulator)/quoit-cuda.so: $(emulated_obj) $(emulated)
	$(call link,-shared $(emulated_libs) -Wl$(,)-z$(,)defs -lstdc++ -ldl -lm)
$(emulator)/quoit-peer-cuda: $(emulator)/tests-bench-cuda/peer_cuda.cu.o $(emulated)
	$(call link,$(emulated_libs) -lstdc++ -ldl -lm)
$(emulator)/failures: $(B)/tests/emulator/failures.o
	$(call link,-ldl)
$(addprefix $(emulator)/,quoitd quoit-exec quoit quoit-peer): $(emulator)/%: $(B)/%
	@mkdir -p $(@D)
	$(Q)ln -f $< $@
