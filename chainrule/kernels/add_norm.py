"""A sum and its norm as one kernel of a GPU: what `summed` in parts/norms/_summed.py computes in two operations."""

import triton
import triton.language as tl


@triton.jit
def add_norm(x_ptr, y_ptr, gain_ptr, bias_ptr, sum_ptr, normed_ptr, width, epsilon,
             centered: tl.constexpr, biased: tl.constexpr, block: tl.constexpr):
    """One row a program: s = x + y, rounded as its numbers are; then the norm of s in float32."""
    columns = tl.arange(0, block)
    inside = columns < width
    places = tl.program_id(0) * width + columns
    x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + places, mask=inside, other=0.0).to(tl.float32)
    total = (x + y).to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + places, total, mask=inside)
    value = total.to(tl.float32)
    if centered:
        value = tl.where(inside, value - tl.sum(value, axis=0) / width, 0.0)
    value *= tl.rsqrt(tl.sum(value * value, axis=0) / width + epsilon)
    value *= tl.load(gain_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    if biased:
        value += tl.load(bias_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed_ptr + places, value.to(normed_ptr.dtype.element_ty), mask=inside)
