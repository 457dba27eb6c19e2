"""The explorer in a real browser: asks, clicks, goes back in time; nothing is loaded from elsewhere, nothing fails."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from gateway.auth.keys import Caller, Keys
from gateway.auth.new_keys import digest
from tests.support.browser import Visit, build_page, launched, served_demo
from tests.support.cli import ROOT

QUESTION = "What did Dr. Okafor prescribe for Biscuit's ear?"
PASSAGES = {"text": QUESTION, "explain": True, "top_concepts": 80, "top_passages": 12}
LIFE = ROOT / "streams/cli/memory/demo_data/life.jsonl"
SPITEFUL = "<img src=x onerror=alert(1)> the kazoo <b>toots</b>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    build_page()
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    with served_demo(tmp_path_factory.mktemp("memory")) as address:
        turn = {"id": "spite", "speaker": "<i>Eve</i>", "text": SPITEFUL, "at": 1737194700000}
        assert httpx.post(f"{address}/v1/graphs/spite/turns", json=turn).status_code == 201
        yield address


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """Open the demo's memory; afterwards nothing may have gone wrong, and nobody else been asked."""
    with browser.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", color_scheme="dark", locale="en-GB"
    ) as context:
        visit = Visit(context)
        yield visit.open(f"{address}/#graph=demo")
        assert visit.problems == []
        assert [url for url in visit.requested if not url.startswith((address, "blob:"))] == []


def ask(visit: Visit, question: str) -> None:
    visit.page.fill("#question", question)
    visit.page.press("#question", "Enter")
    visit.page.wait_for_selector("#panel[data-kind=reply]")
    visit.until("answered")


def labels(visit: Visit, selector: str) -> list[str]:
    return [text.strip() for text in visit.page.locator(selector).all_inner_texts()]


def test_an_answer_is_shown_step_by_step_with_its_turns_and_why_they_came(visit: Visit, address: str) -> None:
    ask(visit, QUESTION)
    reply = httpx.post(f"{address}/v1/graphs/demo/query", json=PASSAGES).json()
    items = visit.page.locator(".answer")
    assert [items.nth(n).get_attribute("data-turn") for n in range(items.count())] == [
        p["id"] for p in reply["passages"]
    ]
    assert labels(visit, ".chip.seed") == [seed["label"] for seed in reply["seeds"] if seed["id"][0] != "@"]
    assert int(visit.page.get_attribute("html", "data-round") or 0) >= 2, "what was asked for, then what that woke"
    visit.page.locator(".answer summary").first.click()
    expect(visit.page.locator(".answer .terms dt").nth(1)).to_be_attached()
    shown = items.count()
    visit.page.locator(".answer .link").first.click()
    visit.page.wait_for_selector("#panel[data-kind=talk] .chosen")
    visit.page.reload()
    visit.until("answered")
    expect(items, "the address holds the question").to_have_count(shown)


def test_a_click_on_a_concept_shows_where_it_was_said_and_what_it_is_linked_with(visit: Visit) -> None:
    visit.page.mouse.click(*visit.place_of("Biscuit"))
    visit.page.wait_for_selector("#panel[data-kind=concept] .neighbours li")
    assert visit.page.inner_text("#panel h2") == "Biscuit"
    texts = labels(visit, ".evidence .text")
    assert texts
    assert all("Biscuit" in text for text in texts)
    visit.page.locator(".neighbours .chip").first.click()
    visit.page.wait_for_function("() => document.querySelector('#panel h2').textContent !== 'Biscuit'")
    visit.page.wait_for_selector("#panel[data-kind=concept] .neighbours li")


def test_what_is_pinned_has_a_star_wherever_it_is_shown(visit: Visit, address: str) -> None:
    first = httpx.post(f"{address}/v1/graphs/demo/query", json=PASSAGES).json()["passages"][0]["id"]
    pinned = {"turns": [first], "concepts": ["Biscuit"]}
    assert httpx.post(f"{address}/v1/graphs/demo/pin", json=pinned).status_code == 200
    try:
        visit.page.reload()
        visit.until("ready")
        ask(visit, QUESTION)
        expect(visit.page.locator(f".answer[data-turn={first}] .flag.pin")).to_have_text("★ pinned")
        visit.page.keyboard.press("Escape")
        visit.page.mouse.click(*visit.place_of("Biscuit"))
        visit.page.wait_for_selector("#panel[data-kind=concept] .neighbours li")
        expect(visit.page.locator("#panel .chips .flag", has_text="★ pinned")).to_have_count(1)
        with visit.page.expect_download() as download:
            visit.page.click("#svg")
        assert "★" in download.value.path().read_text("utf-8")
    finally:
        httpx.post(f"{address}/v1/graphs/demo/unpin", json=pinned)


def test_the_slider_shows_the_memory_as_it_was_and_what_changed_since(visit: Visit, address: str) -> None:
    now = labels(visit, ".legend p")[0]
    visit.slide(400)
    visit.page.wait_for_selector("#panel[data-kind=changes]")
    expect(visit.page.locator(".legend p").first).not_to_have_text(now)
    at = visit.page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('at')")
    changed = httpx.get(f"{address}/v1/graphs/demo/changes", params={"since": at, "until": "1758994668300"}).json()
    expect(visit.page.locator(".change.born .count")).to_have_text(str(changed["totals"]["born"]))
    ask(visit, QUESTION)
    expect(visit.page.locator(".answer").first).to_be_visible()
    visit.page.click("#now")
    visit.page.wait_for_selector("#panel[data-kind=changes]")
    expect(visit.page.locator(".legend p").first).to_have_text(now)


def test_every_word_is_there_in_english_and_in_chinese(visit: Visit) -> None:
    def words() -> list[str]:
        shown = labels(visit, ".bar button, .bar option, .time button, .panel h2, .panel h3")
        return shown + [each.get_attribute("title") or "" for each in visit.page.locator(".bar [title]").all()]

    ask(visit, QUESTION)
    english = words()
    visit.page.click("#language")
    expect(visit.page.locator("html")).to_have_attribute("lang", "zh-Hans")
    chinese = words()
    same = {one for one, other in zip(english, chinese, strict=True) if one == other}
    assert same <= {"PNG", "SVG", "?", "demo", "demo-zh", "spite", "▶", ""}
    visit.page.click("#language")
    expect(visit.page.locator("html")).to_have_attribute("lang", "en")
    assert words() == english


def test_dark_and_light_are_kept(visit: Visit) -> None:
    dark, light = "rgb(10, 13, 24)", "rgb(248, 247, 243)"
    body = visit.page.locator("body")
    expect(body).to_have_css("background-color", dark)
    visit.page.click("#shade")
    expect(body).to_have_css("background-color", light)
    visit.page.reload()
    visit.until("ready")
    expect(body).to_have_css("background-color", light)


def test_a_picture_is_saved_as_png_and_as_svg(visit: Visit, tmp_path: Path) -> None:
    ask(visit, QUESTION)
    with visit.page.expect_download() as download:
        visit.page.click("#png")
    download.value.save_as(tmp_path / "memory.png")
    png = (tmp_path / "memory.png").read_bytes()
    width, height = struct.unpack(">II", png[16:24])
    assert png.startswith(b"\x89PNG")
    assert min(width, height) > 1000
    assert len(png) > 100_000, "an empty picture is small"
    visit.page.click("#fit")  # an answer brings most of what is awake into view; a picture holds what is in view
    out = "() => explorer.placeOf('Biscuit').x > explorer.sky.sigma.getDimensions().width"
    while visit.page.evaluate(out):  # the page's policy lets nobody wait inside it
        visit.page.wait_for_timeout(20)
    with visit.page.expect_download() as download:
        visit.page.click("#svg")
    download.value.save_as(tmp_path / "memory.svg")
    drawn = ElementTree.parse(tmp_path / "memory.svg")  # noqa: S314 - we wrote it ourselves, a moment ago
    texts = {each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Biscuit", "Okafor", "1"} <= texts


def test_the_saved_picture_marks_what_is_history_and_what_recurs(visit: Visit, address: str) -> None:
    for line in LIFE.read_text(encoding="utf-8").splitlines():
        turn = json.loads(line)
        assert httpx.post(f"{address}/v1/graphs/{turn.pop('graph')}/turns", json=turn).status_code == 201
    visit.page.goto(f"{address}/#graph=demo-life")
    visit.page.reload()
    visit.until("ready")
    for question, mark in (("Where do I live?", "history"), ("How often does Jonas drink latte?", "habit")):
        ask(visit, question)
        with visit.page.expect_download() as download:
            visit.page.click("#svg")
        drawn = ElementTree.parse(download.value.path())  # noqa: S314 - we wrote it ourselves, a moment ago
        assert mark in {each.get("class") for each in drawn.iter()}, question


def test_all_of_it_can_be_done_with_the_keyboard(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("/")
    page.keyboard.type("clocks")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel[data-kind=reply]")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    page.focus("#graph")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#panel[data-kind=concept] .neighbours li")
    first = page.inner_text("#panel h2")
    for arrow in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(arrow)
        page.wait_for_selector("#panel[data-kind=concept] .neighbours li")
        if page.inner_text("#panel h2") != first:
            break
    assert page.inner_text("#panel h2") != first
    expect(page.locator("#said"), "a screen reader reads it").to_have_text(page.inner_text("#panel h2"))
    page.keyboard.press("Escape")
    page.keyboard.press("[")
    page.wait_for_selector("#panel[data-kind=changes]")
    page.keyboard.press("n")
    page.wait_for_selector("#now", state="hidden")
    page.keyboard.press("?")
    expect(page.locator("#manual")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#manual")).to_be_hidden()


MOVED = """async () => {
  const { sigma, travel } = explorer.sky, frames = [], layers = sigma.getCanvases();
  const seen = () => frames.push([travel.isShown, layers.nodes.style.visibility]);
  travel.isLarge = () => true; // as of a memory of thousands
  sigma.on("afterRender", seen);
  await sigma.getCamera().animate({ x: 0.6, y: 0.45, ratio: 0.8 }, { duration: 600 });
  while (travel.isShown) await new Promise(requestAnimationFrame);
  sigma.off("afterRender", seen);
  return frames;
}"""


def test_while_the_camera_of_a_large_memory_moves_its_picture_does_and_then_all_is_drawn_anew(visit: Visit) -> None:
    frames = visit.page.evaluate(MOVED)
    assert [True, "hidden"] in frames, "a picture was moved"
    assert frames[0] == [False, ""], "of what is there: it is drawn before it moves"
    assert frames[-1] == [False, ""], "and again when the camera rests"
    visit.page.mouse.click(*visit.place_of("Biscuit"))
    visit.page.wait_for_selector("#panel[data-kind=concept] .neighbours li")


def test_there_are_several_graphs_and_what_people_say_is_never_markup(visit: Visit) -> None:
    shown = [name for name in labels(visit, "#graphs option") if name != "demo-life"]  # which another test tells of
    assert shown == ["demo", "demo-zh", "spite"]
    visit.page.select_option("#graphs", "spite")
    visit.page.wait_for_function("() => location.hash.includes('graph=spite')")
    ask(visit, "kazoo")
    expect(visit.page.locator(".answer .text").first).to_have_text(SPITEFUL)
    assert visit.page.locator(".answer img, .answer i").count() == 0
    ask(visit, "something that nobody ever spoke of")
    expect(visit.page.locator(".empty")).to_be_visible()


def test_a_memory_with_keys_asks_for_one(browser: Browser, tmp_path: Path) -> None:
    reader = Caller(name="reader", sha256=digest("let me in"), graphs=("demo",), rights=frozenset({"read"}))
    with served_demo(tmp_path, Keys([reader])) as address, browser.new_context(locale="en-GB") as context:
        visit = Visit(context)
        visit.page.goto(address)
        visit.page.fill("#key", "let me in")
        visit.page.click("#door-open")
        visit.until("ready")
        assert labels(visit, "#graphs option") == ["demo"], "a key sees its own graphs alone"
        refused = [problem for problem in visit.problems if "401" not in problem]
        assert refused == []


def test_the_reference_of_the_routes_loads_nothing_from_elsewhere(visit: Visit, address: str) -> None:
    visit.page.goto(f"{address}/docs")
    routes = labels(visit, ".route summary code")
    assert "/v1/graphs/{graph}/picture" in routes
    assert len(routes) == sum(len(each) for each in httpx.get(f"{address}/openapi.json").json()["paths"].values())
    visit.page.locator(".route summary").first.click()
    assert "curl" in visit.page.locator(".route pre").first.inner_text()
