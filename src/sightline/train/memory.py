"""The C library's allocator, told to keep what is freed: training asks for the same large blocks in every update."""

from __future__ import annotations

import ctypes
import platform

# Names of <malloc.h>, which has no Python side.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4

_WISHES = (
    (_MMAP_MAX, 0),  # large blocks come from the heap too, so that freeing one does not give its pages back
    (_TRIM_THRESHOLD, -1),  # the heap never shrinks
    (_TOP_PAD, 64 << 20),  # and grows in large steps
)


def keep_freed_memory() -> bool:
    """Without this, every large tensor is fresh pages from the kernel, zeroed one fault at a time. True where it took."""
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    return all(mallopt(option, value) == 1 for option, value in _WISHES)
