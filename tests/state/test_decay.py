"""Forgetting: both closed forms, against Decimal, and the very bits that every machine must give."""

from __future__ import annotations

import hashlib
import math
import struct
from decimal import Decimal, localcontext

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from emgas.times import DAY_MS
from state.graph.tables.decay import NEVER, decayed, decayed_long, lifetime, lifetime_long, log2

YEAR_MS = 365 * DAY_MS
HALF_LIFE_MS = 30 * DAY_MS
STEP_MS = math.ceil(HALF_LIFE_MS / 2**20)
strengths = st.floats(1e-6, 1e6)
elapsed_times = st.integers(0, 100 * YEAR_MS)


def exact(strength: float, steps: Decimal) -> Decimal:
    """Return strength · 2^(−steps / 2^20) to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Decimal(strength) * Decimal(2) ** (-steps / 2**20)


@pytest.mark.source("E29")
@given(strengths, elapsed_times)
@example(1.0, 1)
@example(math.nextafter(2.0, 0.0), HALF_LIFE_MS - 1)
def test_the_result_is_within_two_units_in_the_last_place(strength: float, elapsed: int) -> None:
    left = decayed(strength, elapsed, HALF_LIFE_MS)
    assume(left > 1e-300)  # below, units in the last place are no measure
    true = exact(strength, Decimal((elapsed << 20) // HALF_LIFE_MS))
    assert abs(Decimal(left) - true) <= 2 * Decimal(math.ulp(left))


@given(strengths, st.integers(0, 20 * YEAR_MS))
def test_counting_time_in_steps_costs_less_than_a_millionth(strength: float, elapsed: int) -> None:
    true = exact(strength, Decimal(elapsed) * 2**20 / HALF_LIFE_MS)
    assert abs(Decimal(decayed(strength, elapsed, HALF_LIFE_MS)) - true) <= true / 1_000_000


@pytest.mark.source("E29")
@given(strengths, st.integers(0, 60))
def test_whole_half_lives_halve_exactly(strength: float, half_lives: int) -> None:
    assert decayed(strength, half_lives * HALF_LIFE_MS, HALF_LIFE_MS) == strength / 2**half_lives


@given(strengths, st.integers(-100 * YEAR_MS, 0))
def test_a_late_event_takes_nothing(strength: float, elapsed: int) -> None:
    assert decayed(strength, elapsed, HALF_LIFE_MS) == strength


@given(strengths, elapsed_times, elapsed_times)
def test_more_time_never_leaves_more(strength: float, one: int, other: int) -> None:
    sooner, later = sorted((one, other))
    assert decayed(strength, later, HALF_LIFE_MS) <= decayed(strength, sooner, HALF_LIFE_MS) <= strength


@given(strengths, st.integers(0, 2**10), st.integers(1, 10 * YEAR_MS))
def test_another_half_life_is_counted_in_its_own_steps(strength: float, quarters: int, half_life: int) -> None:
    left = decayed(strength, quarters * half_life, 4 * half_life)
    assert left == pytest.approx(strength * 2 ** (-quarters / 4), rel=1e-12)


def test_nothing_is_left_of_nothing_and_after_very_long() -> None:
    assert decayed(0.0, YEAR_MS, HALF_LIFE_MS) == 0.0
    assert decayed(1.0, 10**15, HALF_LIFE_MS) == 0.0


def test_forgetting_does_not_depend_on_how_many_steps_were_too_short_to_count() -> None:
    assert decayed(1.0, STEP_MS - 1, HALF_LIFE_MS) == 1.0
    assert decayed(1.0, STEP_MS, HALF_LIFE_MS) < 1.0


GOLDEN = {
    (1.0, 1_000_000): "0x1.ffdd00309040bp-1",
    (0.5, 86_400_000): "0x1.f44e5b4602427p-2",
    (0.731059, 604_800_000): "0x1.3e6820d4d8afbp-1",
    (1.5, 864_000_000): "0x1.30c7f42596ea1p+0",
    (123.456789, 34_560_000_000): "0x1.87f3721a6d17ep-7",
    (1e-06, 2_592_000_012_345): "0x1.0c6f4b8735569p-1020",
    (0.9, 2_669_760_000_000): "0x0.00e6666666666p-1022",
}


@pytest.mark.parametrize(("inputs", "bits"), GOLDEN.items(), ids=str)
def test_the_bits_are_the_same_on_every_machine(inputs: tuple[float, int], bits: str) -> None:
    assert decayed(*inputs, HALF_LIFE_MS).hex() == bits


def test_every_entry_of_both_tables_is_the_same_on_every_machine() -> None:
    coarse = [decayed(1.0, i, 1024) for i in range(1024)]
    fine = [decayed(1.0, i, 1024 * 1024) for i in range(1024)]
    digest = hashlib.sha256(struct.pack("<2048d", *coarse, *fine)).hexdigest()
    assert digest == "399b70582ad538e8b9033ce3798da9ea1c42c0eefa6dd82988681fa2aad2c962"


# Long-term


taus = st.integers(1, 100 * YEAR_MS)
betas = st.floats(0.05, 5.0)
thresholds = st.floats(0.0, 1.0, exclude_min=True)


@given(st.floats(min_value=0.0, exclude_min=True, allow_infinity=False))
@example(5e-324)
@example(1.0)
def test_a_logarithm_is_that_of_decimal(x: float) -> None:
    with localcontext() as context:
        context.prec = 40
        true = Decimal(x).ln() / Decimal(2).ln()
    assert abs(Decimal(log2(x)) - true) <= Decimal("1e-14") + abs(true) * Decimal("3e-16")


@given(st.integers(-1074, 1023))
def test_the_logarithm_of_a_power_of_two_is_exact(exponent: int) -> None:
    assert log2(2.0**exponent) == exponent


@pytest.mark.source("E38")
@given(strengths, elapsed_times, taus, betas)
def test_a_long_term_strength_falls_by_the_power_law(strength: float, elapsed: int, tau: int, beta: float) -> None:
    left = decayed_long(strength, elapsed, tau=tau, beta=beta)
    true = Decimal(strength) * (1 + Decimal(elapsed) / tau) ** -Decimal(beta)
    assert abs(Decimal(left) - true) <= true / 1_000_000


@given(strengths, st.integers(-100 * YEAR_MS, 0), taus, betas)
def test_a_late_event_takes_nothing_of_a_long_term_strength(
    strength: float, elapsed: int, tau: int, beta: float
) -> None:
    assert decayed_long(strength, elapsed, tau=tau, beta=beta) == strength


@given(strengths, elapsed_times, elapsed_times, taus, betas)
def test_the_curve_of_a_long_term_strength_goes_on_where_it_was_left(
    strength: float, one: int, other: int, tau: int, beta: float
) -> None:
    at_once = decayed_long(strength, one + other, tau=tau, beta=beta)
    in_two = decayed_long(decayed_long(strength, one, tau=tau, beta=beta), other, tau=tau + one, beta=beta)
    assert in_two == pytest.approx(at_once, rel=3e-6)


@given(st.integers(1, 60 * YEAR_MS), st.floats(1.0, 10.0), betas, elapsed_times)
def test_a_long_term_strength_falls_more_slowly_from_the_first_moment_on_if_tau_is_large_enough(
    half_life: int, factor: float, beta: float, elapsed: int
) -> None:
    tau = math.ceil(half_life * beta / math.log(2) * factor)
    fresh, long_term = decayed(1.0, elapsed, half_life), decayed_long(1.0, elapsed, tau=tau, beta=beta)
    assert long_term >= fresh * (1 - 1e-6)


# When it will have faded


@given(strengths, thresholds, st.integers(1000, 100 * YEAR_MS))
def test_a_lifetime_ends_where_the_strength_falls_below_the_threshold(
    strength: float, threshold: float, half_life: int
) -> None:
    left = lifetime(strength, threshold, half_life)
    if strength <= threshold:
        assert left == 0
        return
    assume(threshold > 1e-300)
    slack = 2 * half_life / 2**20 + 2  # a step in which time is counted
    assert decayed(strength, left + math.ceil(slack), half_life) <= threshold
    assert decayed(strength, left - math.ceil(slack), half_life) >= threshold


@given(st.floats(1e-6, 100.0), st.floats(1e-3, 1.0), st.integers(1000, YEAR_MS), betas)
@example(29.375, 0.015625, 2_259_721, 4.75)
def test_a_long_term_lifetime_ends_where_the_strength_falls_below_the_threshold(
    strength: float, threshold: float, tau: int, beta: float
) -> None:
    left = lifetime_long(strength, threshold, tau=tau, beta=beta)
    if strength <= threshold:
        assert left == 0
    elif left < NEVER:
        # a step of 2^-20 in which growth is counted, and one in which the strength is; each is 0.66e-6 of all time
        slack = math.ceil(2 + (left + tau) * 1e-6 * (1 + 1 / beta))
        assert decayed_long(strength, left + slack, tau=tau, beta=beta) <= threshold
        assert decayed_long(strength, left - slack, tau=tau, beta=beta) >= threshold


@given(st.floats(0, 1e12), thresholds, st.integers(1, 366 * 100 * DAY_MS), betas)
@example(0.5, 5e-324, 1, 5.0)
@example(1e12, 5e-324, 366 * 100 * DAY_MS, 0.05)
def test_every_strength_has_a_lifetime_whatever_the_settings(
    strength: float, threshold: float, duration: int, beta: float
) -> None:
    assert 0 <= lifetime(strength, threshold, duration) < NEVER
    assert 0 <= lifetime_long(strength, threshold, tau=duration, beta=beta) <= NEVER


def test_lifetimes_and_long_term_bits_are_the_same_on_every_machine() -> None:
    cases = [(0.1 * i, 0.03, 10**7 * i * i, 0.05 + 0.07 * i) for i in range(1, 60)]
    left = [decayed_long(strength, tau * 3, tau=tau, beta=beta) for strength, _, tau, beta in cases]
    times = [lifetime(strength, threshold, tau) for strength, threshold, tau, _ in cases]
    times += [lifetime_long(strength, low, tau=tau, beta=beta) for strength, low, tau, beta in cases]
    digest = hashlib.sha256(struct.pack("<59d118q", *left, *times)).hexdigest()
    assert digest == "cf1f60a6d28b4e82feaf7c7c97208d9a7dce382ca316f1fd80cf3edaf88260f1"
