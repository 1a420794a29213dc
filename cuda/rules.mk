# SPDX-License-Identifier: MIT
# rules.mk - quoit-cuda.so, the driver of NVIDIA devices; needs nvcc and is left out without it.
#
# NVCC        the compiler; empty: without CUDA
# CUDA_ARCHS  the architectures that get machine code
# PTX_ARCH    the architecture of the PTX that is added; NVIDIA's driver compiles it for newer GPUs
# CUDART      shared: NVIDIA's runtime is found when quoit-cuda.so is loaded (packages want that)
#             static: it is linked in

NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_ARCHS ?= 80 90 120
PTX_ARCH ?= 90
CUDART ?= static
CUDA_OPTIMIZE := -O2
CUDA_ARCHS_ALL := 75 80 86 89 90 100 120

# Ask nvcc for its toolkit's folder: the nvcc on the PATH may be a link or a script in another one.
cuda_home := $(if $(NVCC),$(realpath $(shell $(NVCC) --dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^.. TOP=//p')))

# A build with sanitizers leaves CUDA out: sanitizers do not see code that runs on a device, and
# compiling it would double the time.
ifneq ($(cuda_home),)
cuda_so := $(if $(SAN),,$(B)/quoit-cuda.so)
# The peer that quoit-cuda.so is measured against: it calls CUDA and cuBLAS, without Quoit.
cuda_peer := $(if $(SAN),,$(B)/quoit-peer-cuda)
all: $(cuda_so) $(cuda_peer) $(if $(SAN),,$(B)/examples/stencil.ptx)
else
all: cuda-left-out
endif

cuda_c := $(wildcard cuda/*.c)
cuda_cu := $(wildcard cuda/kernels/*.cu)
# The folder of the build whose kernels are linked: nvcc makes the same of them whatever CC is.
CUDA_KERNELS ?= $(B)
cuda_obj := $(cuda_c:%.c=$(B)/%.o) $(cuda_cu:%.cu=$(CUDA_KERNELS)/%.cu.o)
cuda_code = $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
	-gencode arch=compute_$(PTX_ARCH),code=compute_$(PTX_ARCH)
# Without exceptions and RTTI, libstdc++ need not be linked. Multiplications and additions are not
# contracted (-fmad=false), so that results are those of the CPU.
cuda_flags = $(CUDA_OPTIMIZE) -std=c++17 -fmad=false -Icuda -Ilibclient/include $(if $(WERROR),-Werror all-warnings) --compress-mode=size -MD -MP \
	-Xcompiler -fPIC,-fvisibility=hidden,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-Wall
cuda_libs := -L$(cuda_home)/lib64 -lcudart$(if $(filter static,$(CUDART)),_static) -ldl -lrt -lpthread -lm

.PHONY: has-cuda cuda-left-out cuda-other-archs gpu-tests gpu-e2e gpu-e2e-list
# Fails where there is no toolkit.
has-cuda:
	@[ -n '$(cuda_home)' ]
cuda-left-out:
	@echo 'quoit-cuda.so is left out: $(if $(NVCC),$(NVCC) does not say where its toolkit is,no nvcc)'
# A test that every kernel compiles for the supported architectures that CUDA_ARCHS leaves out. That
# code is never run.
cuda-other-archs:
	@$(MAKE) --no-print-directory CUDA_ARCHS='$(filter-out $(CUDA_ARCHS),$(CUDA_ARCHS_ALL))' CUDA_OPTIMIZE='-Xcicc -O1 -Xptxas=-O0' $(B)/quoit-cuda.so

$(B)/cuda/%.o: base += -fPIC -fvisibility=hidden -iquote cuda -isystem $(cuda_home)/include
# nvcc puts the name of an intermediate file into the object, and the name of one that it does not
# keep contains its process number. So keep them, or two builds would differ.
define nvcc
	@mkdir -p $@-kept
	$(call say,NVCC,$<)
	$(Q)$(NVCC) $(cuda_flags) $(cuda_code) --keep --keep-dir $@-kept -c $< -o $@
	$(Q)rm -rf $@-kept
endef
$(B)/cuda/%.cu.o: cuda/%.cu
	$(call nvcc)
$(B)/tests/bench/cuda/%.cu.o: tests/bench/cuda/%.cu
	$(call nvcc)
# PTX as a program would bring it, made for the oldest architecture, so that each device can run it.
define ptx
	@mkdir -p $(@D)
	$(call say,NVCC,$<)
	$(Q)$(NVCC) -O2 -fmad=false $(if $(WERROR),-Werror all-warnings) -arch=compute_$(firstword $(CUDA_ARCHS_ALL)) $(ptx_flags) -ptx $< -o $@
endef
$(B)/examples/%.ptx: libclient/examples/%.cu
	$(call ptx)
$(B)/tests/e2e/%.ptx: ptx_flags := -Icuda
$(B)/tests/e2e/%.ptx: tests/e2e/%.cu
	$(call ptx)
$(B)/quoit-cuda.so: $(cuda_obj)
	$(call link,-shared -Wl$(,)-soname$(,)quoit-cuda.so -Wl$(,)--exclude-libs$(,)ALL -Wl$(,)-z$(,)defs $(cuda_libs))

$(B)/quoit-peer-cuda: $(CUDA_KERNELS)/tests/bench/cuda/peer_cuda.cu.o
	$(call link,$(cuda_libs))
# Measures a device itself; for tests/gpu_first.sh, so `make` leaves it out.
$(B)/tests/bench/cuda/anatomy.cu.o: cuda_flags += -Itests/bench/cuda
$(B)/anatomy: $(B)/tests/bench/cuda/anatomy.cu.o
	$(call link,$(cuda_libs) -lstdc++)

# Tests of the notes for profilers need no device: they load a profiler of their own.
ifneq ($(cuda_home),)
all: $(B)/modules/nvtx_notes.so
$(B)/modules/nvtx_notes.so: base += -isystem $(cuda_home)/include
$(B)/modules/%.so: tests/modules/nvtx/%.c
	$(call module)
$(B)/tests/unit/test_cuda_profile.o: base += -isystem $(cuda_home)/include
$(B)/tests/unit/test_cuda_profile: $(B)/cuda/profile.o
endif

$(B)/tests/unit/test_cuda_image: $(B)/cuda/image.o

# Tests compute what the device does, so they too are compiled without contraction.
$(B)/tests/unit/test_cuda_%.o: base += -ffp-contract=off
gpu_tests := $(patsubst %.c,$(B)/%,$(wildcard tests/gpu/test_*.c))
gpu_help := $(patsubst %.c,$(B)/%.o,$(filter-out $(wildcard tests/gpu/test_*.c),$(wildcard tests/gpu/*.c)))
# The driver's tests need only gcc and nvcc, because a machine with a GPU may have little else.
gpu-tests: $(cuda_so) $(gpu_tests)
# Tests of devices through quoitd. They need what `make all` needs, and Criterion.
gpu_e2e := $(addprefix $(B)/tests/e2e/,test_device test_device_cost test_device_faults test_device_pairs \
	test_device_queues test_device_reach test_device_secrets test_direct test_direct_faults test_kernels test_kernel_faults \
	test_memory_theorem)
gpu-e2e: all $(gpu_e2e) $(if $(cuda_so),$(B)/tests/e2e/own.ptx)
gpu-e2e-list:
	@echo $(gpu_e2e)
$(B)/tests/gpu/%.o: base += -iquote tests/unit -ffp-contract=off
$(B)/tests/gpu/%: $(B)/tests/gpu/%.o $(gpu_help) $(addprefix $(B)/tests/unit/,ops_layout.o ops_reference.o)
	$(call link,-ldl -lm)
