"""Kernels in C++ for what PyTorch has no fast operation for on a CPU, compiled on this machine for this machine."""

from sightline.native.build import library, why_not

__all__ = ["library", "why_not"]
