"""Decay in closed form: compute what is left of a strength after some time, with the same bits on every machine.

    fresh      left = strength · 2^(−elapsed / half_life)         (seed's e^(−λΔt), λ = ln 2 / half_life; SEEDS E29)
    long-term  left = strength · (1 + elapsed / tau)^(−beta)      (power law of consolidated memories; SEEDS E38)
    anchored   HOLDS times the half-life, or tau, for what people keep unasked; RUSH more strength at once, which goes
               by the law of all others, for what a user asked to keep: it is strong, then falls fast

A strength is stored as (value, time) and evaluated when read; only events rewrite it, so neither the number of reads
nor of ticks can change the state.  `exp` and `log` differ in their last bits between CPUs, so powers of two come from
two tables of correctly rounded constants (an exponent is counted in units of 2^-20, 10 bits for each table) and
logarithms from a series; multiplication, division, frexp and ldexp give the same bits on every IEEE machine.

The time at which a strength falls below a threshold is computed once, when the strength is written, as an integer.  All
code compares with this time, because evaluating the decay at exactly that time would disagree in half of all cases.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache
from math import ldexp

import numpy as np

from state.arrays import Integers

NEVER = 2**62
HOLDS = 4  # times as long, of what a spontaneous anchor holds; the source has “far slower”, and no number
RUSH = 1.0  # strength that a forced anchor adds: as much as the weightiest mention
_STEPS = 1024
_UNIT = 1 << 20


def _powers(steps: int) -> tuple[float, ...]:
    """Compute 2^(-i / steps) for 0 <= i < _STEPS, each correctly rounded (40 digits leave 20 to spare)."""
    with localcontext() as context:
        context.prec = 40
        ratio, power, powers = Decimal(2) ** (Decimal(-1) / steps), Decimal(1), []
        for _ in range(_STEPS):
            powers.append(float(power))
            power *= ratio
    return tuple(powers)


_COARSE = _powers(_STEPS)
_FINE = _powers(_STEPS * _STEPS)
_COARSE_COLUMN, _FINE_COLUMN = np.array(_COARSE), np.array(_FINE)


def decayed(strength: float, elapsed: int, half_life: int) -> float:
    """Compute what is left of `strength` after `elapsed` ms; a negative time (a late turn) takes nothing."""
    if elapsed <= 0:
        return strength
    return _halved(strength, elapsed * _UNIT // half_life)


def factors(elapsed: Integers, half_life: int) -> tuple[list[float], list[float], list[int]]:
    """Compute what `decayed` multiplies each strength by, coarse and fine, and the power of two after that.

    elapsed  (m,) ms, >= 0
    """
    halvings, rest = np.divmod(elapsed, half_life)
    units = rest * _UNIT // half_life  # < 2^20, and `rest` < 2^42: nothing overflows
    return _COARSE_COLUMN[units >> 10].tolist(), _FINE_COLUMN[units & 1023].tolist(), (-halvings).tolist()


def decayed_long(strength: float, elapsed: int, *, tau: int, beta: float) -> float:
    """Compute what is left of a long-term `strength` after `elapsed` ms; a negative time takes nothing."""
    if elapsed <= 0:
        return strength
    return _halved(strength, int(beta * log2((tau + elapsed) / tau) * _UNIT))


def _halved(strength: float, units: int) -> float:
    """Compute strength · 2^(−units · 2^-20)."""
    return ldexp(strength * _COARSE[units >> 10 & 1023] * _FINE[units & 1023], -(units >> 20))


def lifetime(strength: float, threshold: float, half_life: int) -> int:
    """Compute after how many ms `strength` counts as below `threshold` (> 0); 0 when it is so at once."""
    if strength <= threshold:
        return 0
    return int((log2(strength) - _log2_of_threshold(threshold)) * half_life) + 1


def lifetime_long(strength: float, threshold: float, *, tau: int, beta: float) -> int:
    """Compute after how many ms a long-term `strength` counts as below `threshold` (> 0), at most NEVER."""
    if strength <= threshold:
        return 0
    exponent = (log2(strength) - _log2_of_threshold(threshold)) / beta  # (1 + t / tau) = 2^exponent
    if exponent > 62:
        return NEVER
    whole = math.ceil(exponent)
    growth = _halved(math.ldexp(1.0, whole), int((whole - exponent) * _UNIT))
    return min(int((growth - 1.0) * tau) + 1, NEVER)


def log2(x: float) -> float:
    """Compute the binary logarithm of `x` > 0, within 1e-14 of the true one, from IEEE operations alone.

    x = m · 2^e with m in [√½, √2), and log2 m = (2 / ln 2) · artanh s with s = (m − 1) / (m + 1), |s| < 0.172.
    """
    mantissa, exponent = math.frexp(x)
    if mantissa < 0.7071067811865476:
        mantissa, exponent = mantissa * 2, exponent - 1
    s = (mantissa - 1) / (mantissa + 1)
    square, series = s * s, 1 / 21
    for odd in (19, 17, 15, 13, 11, 9, 7, 5, 3, 1):
        series = series * square + 1 / odd
    return exponent + s * series * 2.8853900817779268


_log2_of_threshold = lru_cache(maxsize=64)(log2)
