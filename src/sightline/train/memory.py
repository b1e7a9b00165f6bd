"""The C library's allocator, told to keep what is freed: training asks for the same large blocks in every update."""

from __future__ import annotations

import ctypes
import platform

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4


def keep_freed_memory() -> bool:
    """Without this, every large tensor is fresh pages from the kernel, zeroed one fault at a time. True where it took."""
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    wishes = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 1 << 31 - 1), (_TOP_PAD, 64 << 20))
    return all(library.mallopt(option, value) for option, value in wishes)
