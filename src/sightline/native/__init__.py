"""Kernels in C++ for what PyTorch has no fast operation for on a CPU, compiled on this machine for this machine."""

from sightline.native.build import cache_folder, compiler, forget, library, prepare, processor, why_not

__all__ = ["cache_folder", "compiler", "forget", "library", "prepare", "processor", "why_not"]
