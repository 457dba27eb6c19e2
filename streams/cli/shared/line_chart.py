"""A line chart as SVG: series over time, with axes, dates and a legend.  No script, no font, no file from elsewhere.

┌ title ───────────────────────────────┐
│ y │ plot                    │ legend │     all lengths in user units (pixels), y downwards
│   └ x: times ───────────────┘        │
└──────────────────────────────────────┘
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from emgas.times import DAY_MS, format_utc

WIDTH, HEIGHT = 960, 420  # higher with a long legend
LEFT, TOP, RIGHT, BOTTOM = 60, 50, 730, 370  # of the plot
X_TICKS = 6
LONGEST_LABEL = 24
# Okabe and Ito's colours, which colour-blind people can tell apart; yellow is left out: it does not show on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("", "7 3", "2 3")  # one more for every time the colours have been used up
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Series:
    """A line: one value for each time, None where it has a gap."""

    label: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The positions of times (ms) and values in the picture."""

    first: int
    last: int
    top: float

    def x(self, time: int) -> float:
        return round(LEFT + (RIGHT - LEFT) * (time - self.first) / max(1, self.last - self.first), 1)

    def y(self, value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * value / self.top, 1)


def line_chart(title: str, times: Sequence[int], series: Sequence[Series]) -> str:
    """Draw the chart as one SVG document.  `times` in ms, ascending, not empty; values from 0 up."""
    highest = max((value for each in series for value in each.values if value is not None), default=0.0)
    step = _step(highest)
    scale = _Scale(times[0], times[-1], max(1, math.ceil(highest / step)) * step)
    picture = _frame(title, max(HEIGHT, TOP + 20 + 20 * len(series)))
    _draw_values(picture, scale, step)
    _draw_times(picture, scale)
    for number, each in enumerate(series):
        _draw_line(picture, scale, times, series=each, number=number)
        _draw_legend(picture, each.label, number)
    indent(picture)
    return tostring(picture, encoding="unicode") + "\n"


def _frame(title: str, height: int) -> Element:
    size = {"viewBox": f"0 0 {WIDTH} {height}", "width": f"{WIDTH}", "height": f"{height}"}
    font = {"font-family": "sans-serif", "font-size": "12", "fill": "#333"}
    picture = Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size, **font})
    SubElement(picture, "title").text = _clean(title)
    SubElement(picture, "rect", {"width": f"{WIDTH}", "height": f"{height}", "fill": "#fff"})
    _write(picture, title, LEFT, 26, **{"font-size": "16"})
    return picture


def _draw_values(picture: Element, scale: _Scale, step: float) -> None:
    """Draw the horizontal grid and its values."""
    for number in range(round(scale.top / step) + 1):
        value = number * step
        _stroke(picture, (LEFT, scale.y(value)), (RIGHT, scale.y(value)), "#333" if number == 0 else "#ddd")
        _write(picture, f"{value:.10g}", LEFT - 8, scale.y(value) + 4, **{"text-anchor": "end"})


def _draw_times(picture: Element, scale: _Scale) -> None:
    """Draw ticks with dates, or with times of day where the whole chart is short."""
    span = scale.last - scale.first
    for number in range(X_TICKS if span else 1):
        time = scale.first + span * number // (X_TICKS - 1)
        _stroke(picture, (scale.x(time), BOTTOM), (scale.x(time), BOTTOM + 5), "#333")
        _write(picture, _dated(time, span), scale.x(time), BOTTOM + 20, **{"text-anchor": "middle"})


def _dated(time: int, span: int) -> str:
    return format_utc(time)[:10] if span > 10 * DAY_MS else format_utc(time)[5:]


def _draw_line(picture: Element, scale: _Scale, times: Sequence[int], *, series: Series, number: int) -> None:
    for run in _runs(zip(times, series.values, strict=True)):
        points = [(scale.x(time), scale.y(value)) for time, value in run]
        style = {"fill": "none", "stroke-width": "2", "stroke-linejoin": "round", **_look(number)}
        if len(points) == 1:  # a line of one point cannot be seen
            (x, y), dot = points[0], {"r": "2.5", "fill": style["stroke"]}
            SubElement(picture, "circle", {"cx": f"{x}", "cy": f"{y}", **dot})
        else:
            SubElement(picture, "polyline", {"points": " ".join(f"{x},{y}" for x, y in points), **style})


def _runs(points: Iterable[tuple[int, float | None]]) -> Iterator[list[tuple[int, float]]]:
    """Yield the points between gaps."""
    for there, run in groupby(points, key=lambda point: point[1] is not None):
        if there:
            yield [(time, value) for time, value in run if value is not None]


def _draw_legend(picture: Element, label: str, number: int) -> None:
    y = TOP + 10 + 20 * number
    line = _stroke(picture, (RIGHT + 20, y), (RIGHT + 48, y), "")
    line.attrib.update({"stroke-width": "3", **_look(number)})
    _write(picture, label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…", RIGHT + 56, y + 4)


def _look(number: int) -> dict[str, str]:
    """Choose the colour and the dashes of the line of this number."""
    dashes = DASHES[number // len(COLOURS) % len(DASHES)]
    colour = {"stroke": COLOURS[number % len(COLOURS)]}
    return {**colour, "stroke-dasharray": dashes} if dashes else colour


def _stroke(picture: Element, start: tuple[float, float], end: tuple[float, float], colour: str) -> Element:
    (x1, y1), (x2, y2) = start, end
    ends = {"x1": f"{x1}", "y1": f"{y1}", "x2": f"{x2}", "y2": f"{y2}"}
    return SubElement(picture, "line", {**ends, "stroke": colour})


def _write(picture: Element, text: str, x: float, y: float, **style: str) -> None:
    SubElement(picture, "text", {"x": f"{x}", "y": f"{y}", **style}).text = _clean(text)


def _clean(text: str) -> str:
    """Replace in `text` what XML cannot hold even escaped; the rest is escaped as it is written."""
    return _NOT_XML.sub("\ufffd", text)


def _step(highest: float) -> float:
    """Choose the distance of the grid: 1, 2 or 5 times a power of ten, so that 3 to 6 lines lie below `highest`."""
    if highest <= 0:
        return 1.0
    rough = highest / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
