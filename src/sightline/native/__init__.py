"""Kernels in C++ for what PyTorch has no fast operation for on a CPU, compiled on this machine for this machine."""

from sightline.native.build import compiler, library, why_not

__all__ = ["compiler", "library", "why_not"]
