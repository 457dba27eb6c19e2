// The explorer: puts its parts together, and says what keys, clicks and the slider do.
import * as api from "./api.ts";
import { SHADES, ofTheme } from "./colours.ts";
import { byId, element } from "./html.ts";
import { Keeping } from "./keeping.ts";
import { Memory } from "./memory.ts";
import { Panel } from "./panel.ts";
import * as save from "./save.ts";
import { CROWD, Sky } from "./sky.ts";
import { Timeline } from "./timeline.ts";
import { Wave, type Ring } from "./wave.ts";
import { date, number, say, speak, spoken, words, type Language, type Name } from "./words.ts";

const SIZES = [100, 300, 800, 3000];
const LINKS = 4; // drawn for each concept: the strongest of each, as the gateway has them first
const FEW_LINKS = 1; // where more than CROWD so many concepts are drawn that links would hide their clusters
const PHONE = 900; // px: on a narrower screen, legend and panel lie below the graph
const LIVE_MS = 5000; // between two looks whether something was added
const FRAMES = 36; // of a film from the first turn to the last
const root = document.documentElement;
const stored = (name: string) => localStorage.getItem(`emgas.${name}`);
const store = (name: string, value: string) => localStorage.setItem(`emgas.${name}`, value);

class Explorer {
  private graph = "";
  private at: number | null = null; // the time that is shown, null: the present
  private reply: api.Reply | null = null;
  private changed: api.Compared | null = null;
  private loading: AbortController | null = null;
  private film = 0;
  private notices = 0; // so far, the empty ones too
  private readonly memory = new Memory();
  private readonly sky: Sky;
  private readonly wave: Wave;
  private readonly panel: Panel;
  private readonly keeping: Keeping;
  private turns = -1; // that the shown memory had when it was looked at last
  private readonly timeline: Timeline;

  constructor() {
    const dark = (stored("shade") ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark")) !== "light";
    root.dataset["shade"] = dark ? "dark" : "light";
    const draw = () => this.wave?.draw();
    this.sky = new Sky(this.memory, byId("graph"), byId("sky"), SHADES[dark ? "dark" : "light"], draw);
    this.wave = new Wave(this.memory, this.sky, byId("wave"));
    this.timeline = new Timeline((at) => void this.travel(at));
    this.panel = new Panel(this.memory, this.sky, {
      openConcept: (id) => void this.open(id),
      pointAt: (turn) => { this.wave.chosen = turn; if (!this.wave.isPlaying) this.wave.draw(); },
      showConversation: (session, turn) => void this.told(this.panel.showConversation(session, turn, this.graph, this.at)),
      ask: (text) => { byId<HTMLInputElement>("question").value = text; void this.ask(); },
      focus: (id) => void this.focus(id),
      copy: (text) => void navigator.clipboard.writeText(text).then(() => this.notice(words().copied)),
    });
    this.keeping = this.panel.keeping = new Keeping({
      graph: () => this.graph,
      show: (kind, ...children) => { this.reset(); this.panel.show(kind, ...children); },
      openConversation: (session) => void this.told(this.panel.showConversation(session, null, this.graph, this.at)),
      changed: (graph) => this.changedBy(graph),
      notice: (text, kind, action) => this.notice(text, kind, action),
      told: (work) => this.told(work),
    });
    speak((stored("language") as Language | null) ?? (navigator.language.startsWith("zh") ? "zh" : "en"));
    this.write();
    this.listen();
  }

  async start(): Promise<void> {
    const names = await this.told(api.graphs());
    if (names === null) return;
    const select = byId<HTMLSelectElement>("graphs");
    select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    const wanted = new URLSearchParams(location.hash.slice(1));
    const graph = wanted.get("graph") || null; // `#graph=` names none
    if (!names.length) {
      this.keeping.showRemember();
      return this.notice(words().nothing, "empty");
    }
    if (graph !== null && !names.includes(graph)) {
      select.prepend(element("option", { value: "", disabled: true }, "…"));
      select.value = "";
      return this.notice(say("unknown", { graph }), "error");
    }
    select.value = graph ?? names[0]!;
    await this.choose(select.value);
    const at = Number(wanted.get("at"));
    if (at) {
      this.timeline.at = at;
      await this.travel(at);
    }
    const question = wanted.get("q");
    if (question) {
      byId<HTMLInputElement>("question").value = question;
      await this.ask();
    }
  }

  // what is asked of the gateway

  /** Await something; say what went wrong, and give null.  Success removes only the notice that stood before it. */
  private async told<T>(work: Promise<T>): Promise<T | null> {
    const before = this.notices;
    try {
      const found = await work;
      if (this.notices === before) this.notice(""); // what went wrong meanwhile stays on the screen
      return found;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return null;
      if (error instanceof api.Problem && error.status === 401) this.knock();
      else if (error instanceof api.Problem && error.status === 404) this.notice(words().empty);
      else if (error instanceof api.Unreachable) this.notice(words().unreachable, "error", { text: words().retry, do: () => void this.start() });
      else this.notice(error instanceof Error ? error.message : String(error), "error");
      return null;
    }
  }

  private wanted(): Record<string, number | string> {
    const nodes = Number(byId<HTMLSelectElement>("size").value);
    return { nodes, links: Math.min(20000, nodes * (nodes > CROWD ? FEW_LINKS : LINKS)), ...this.when() };
  }

  private async choose(graph: string): Promise<void> {
    this.graph = graph;
    this.at = this.timeline.at = null;
    this.reset();
    this.memory.begin();
    const seen = await this.told(api.picture(graph, this.wanted()));
    if (seen === null) return;
    this.timeline.span(seen.activity);
    this.take(seen);
    await this.settle();
    this.sky.fit();
    this.remember();
    this.turns = -1;
  }

  /** Show what was added or forgotten: the same graph again, or a new one. */
  private async changedBy(graph: string): Promise<void> {
    if (graph !== this.graph) {
      location.hash = `graph=${encodeURIComponent(graph)}`;
      return this.start();
    }
    this.turns = -1;
    const seen = this.at === null ? await this.told(api.picture(graph, this.wanted())) : null;
    if (seen === null) return;
    this.timeline.span(seen.activity);
    this.take(seen);
    this.wave.draw();
  }

  /** Look whether another program added something, and show it. */
  private async live(): Promise<void> {
    if (!this.graph || this.at !== null || document.hidden || this.film) return;
    const { graph } = this;
    const { turns } = await api.describe(graph).catch(() => ({ turns: this.turns }));
    const isNew = this.turns >= 0 && turns !== this.turns && graph === this.graph;
    this.turns = turns;
    if (isNew) { await this.changedBy(graph); this.turns = turns; }
  }

  /** Lay out what is there; come back when it lies still. */
  private settle(): Promise<void> {
    root.dataset["state"] = "settling";
    this.sky.sigma.setCustomBBox(null);
    return new Promise((done) => {
      const { width, height } = this.sky.sigma.getDimensions();
      this.memory.layOut(Math.min(1.5, Math.max(0.7, width / height)), (isDone) => {
        this.sky.frame();
        this.sky.refresh();
        if (!isDone) return;
        root.dataset["state"] = "ready";
        done();
      });
    });
  }

  private take(seen: api.Pictured): void {
    this.memory.take(seen);
    this.sky.frame();
    this.sky.refresh();
    this.legend();
    this.showTime();
  }

  private async ask(): Promise<void> {
    const text = byId<HTMLInputElement>("question").value.trim();
    if (!text || !this.graph) return;
    root.dataset["state"] = "asking";
    this.reset();
    const reply = await this.told(api.query(this.graph, text, Number(byId<HTMLSelectElement>("reach").value), this.at));
    if (reply === null) { root.dataset["state"] = "ready"; return; }
    await this.drawMissing(reply);
    this.reply = reply;
    this.remember();
    this.sky.refresh();
    this.panel.showReply(reply);
    const reached = [...reply.seeds, ...reply.concepts.slice(0, 24)].map(({ id }) => id);
    this.sky.show(reached, 0.36);
    root.dataset["state"] = "spreading";
    this.wave.play(reply, (round, done) => {
      root.dataset["round"] = String(round);
      if (done) root.dataset["state"] = "answered";
    });
  }

  /** Draw what an answer woke and the picture had no room for, near what woke it. */
  private async drawMissing(reply: api.Reply): Promise<void> {
    const beside = new Map<string, string[]>();
    for (const { id, path } of [...reply.seeds, ...reply.concepts]) {
      if (!id.startsWith("@") && !this.memory.graph.hasNode(id)) beside.set(id, path.slice(-2, -1));
    }
    for (const [id, near] of beside) { // a seed woke by itself: it lies near what it woke
      if (!near.length) near.push(...reply.concepts.filter(({ path }) => path.at(-2) === id).map((concept) => concept.id));
    }
    await this.draw([...beside.keys()].slice(0, 100), beside);
  }

  private async draw(ids: string[], beside: Map<string, string[]>): Promise<void> {
    if (!ids.length) return;
    const seen = await this.told(api.picture(this.graph, { around: ids, hops: 0, nodes: ids.length, links: 0, ...this.when() }));
    if (seen) this.memory.join(seen, beside);
  }

  private when(): { as_of?: string } {
    return this.at === null ? {} : { as_of: api.moment(this.at) };
  }

  private async open(id: string): Promise<void> {
    if (!this.memory.graph.hasNode(id)) await this.draw([id], new Map([[id, this.sky.focus.chosen ? [this.sky.focus.chosen] : []]]));
    if (!this.memory.graph.hasNode(id)) return;
    this.sky.focus.chosen = id;
    this.sky.refresh();
    if (!this.reply && !this.sky.focus.near) this.sky.show([id, ...this.memory.graph.neighbors(id)], 0.5);
    byId("said").textContent = this.memory.graph.getNodeAttribute(id, "label");
    await this.told(this.panel.showConcept(id, this.graph, this.at));
  }

  /** Show only what is near a concept, with what the whole picture had no room for; or all again. */
  private async focus(id: string): Promise<void> {
    if (this.sky.focus.near) {
      this.sky.focus.near = null;
      this.sky.fit();
    } else {
      const near = await this.told(api.picture(this.graph, { around: [id], hops: 2, nodes: 60, links: 0, ...this.when() }));
      if (near === null) return;
      this.memory.join(near, new Map(near.concepts.ids.map((one) => [one, [id]])));
      this.sky.focus.near = new Set([...near.concepts.ids, id]);
      this.sky.show(this.sky.focus.near, 0.2);
    }
    await this.open(id);
  }

  // time

  /** Show the memory as it was, and what changed since the time that was shown before. */
  private async travel(at: number | null): Promise<void> {
    const before = this.at ?? this.timeline.last;
    this.at = at;
    this.showTime();
    this.timeline.draw(this.sky.shade);
    this.loading?.abort();
    const { signal } = (this.loading = new AbortController());
    const now = at ?? this.timeline.last;
    const [since, until] = [Math.min(before, now), Math.max(before, now)];
    const seen = await this.told(api.picture(this.graph, this.wanted(), signal));
    if (signal.aborted) return;
    if (seen === null) {
      this.reset();
      this.memory.graph.clear();
      this.sky.refresh();
      return;
    }
    this.wave.stop();
    this.reply = null;
    this.sky.focus.chosen = null;
    this.take(seen);
    this.remember();
    root.dataset["state"] = "ready";
    if (since === until) return;
    const changed = await this.told(api.changes(this.graph, since, until, signal));
    if (changed === null || signal.aborted) return;
    this.changed = changed;
    this.wave.rings = ringsOf(changed);
    this.wave.draw();
    this.panel.showChanges(changed);
  }

  private async play(): Promise<void> {
    if (this.film) return this.stop();
    const film = (this.film = Date.now());
    this.reset();
    this.showTime();
    const begin = this.at === null || this.at >= this.timeline.last ? 0 : (this.at - this.timeline.first) / (this.timeline.last - this.timeline.first);
    this.write();
    for (let frame = Math.ceil(begin * FRAMES); frame <= FRAMES && this.film === film; frame++) {
      const at = frame === FRAMES ? null : this.timeline.first + ((this.timeline.last - this.timeline.first) * frame) / FRAMES;
      this.timeline.at = at;
      const [step] = [this.travel(this.timeline.at)];
      await Promise.all([step, new Promise((done) => setTimeout(done, 260))]);
    }
    if (this.film === film) this.stop();
  }

  private stop(): void {
    this.film = 0;
    this.write();
  }

  private now(): void {
    this.timeline.at = null;
    void this.travel(null);
  }

  private step(by: number): void {
    const span = this.timeline.last - this.timeline.first;
    const at = (this.at ?? this.timeline.last) + (by * span) / 40;
    this.timeline.at = at >= this.timeline.last ? null : Math.max(this.timeline.first, at);
    void this.travel(this.timeline.at);
  }

  private showTime(): void {
    byId("moment").textContent = this.at === null ? words().now : date(this.at);
    byId("now").hidden = this.at === null;
    this.timeline.draw(this.sky.shade);
  }

  // what people see beside the graph

  /** Let go of what stands out: an answer, a concept, rings. */
  private reset(): void {
    this.wave.stop();
    this.wave.rings = new Map();
    this.reply = this.changed = null;
    this.sky.focus.chosen = this.sky.focus.near = null;
    this.panel.close();
  }

  private back(): void {
    if (byId<HTMLDialogElement>("manual").open) return byId<HTMLDialogElement>("manual").close();
    const { focus } = this.sky;
    if (focus.near) {
      focus.near = null;
      this.sky.fit();
    } else if (focus.chosen && this.reply) {
      focus.chosen = null;
      this.panel.showReply(this.reply);
    } else if (focus.chosen && this.changed) {
      focus.chosen = null;
      this.panel.showChanges(this.changed);
    } else {
      this.reset();
      root.dataset["state"] = "ready";
      this.remember();
    }
    this.sky.refresh();
    this.wave.draw();
  }

  private legend(): void {
    const held = element("p", { class: "dim" }, say("held", { shown: number(this.memory.graph.order), total: number(this.memory.total) }));
    const rows = this.memory.themes.slice(0, 14).map((theme) => {
      const colour = this.memory.colour(theme);
      const row = element("button", { class: "theme", type: "button", title: theme.label }, element("span", { class: "bead" }), theme.label);
      (row.firstElementChild as HTMLElement).style.background = ofTheme(this.sky.shade, colour);
      row.addEventListener("click", () => this.sky.show(this.memory.graph.filterNodes((_id, { theme: own }) => own === colour), 0.25));
      return row;
    });
    const signs = (["dot", "line", "ring", "used", "changed"] as const).map((name) => element("p", { class: `sign ${name}` }, element("i"), words()[name]));
    byId("legend").replaceChildren(...signs, held, ...rows, ...this.firstQuestion());
  }

  /** A question that this memory can be asked, for who sees it for the first time. */
  private firstQuestion(): HTMLElement[] {
    const [strongest] = this.memory.graph.nodes();
    if (strongest === undefined) return [];
    const label = this.memory.themes[0]?.label ?? this.memory.graph.getNodeAttribute(strongest, "label");
    const question = say("firstQuestion", { theme: label.split(/[,、·]/)[0]!.trim() });
    const row = element("button", { class: "button", type: "button" }, say("first", { question }));
    row.addEventListener("click", () => { byId<HTMLInputElement>("question").value = question; void this.ask(); });
    return [row];
  }

  private notice(text: string, kind = "plain", action?: { text: string; do: () => void }): void {
    this.notices += 1;
    const notice = byId("notice");
    notice.hidden = !text;
    notice.replaceChildren(text);
    notice.dataset["kind"] = kind;
    if (action === undefined) return;
    const button = element("button", { class: "button", type: "button" }, action.text);
    button.addEventListener("click", action.do);
    notice.append(" ", button);
  }

  private knock(): void {
    byId("door-text").textContent = words().key;
    byId("door-open").textContent = words().open;
    byId<HTMLDialogElement>("door").showModal();
  }

  /** Keep in the address what is shown, so that it can be sent to somebody. */
  private remember(): void {
    const kept = new URLSearchParams({ graph: this.graph });
    if (this.at !== null) kept.set("at", String(this.at));
    if (this.reply) kept.set("q", byId<HTMLInputElement>("question").value.trim());
    const question = kept.get("q");
    document.title = [question, this.graph, "EMGAS"].filter(Boolean).join(" · ");
    if (location.hash === `#${kept}`) return;
    const isSame = new URLSearchParams(location.hash.slice(1)).get("graph") === this.graph && !question;
    history[isSame ? "replaceState" : "pushState"](null, "", `#${kept}`);
  }

  /** Write every word anew, in the language that is chosen. */
  private write(): void {
    const text = words();
    byId<HTMLInputElement>("question").placeholder = text.question;
    byId("question").ariaLabel = text.question;
    byId("send").textContent = text.ask;
    byId("language").textContent = text.language;
    byId("shade").textContent = this.sky.shade.dark ? text.light : text.dark;
    byId("fit").textContent = text.fit;
    for (const name of ["remember", "talks", "who", "habits", "agents"] as const) byId(name).textContent = text[name];
    byId("now").textContent = text.now;
    byId("play").textContent = this.film ? "❚❚" : "▶";
    byId("graph").ariaLabel = text.canvas;
    byId("slider").ariaLabel = text.slider;
    byId("graphs").ariaLabel = text.graph;
    const titles: [string, Name][] = [["fit", "fitTitle"], ["language", "languageTitle"], ["shade", "shadeTitle"], ["help", "helpTitle"],
      ["remember", "rememberTitle"], ["talks", "talksTitle"], ["who", "whoTitle"], ["habits", "habitsTitle"], ["agents", "agentsTitle"],
      ["png", "png"], ["svg", "svg"], ["now", "nowTitle"], ["close", "close"], ["reach", "reach"], ["size", "size"]];
    for (const [id, name] of titles) {
      byId(id).title = say(name);
      const isNamed = byId(id) instanceof HTMLButtonElement && /\p{L}{2}/u.test(byId(id).textContent);
      byId(id).ariaLabel = isNamed ? null : say(name);
    }
    byId("legend").ariaLabel = text.themes;
    byId("play").title = byId("play").ariaLabel = this.film ? text.stop : text.play;
    choices("reach", [1, 2, 3].map((n) => [n, say("rounds", { n })]), 1);
    choices("size", SIZES.map((n) => [n, say("concepts", { n: number(n) })]), innerWidth > PHONE ? 300 : 100);
    const manual = byId<HTMLDialogElement>("manual");
    const close = element("button", { class: "button", type: "button" }, text.close);
    close.addEventListener("click", () => manual.close());
    manual.replaceChildren(element("h2", {}, text.keys),
      element("dl", { class: "keys" }, ...text.manual.flatMap(([key, deed]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, deed)])), close);
    this.showTime();
  }

  private speak(): void {
    speak(spoken() === "en" ? "zh" : "en");
    store("language", spoken());
    this.write();
    this.legend();
    if (this.sky.focus.chosen) void this.open(this.sky.focus.chosen);
    else if (this.reply) this.panel.showReply(this.reply);
    else if (this.changed) this.panel.showChanges(this.changed);
  }

  private turnShade(): void {
    const name = this.sky.shade.dark ? "light" : "dark";
    this.sky.shade = SHADES[name];
    root.dataset["shade"] = name;
    store("shade", name);
    this.write();
    this.legend();
    this.sky.refresh();
  }

  private save(kind: "png" | "svg"): void {
    const when = say("asOf", { date: date(this.at ?? this.timeline.last) });
    const question = this.reply ? `  “${byId<HTMLInputElement>("question").value.trim()}”` : "";
    const scene = { memory: this.memory, sky: this.sky, wave: this.wave, caption: `EMGAS · ${this.graph} · ${when}${question}` };
    save[kind](scene, `emgas-${this.graph.replace(/[^\p{L}\p{N}_.-]+/gu, "-")}`);
  }

  // clicks and keys

  private listen(): void {
    byId("ask").addEventListener("submit", (event) => { event.preventDefault(); void this.ask(); });
    byId("reach").addEventListener("change", () => void this.ask());
    byId("graphs").addEventListener("change", (event) => void this.choose((event.target as HTMLSelectElement).value));
    byId("size").addEventListener("change", () => void this.choose(this.graph));
    const clicks: [string, () => void][] = [["fit", () => this.sky.fit()], ["png", () => this.save("png")], ["svg", () => this.save("svg")],
      ["language", () => this.speak()], ["shade", () => this.turnShade()], ["close", () => this.back()], ["play", () => void this.play()],
      ["remember", () => this.keeping.showRemember()], ["talks", () => void this.keeping.showTalks()],
      ["who", () => void this.keeping.showPeople()], ["habits", () => void this.keeping.showHabits()],
      ["agents", () => void this.keeping.showAgents()],
      ["now", () => this.now()], ["help", () => byId<HTMLDialogElement>("manual").showModal()]];
    for (const [id, deed] of clicks) byId(id).addEventListener("click", deed);
    byId("door").addEventListener("close", () => {
      api.remember(byId<HTMLInputElement>("key").value.trim());
      void this.start();
    });
    this.sky.sigma.on("clickNode", ({ node, event }) => {
      if (!this.clickedTurn(event.x, event.y)) void this.open(node);
    });
    this.sky.sigma.on("clickStage", ({ event }) => {
      if (this.clickedTurn(event.x, event.y) || !this.sky.focus.chosen) return;
      this.back();
    });
    this.sky.sigma.on("doubleClickNode", ({ node, event }) => { event.preventSigmaDefault(); void this.focus(node); });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("popstate", () => void this.start());
    setInterval(() => void this.live(), LIVE_MS);
  }

  private clickedTurn(x: number, y: number): boolean {
    const turn = this.wave.turnAt(x, y);
    if (!turn) return false;
    this.wave.chosen = turn.passage.id;
    this.wave.draw();
    if (this.reply && this.sky.focus.chosen) { this.sky.focus.chosen = null; this.sky.refresh(); }
    if (this.reply) this.panel.showReply(this.reply);
    const item = document.querySelector<HTMLElement>(`.answer[data-turn="${CSS.escape(turn.passage.id)}"]`);
    item?.classList.add("chosen");
    item?.querySelector("details")?.setAttribute("open", "");
    item?.scrollIntoView({ block: "center", behavior: "smooth" });
    return true;
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") { (document.activeElement as HTMLElement | null)?.blur(); return this.back(); }
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, dialog")) return;
    if (event.key === " " && target.closest("button, summary")) return;
    if (event.key === "Enter" && target.closest("button, summary, a")) return;
    const deeds: Record<string, () => void> = {
      "/": () => byId("question").focus(), "0": () => this.sky.fit(), "+": () => this.sky.zoom(0.7), "=": () => this.sky.zoom(0.7),
      "-": () => this.sky.zoom(1.4), "[": () => this.step(-1), "]": () => this.step(1), " ": () => void this.play(), n: () => this.now(),
      p: () => this.save("png"), s: () => this.save("svg"), l: () => this.speak(), d: () => this.turnShade(),
      "?": () => byId<HTMLDialogElement>("manual").showModal(), f: () => void (this.sky.focus.chosen && this.focus(this.sky.focus.chosen)),
      Enter: () => void (this.sky.focus.chosen && this.open(this.sky.focus.chosen)),
      ArrowLeft: () => this.walk(-1, 0), ArrowRight: () => this.walk(1, 0), ArrowUp: () => this.walk(0, -1), ArrowDown: () => this.walk(0, 1),
    };
    const deed = deeds[event.key] ?? deeds[event.key.toLowerCase()];
    if (!deed) return;
    event.preventDefault();
    deed();
  }

  /** Go from the chosen concept to the nearest one in a direction of the screen; else to the strongest. */
  private walk(dx: number, dy: number): void {
    const { graph } = this.memory;
    const from = this.sky.focus.chosen ?? null;
    if (from === null || !graph.hasNode(from)) return void (graph.order && this.open(graph.nodes()[0]!));
    const here = this.sky.sigma.graphToViewport(this.memory.place(from)!);
    let [best, least] = [null as string | null, Number.POSITIVE_INFINITY];
    graph.forEachNode((id) => {
      if (id === from || (this.sky.focus.near && !this.sky.focus.near.has(id))) return;
      const there = this.sky.sigma.graphToViewport(this.memory.place(id)!);
      const [x, y] = [there.x - here.x, there.y - here.y];
      const along = x * dx + y * dy;
      const aside = Math.abs(x * dy) + Math.abs(y * dx);
      if (along > aside && along + 2 * aside < least) [best, least] = [id, along + 2 * aside];
    });
    if (best !== null) void this.open(best);
  }

  /** Where a concept of this label is on the screen: for the tests, and for whoever looks around in the console. */
  placeOf(label: string): { x: number; y: number } | null {
    const id = this.memory.graph.findNode((_id, concept) => concept.label === label);
    if (id === undefined) return null;
    const [at, box] = [this.sky.sigma.graphToViewport(this.memory.place(id)!), byId("graph").getBoundingClientRect()];
    return { x: at.x + box.x, y: at.y + box.y };
  }
}

function ringsOf(changed: api.Compared): Map<string, Ring> {
  const kinds: [api.Change[], Ring][] = [[changed.weaker.slice(0, 40), "faded"], [changed.stronger, "grew"], [changed.forgotten, "gone"], [changed.born, "born"]];
  return new Map(kinds.flatMap(([list, ring]) => list.map(({ id }) => [id, ring] as const)));
}

function choices(id: string, values: [number, string][], first: number): void {
  const select = byId<HTMLSelectElement>(id);
  const chosen = select.value || String(first);
  select.replaceChildren(...values.map(([value, text]) => element("option", { value: String(value) }, text)));
  select.value = chosen;
}

const explorer = new Explorer();
Object.assign(globalThis, { explorer });
void explorer.start();
