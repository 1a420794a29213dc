/* SPDX-License-Identifier: MIT */
/* errors.c - translate errors of the runtime and cuBLAS to those of device.h. */
#include <errno.h>
#include <stdio.h>

#include <quoit/device.h>

#include "errors.h"

/* Errors that are known not to break the context; any other is taken for sticky. */
static int errors_find(cudaError_t result)
{
	switch (result) {
	case cudaSuccess:
		return 0;
	case cudaErrorNotReady:
		return -EAGAIN;
	case cudaErrorMemoryAllocation:
	case cudaErrorLaunchOutOfResources:
		return -ENOMEM;
	case cudaErrorInvalidValue:
	case cudaErrorInvalidConfiguration:
	case cudaErrorInvalidDevicePointer:
	case cudaErrorInvalidMemcpyDirection:
	case cudaErrorInvalidResourceHandle:
	case cudaErrorInvalidKernelImage:
	case cudaErrorInvalidPtx:
	case cudaErrorInvalidSource:
	case cudaErrorIllegalState:
	case cudaErrorHostMemoryAlreadyRegistered:
	case cudaErrorHostMemoryNotRegistered:
	case cudaErrorMissingConfiguration:
	case cudaErrorInvalidClusterSize:
	case cudaErrorCooperativeLaunchTooLarge:
		return -EINVAL;
	case cudaErrorSymbolNotFound:
	case cudaErrorInvalidSymbol:
	case cudaErrorInvalidDeviceFunction:
	case cudaErrorFileNotFound:
	case cudaErrorSharedObjectSymbolNotFound:
		return -ENOENT;
	case cudaErrorNotSupported:
	case cudaErrorNotPermitted:
	case cudaErrorNoKernelImageForDevice:
	case cudaErrorUnsupportedPtxVersion:
	case cudaErrorJitCompilerNotFound:
	case cudaErrorJitCompilationDisabled:
	case cudaErrorUnsupportedLimit:
	case cudaErrorOperatingSystem:
	case cudaErrorUnsupportedDevSideSync:
	case cudaErrorPeerAccessUnsupported:
	case cudaErrorPeerAccessAlreadyEnabled:
	case cudaErrorPeerAccessNotEnabled:
	case cudaErrorTooManyPeers:
	case cudaErrorCallRequiresNewerDriver:
	case cudaErrorMapBufferObjectFailed:
		return -ENOTSUP;
	case cudaErrorInsufficientDriver:
	case cudaErrorNoDevice:
	case cudaErrorInvalidDevice:
	case cudaErrorStubLibrary:
	case cudaErrorSystemDriverMismatch:
	case cudaErrorCompatNotSupportedOnDevice:
	case cudaErrorSystemNotReady:
	case cudaErrorInitializationError:
	case cudaErrorDeviceNotLicensed:
	case cudaErrorSharedObjectInitFailed:
		return -ENODEV;
	case cudaErrorDevicesUnavailable:
	case cudaErrorDeviceUninitialized:
	case cudaErrorCudartUnloading:
		return -QUOIT_EDEVLOST;
	default:
		return -QUOIT_EGPUFAULT;
	}
}

bool errors_is_sticky(int err)
{
	return err == -QUOIT_EGPUFAULT || err == -QUOIT_EDEVLOST;
}

int errors_code(cudaError_t result)
{
	const int err = errors_find(result);

	if (err && !errors_is_sticky(err))
		(void)cudaGetLastError();
	return err;
}

int errors_say(cudaError_t result, const char *doing, char *text, size_t size)
{
	if (result == cudaErrorInsufficientDriver) {
		int version = 0;

		if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0)
			snprintf(text, size,
				 "the driver is too old: it knows CUDA %d.%d, not %d.%d",
				 version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
				 CUDART_VERSION % 1000 / 10);
		else
			snprintf(text, size, "the driver is not installed (no libcuda.so.1)");
	} else if (result != cudaSuccess) {
		snprintf(text, size, "%s: %s (%d)", doing, cudaGetErrorString(result), (int)result);
	}
	return errors_code(result);
}
