"""Student's t distribution: how far a mean of few values may be off by chance."""

from __future__ import annotations

import math

TINY, CLOSE, MOST = 1e-300, 1e-14, 10_000


def two_sided(t: float, degrees: float) -> float:
    r"""P(|T| ≥ |t|) with so many degrees of freedom, whole or not: I_x(ν/2, 1/2) at x = ν / (ν + t²).

    Student 1908, "The probable error of a mean", Biometrika 6; Abramowitz & Stegun 1964, 26.7.1.
    """
    if math.isinf(t):
        return 0.0
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def reach(degrees: float, coverage: float = 0.95) -> float:
    """The t that |T| stays below with this probability, by bisection."""
    low, high = 0.0, 1.0
    while two_sided(high, degrees) > 1 - coverage:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, degrees) > 1 - coverage else (low, middle)
    return high


def incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b) = ∫₀ˣ s^(a−1) (1−s)^(b−1) ds / B(a, b); the continued fraction of Abramowitz & Stegun, 26.5.8."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):  # where the fraction converges fast
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """1 / (1 + d₁ / (1 + d₂ / (1 + …))), from the front by Lentz's method (1976)."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, MOST):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            found *= d * c
        if abs(d * c - 1) < CLOSE:
            break
    return found


def _away(value: float) -> float:
    return value if abs(value) > TINY else TINY
