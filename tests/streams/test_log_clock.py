"""The log tells its own time: a wrong wall clock changes nothing, and a broker's leap is not believed for ever."""

from __future__ import annotations

from streams.query.admission import REMEMBERED_MS, LogClock

THEN = 1_700_000_000_000


class Watch:
    ms = 5.0

    def __call__(self) -> float:
        return self.ms


def test_a_record_that_just_arrived_is_new_and_ages_as_time_passes() -> None:
    watch = Watch()
    clock = LogClock(watch)
    assert clock.age(THEN) == 0, "nothing was seen yet"
    clock.see(THEN)
    assert clock.age(THEN) == 0
    watch.ms += 700
    assert clock.age(THEN) == 700


def test_of_records_that_arrive_late_the_newest_tells_the_time() -> None:
    clock = LogClock(Watch())
    for late in (9_000, 4_000, 6_000):
        clock.see(THEN - late)
    assert clock.age(THEN - 9_000) == 5_000
    assert clock.age(THEN) == 0


def test_a_leap_of_the_brokers_clock_is_forgotten_after_a_while() -> None:
    watch = Watch()
    clock = LogClock(watch)
    clock.see(THEN + 10**9)
    for _ in range(5):
        watch.ms += 0.9 * REMEMBERED_MS
        clock.see(THEN + round(watch.ms))
    assert clock.age(THEN + round(watch.ms)) < 1


def test_after_a_long_silence_nothing_old_is_believed() -> None:
    watch = Watch()
    clock = LogClock(watch)
    clock.see(THEN + 10**9)
    watch.ms += 5 * REMEMBERED_MS
    clock.see(THEN)
    assert clock.age(THEN) == 0
