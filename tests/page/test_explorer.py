"""The explorer in a real browser: asks, clicks, goes back in time; nothing is loaded from elsewhere, nothing fails."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, Route, expect, sync_playwright

from gateway.auth.keys import Caller, Keys
from gateway.auth.new_keys import digest
from tests.support.browser import Visit, build_page, launched, served_demo, served_empty
from tests.support.cli import ROOT

pytestmark = pytest.mark.slow

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
    visit.page.locator(".answer > .why summary").first.click()
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
    now = labels(visit, ".legend p:not(.sign)")[0]
    visit.slide(400)
    visit.page.wait_for_selector("#panel[data-kind=changes]")
    expect(visit.page.locator(".legend p:not(.sign)").first).not_to_have_text(now)
    at = visit.page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('at')")
    changed = httpx.get(f"{address}/v1/graphs/demo/changes", params={"since": at, "until": "1758994668300"}).json()
    expect(visit.page.locator(".change.born .count")).to_have_text(str(changed["totals"]["born"]))
    ask(visit, QUESTION)
    expect(visit.page.locator(".answer").first).to_be_visible()
    visit.page.click("#now")
    visit.page.wait_for_selector("#panel[data-kind=changes]")
    expect(visit.page.locator(".legend p:not(.sign)").first).to_have_text(now)


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


def fresh(visit: Visit, address: str, name: str, *texts: str) -> Visit:
    """Open a memory of its own, with these turns."""
    for number, text in enumerate(texts):
        turn = {"id": f"{name}{number}", "speaker": "Ada", "text": text, "session": f"s{number}"}
        assert httpx.post(f"{address}/v1/graphs/{name}/turns", json=turn).status_code == 201
    visit.page.goto("about:blank")
    return visit.open(f"{address}/#graph={name}")


def turns_of(address: str, name: str) -> list[str]:
    return [turn["text"] for turn in httpx.get(f"{address}/v1/graphs/{name}/turns").json()["turns"]]


def test_a_sentence_is_remembered_and_can_be_asked_for(visit: Visit, address: str) -> None:
    fresh(visit, address, "keep", "The kettle broke.")
    visit.page.click("#remember")
    visit.page.fill("#memory-text", "My dentist is Dr Mora.")
    visit.page.click("#panel .form button")
    expect(visit.page.locator("#notice")).to_have_text("Remembered.")
    assert "My dentist is Dr Mora." in turns_of(address, "keep")
    assert visit.place_of("dentist"), "it is drawn at once"
    ask(visit, "who is my dentist?")
    expect(visit.page.locator(".answer .text").first).to_have_text("My dentist is Dr Mora.")
    assert visit.page.title() == "who is my dentist? · keep · EMGAS"


def test_a_file_is_imported_by_choosing_and_by_dropping_it(visit: Visit, address: str, tmp_path: Path) -> None:
    fresh(visit, address, "files", "The kettle broke.")
    file = tmp_path / "chat.jsonl"
    file.write_text('{"id": "f1", "speaker": "Ben", "text": "Ben bought a guitar."}\n{"id": "f2"}\n')
    visit.page.click("#remember")
    visit.page.set_input_files("#memory-file", file)
    expect(visit.page.locator("#notice")).to_have_text("chat.jsonl: 1 new, 0 known, 1 rejected.")
    visit.page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File(['{"id": "f3", "speaker": "Ben", "text": "Ben sold a drum."}'], "drop.jsonl"));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    }""")
    expect(visit.page.locator("#notice")).to_have_text("drop.jsonl: 1 new, 0 known, 0 rejected.")
    assert {"Ben bought a guitar.", "Ben sold a drum."} <= set(turns_of(address, "files"))


def test_a_turn_is_pinned_and_forgotten_and_forgetting_can_be_undone(visit: Visit, address: str) -> None:
    fresh(visit, address, "drop", "The kettle broke.", "The kettle was repaired.")
    visit.page.click("#talks")
    visit.page.locator("#panel[data-kind=talks] .link", has_text="s0").click()
    turn = visit.page.locator("#panel[data-kind=talk] .said")
    turn.get_by_role("button", name="Pin").click()
    expect(turn.get_by_role("button", name="Unpin")).to_be_visible()
    turn.get_by_role("button", name="Forget").click()
    expect(turn).to_be_hidden()
    visit.page.locator("#notice button").click()
    expect(turn).to_be_visible()
    assert len(turns_of(address, "drop")) == 2
    turn.get_by_role("button", name="Forget").click()
    with visit.page.expect_response("**/forget"):
        visit.page.evaluate("() => explorer.keeping.forgetNow()")  # as after the time to undo
    assert turns_of(address, "drop") == ["The kettle was repaired."]


def test_people_habits_and_what_was_understood_are_shown(visit: Visit, address: str) -> None:
    fresh(visit, address, "who", "I moved to Porto yesterday.", "I run every Monday.")
    visit.page.click("#who")
    expect(visit.page.locator("#panel[data-kind=who] .said").first).to_contain_text("Porto")
    visit.page.click("#habits")
    expect(visit.page.locator("#panel[data-kind=habits] h2")).to_have_text("Habits")
    ask(visit, "Porto")
    visit.page.locator(".answer details", has_text="What it understood").first.locator("summary").click()
    expect(visit.page.locator(".answer details[open] .flag", has_text="Porto").first).to_be_visible()


def test_what_an_agent_got_is_shown_with_its_prompt(visit: Visit, address: str) -> None:
    fresh(visit, address, "shop", "We always deploy the shop with Kamal, never with Ansible.", "The cat likes tuna.")
    text = "Deploy the shop now, as we always deploy it."
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s9", "prompt": text}
    got = httpx.post(f"{address}/v1/hooks/codex", params={"graph": "shop"}, json={**prompt, "cwd": "/home/ada/shop"})
    assert "Kamal" in got.text
    visit.page.click("#agents")
    row = visit.page.locator("#panel[data-kind=agents] .said").first
    expect(row.locator(".who")).to_contain_text("codex")
    expect(row.locator(".text")).to_have_text(text)
    expect(row.locator("li").first).to_contain_text("Kamal")


def test_conversations_are_listed_with_what_they_were_about(visit: Visit, address: str) -> None:
    fresh(visit, address, "talks", "The kettle broke again.", "My dentist is Dr Mora.")
    visit.page.click("#talks")
    said = visit.page.locator("#panel[data-kind=talks] .said")
    expect(said).to_have_count(2)
    expect(said.first.locator(".chips")).to_contain_text("dentist")
    expect(said.first.locator(".text")).to_contain_text("My dentist is Dr Mora.")


def test_the_context_is_copied(visit: Visit, address: str) -> None:
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(visit, QUESTION)
    visit.page.get_by_role("button", name="Copy the context").click()
    expect(visit.page.locator("#notice")).to_have_text("Copied.")
    assert "Okafor" in visit.page.evaluate("() => navigator.clipboard.readText()")


def test_what_another_program_adds_appears(visit: Visit, address: str) -> None:
    fresh(visit, address, "live", "The kettle broke.")
    visit.page.evaluate("() => explorer.live()")
    turn = {"id": "new", "speaker": "Ada", "text": "The umbrella is blue."}
    assert httpx.post(f"{address}/v1/graphs/live/turns", json=turn).status_code == 201
    visit.page.evaluate("() => explorer.live()")
    assert visit.place_of("umbrella")


def test_the_first_screen_explains_itself_and_offers_a_question(visit: Visit) -> None:
    signs = labels(visit, ".legend .sign:visible")
    assert [sign.split(":")[0] for sign in signs] == ["a dot", "a line", "a ring"]
    visit.page.locator(".legend .button").click()
    visit.page.wait_for_selector("#panel[data-kind=reply]")
    visit.until("answered")
    assert labels(visit, ".legend .sign:visible")[-1].startswith("a yellow ring:")
    visit.page.go_back()
    visit.until("ready")
    assert "q=" not in visit.page.evaluate("() => location.hash")


def test_the_preset_is_shown_and_can_be_changed(visit: Visit, address: str) -> None:
    fresh(visit, address, "presets", "The kettle broke.")
    visit.page.click("#remember")
    preset = visit.page.get_by_label("How it forgets")
    expect(preset).to_have_value("default")
    preset.select_option("forgetful")
    expect(visit.page.locator("#notice")).to_have_text("It now forgets like “forgetful”.")
    assert httpx.get(f"{address}/v1/graphs/presets").json()["preset"] == "forgetful"


def test_an_unknown_memory_is_named_and_a_stopped_server_too(visit: Visit, address: str) -> None:
    visit.page.goto("about:blank")
    visit.page.goto(f"{address}/#graph=nobody-here")
    expect(visit.page.locator("#notice")).to_have_text("There is no memory named “nobody-here” here. Choose one above.")
    visit.page.select_option("#graphs", "demo")
    visit.until("ready")
    visit.page.route("**/v1/**", lambda route: route.abort())
    visit.page.fill("#question", "vet")
    visit.page.press("#question", "Enter")
    expect(visit.page.locator("#notice")).to_contain_text("The memory does not answer. Is `emgas serve` running?")
    visit.page.unroute_all()
    visit.page.get_by_role("button", name="Try again").click()
    visit.until("ready", "answered")
    visit.problems[:] = [each for each in visit.problems if "ERR_FAILED" not in each]


UNREACHABLE = "The memory does not answer. Is `emgas serve` running?"
PROGRESS = 'event: progress\ndata: {"published": 50, "accepted": 50, "duplicates": 0, "rejected": 0}\n\n'


class Halfway(BaseHTTPRequestHandler):
    """Begins each answer, and hangs up in the middle: as a server that is stopped does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        half = PROGRESS if self.path.split("?")[0].endswith("/import") else '{"kind": "reply", "found": tr'
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if half is PROGRESS else "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(half.encode())
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def halfway() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Halfway) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_server_that_stops_halfway_is_named_and_can_be_tried_again(visit: Visit, address: str, halfway: str) -> None:
    visit.page.route("**/query", lambda route: route.continue_(url=route.request.url.replace(address, halfway)))
    visit.page.fill("#question", "vet")
    visit.page.press("#question", "Enter")
    expect(visit.page.locator("#notice")).to_contain_text(UNREACHABLE)
    visit.page.unroute_all()
    visit.page.get_by_role("button", name="Try again").click()
    visit.until("ready", "answered")
    forgive_broken_connections(visit)


@pytest.mark.parametrize("ends_properly", [False, True])
def test_an_import_that_stops_halfway_is_not_reported_as_done(
    visit: Visit, address: str, halfway: str, tmp_path: Path, ends_properly: bool
) -> None:
    def answer(route: Route) -> None:
        if ends_properly:
            route.fulfill(body=PROGRESS, content_type="text/event-stream")
        else:
            route.continue_(url=route.request.url.replace(address, halfway))

    file = tmp_path / "chat.jsonl"
    file.write_text('{"id": "h1", "speaker": "Ben", "text": "Ben bought a guitar."}\n')
    visit.page.route("**/import?**", answer)
    visit.page.click("#remember")
    visit.page.set_input_files("#memory-file", file)
    expect(visit.page.locator("#notice")).to_contain_text(UNREACHABLE)
    expect(visit.page.get_by_role("button", name="Try again")).to_be_visible()
    forgive_broken_connections(visit)


def test_what_went_wrong_stays_on_the_screen_when_an_earlier_request_succeeds_later(visit: Visit) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    visit.page.route("**/v1/graphs/demo", hold)
    visit.page.click("#remember")  # asks which preset this memory has
    visit.page.route("**/turns", lambda route: route.abort())
    visit.page.get_by_label("What should it remember?").fill("Ben bought a guitar.")
    visit.page.get_by_role("button", name="Remember it").click()
    expect(visit.page.locator("#notice")).to_contain_text(UNREACHABLE)
    held[0].continue_()
    expect(visit.page.get_by_role("combobox", name="How it forgets")).to_have_value("default")
    expect(visit.page.locator("#notice")).to_contain_text(UNREACHABLE)
    forgive_broken_connections(visit)


def forgive_broken_connections(visit: Visit) -> None:
    visit.problems[:] = [each for each in visit.problems if "ERR_" not in each]


@pytest.mark.parametrize("hash", ["#graph=", "#", "#graph=&q="])
def test_an_address_that_names_no_memory_opens_the_first(hash: str, visit: Visit, address: str) -> None:
    visit.page.goto("about:blank")
    visit.open(f"{address}/{hash}")
    first = httpx.get(f"{address}/v1/graphs").json()["graphs"][0]
    expect(visit.page.locator("#graphs")).to_have_value(first)
    expect(visit.page.locator("#notice")).to_be_hidden()


def test_an_empty_memory_begins_on_the_page(browser: Browser, tmp_path: Path) -> None:
    with served_empty(tmp_path) as address, browser.new_context(locale="en-GB") as context:
        visit = Visit(context)
        visit.page.goto(address)
        visit.page.fill("#memory-text", "My dentist is Dr Mora.")
        visit.page.click("#panel .form button")
        expect(visit.page.locator("#notice")).to_have_text("Remembered.")
        assert turns_of(address, "me") == ["My dentist is Dr Mora."]
        assert visit.problems == []


NAMES = """() => {
  const { sigma, named } = explorer.sky, context = sigma.getCanvases().labels.getContext("2d");
  return [...named].map(([id, { x, y }]) => {
    const { label, size } = sigma.getNodeDisplayData(id), height = Math.min(17, 10.5 + sigma.scaleSize(size) * 0.34);
    context.font = `500 ${height}px sans-serif`;
    const half = context.measureText(label).width * 0.4; // the font of the page may be narrower
    return [x - half, y, x + half, y + height];
  });
}"""


def test_no_name_lies_on_another(visit: Visit) -> None:
    boxes = visit.page.evaluate(NAMES)
    assert len(boxes) > 20
    for (left, top, right, bottom), (left2, top2, right2, bottom2) in combinations(boxes, 2):
        assert left >= right2 or left2 >= right or top >= bottom2 or top2 >= bottom


ALONE = """async () => {
  const { memory } = explorer;
  memory.graph.clearEdges();
  memory.graph.updateEachNodeAttributes((_id, concept) => ({ ...concept, theme: -1 }));
  await new Promise((done) => memory.layOut(1.5, (isDone) => isDone && done()));
  return memory.graph.mapNodes((_id, { x, y }) => [x, y]);
}"""


def test_what_is_linked_with_nothing_lies_in_rows(visit: Visit) -> None:
    places = visit.page.evaluate(ALONE)
    rows, columns = ({round(place[axis], 3) for place in places} for axis in (1, 0))
    assert len({tuple(place) for place in places}) == len(places)
    assert 1 < len(rows) < len(columns) <= len(places) / 5


def test_on_a_phone_the_legend_is_on_the_screen_and_makes_room_for_the_panel(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.page.reload()
    visit.until("ready")
    for sign in visit.page.locator(".legend .sign:visible").all():
        expect(sign).to_be_in_viewport(ratio=1)
    visit.page.locator(".legend .button").click()
    visit.page.wait_for_selector("#panel[data-kind=reply]")
    expect(visit.page.locator("#legend")).to_be_hidden()


def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_sheet_can_be_dragged(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    ask(visit, QUESTION)
    assert visit.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    box = visit.page.locator("#panel").bounding_box()
    assert box is not None
    visit.page.mouse.move(box["x"] + 180, box["y"] + 8)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + 180, box["y"] - 150)
    visit.page.mouse.up()
    dragged = visit.page.locator("#panel").bounding_box()
    assert dragged is not None
    assert dragged["y"] < box["y"] - 100


VIOLATIONS = "() => axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))"


@pytest.mark.parametrize("shade", ["dark", "light"])
def test_axe_finds_nothing_that_keeps_people_out(browser: Browser, address: str, shade: Any) -> None:
    axe = (ROOT / "page/node_modules/axe-core/axe.min.js").read_text("utf-8")
    with browser.new_context(reduced_motion="reduce", color_scheme=shade, locale="en-GB") as context:
        visit = Visit(context).open(f"{address}/#graph=demo")
        visit.page.evaluate(axe)
        assert visit.page.evaluate(VIOLATIONS) == []
        ask(visit, QUESTION)
        assert visit.page.evaluate(VIOLATIONS) == []
        for name in ("remember", "talks", "who", "habits", "agents"):
            visit.page.click(f"#{name}")
            visit.page.wait_for_selector(f"#panel[data-kind={name}]")
            assert visit.page.evaluate(VIOLATIONS) == [], name


def test_the_reference_of_the_routes_loads_nothing_from_elsewhere(visit: Visit, address: str) -> None:
    visit.page.goto(f"{address}/docs")
    routes = labels(visit, ".route summary code")
    assert "/v1/graphs/{graph}/picture" in routes
    assert len(routes) == sum(len(each) for each in httpx.get(f"{address}/openapi.json").json()["paths"].values())
    visit.page.locator(".route summary").first.click()
    assert "curl" in visit.page.locator(".route pre").first.inner_text()
