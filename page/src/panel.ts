// The panel: what came back and why, a concept and where it was said, what changed between two times.
import * as api from "./api.ts";
import { ofTheme } from "./colours.ts";
import { byId, element, marked } from "./html.ts";
import type { Keeping } from "./keeping.ts";
import type { Memory } from "./memory.ts";
import type { Sky } from "./sky.ts";
import { date, number, say, words } from "./words.ts";

const PAGE = 8; // turns shown at once
const GRIP = 28; // px of the sheet's upper edge that can be dragged
const NEAR = 13; // a concept, and what it is linked with most strongly
const SHOWN = 14; // of each kind of change

export interface Deeds {
  openConcept(id: string): void;
  pointAt(turn: string | null): void;
  showConversation(session: string, turn: string): void;
  ask(text: string): void;
  focus(id: string): void;
  copy(text: string): void;
}

type Shown = api.Turn | api.Passage;

/** Whether it is no turn, but what recurs in several. */
export const isHabit = (turn: Shown): boolean => "kind" in turn && turn.kind === "habit";

/** Whether a later turn says that it is no longer so. */
export const isHistory = (turn: Shown): boolean => "superseded_by" in turn && turn.superseded_by !== undefined;

export class Panel {
  private readonly box = byId<HTMLElement>("panel");
  private readonly content = byId<HTMLDivElement>("content");

  keeping: Keeping | null = null; // what can be done with turns

  constructor(private readonly memory: Memory, private readonly sky: Sky, private readonly deeds: Deeds) {
    this.box.addEventListener("pointerdown", (event) => this.drag(event));
  }

  /** On a narrow screen the panel is a sheet: its upper edge follows the finger. */
  private drag(start: PointerEvent): void {
    const { top, bottom } = this.box.getBoundingClientRect();
    if (innerWidth > 900 || start.clientY - top > GRIP || (start.target as HTMLElement).closest("button")) return;
    const follow = (event: PointerEvent) => {
      const height = Math.min(innerHeight - 110, Math.max(90, bottom - event.clientY));
      document.documentElement.style.setProperty("--sheet", `${height}px`);
    };
    addEventListener("pointermove", follow);
    addEventListener("pointerup", () => {
      removeEventListener("pointermove", follow);
      this.sky.sigma.resize();
      this.sky.refresh();
    }, { once: true });
  }

  close(): void {
    this.open(false);
    this.content.replaceChildren();
  }

  /** Open or close; the graph makes room. */
  private open(isOpen: boolean): void {
    if (this.box.hidden !== isOpen) return;
    this.box.hidden = !isOpen;
    document.documentElement.toggleAttribute("data-panel", isOpen);
    this.sky.sigma.resize();
    this.sky.refresh();
  }

  show(kind: string, ...children: (Node | string | null | false)[]): void {
    this.open(true);
    this.box.dataset["kind"] = kind;
    this.content.replaceChildren(...children.filter((child) => child !== null && child !== false));
    this.content.scrollTop = 0;
  }

  // what came back

  showReply(reply: api.Reply): void {
    const took = say("took", { ms: reply.timing.recall_ms.toFixed(1) });
    const woke = say("woke", { n: reply.concepts.length });
    this.show("reply",
      element("h2", {}, words().answers),
      element("p", { class: "dim" }, `${woke} · ${took}`),
      reply.context ? this.button(words().copy, () => this.deeds.copy(reply.context)) : null,
      this.seeds(reply),
      reply.passages.length ? null : element("p", { class: "empty" }, words().noAnswer),
      element("ol", { class: "answers" }, ...reply.passages.map((passage, at) => this.answer(passage, at, reply))),
    );
  }

  private seeds(reply: api.Reply): HTMLElement | null {
    const seeds = reply.seeds.filter(({ id }) => !id.startsWith("@"));
    if (!seeds.length) return null;
    return element("p", { class: "chips" }, ...seeds.map((seed) => this.chip(seed.id, seed.label, "seed")));
  }

  private answer(passage: api.Passage, at: number, reply: api.Reply): HTMLElement {
    const labels = new Map([...reply.seeds, ...reply.concepts].map(({ id, label }) => [id, label]));
    const said = this.said(passage, [...labels.values()].slice(0, 24));
    const details = element("details", { class: "why" }, element("summary", {}, words().why));
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1 && passage.why) details.append(...this.why(passage.why, labels));
    });
    const item = element("li", { class: at === 0 ? "answer first" : "answer" },
      element("span", { class: "rank" }, String(at + 1)), said, passage.why ? details : null);
    item.dataset["turn"] = passage.id;
    item.addEventListener("pointerenter", () => this.deeds.pointAt(passage.id));
    item.addEventListener("pointerleave", () => this.deeds.pointAt(null));
    return item;
  }

  private said(turn: api.Turn | api.Passage, wanted: string[]): HTMLElement {
    const open = element("button", { class: "link", type: "button", title: words().conversation }, turn.session);
    open.addEventListener("click", () => this.deeds.showConversation(turn.session, turn.id));
    const box: HTMLElement = element("div", { class: "said" });
    box.append(...[
      element("p", { class: "who" }, element("b", {}, turn.speaker), ` · ${date(turn.at)} · `, open,
        turn.pinned ? element("span", { class: "flag pin" }, `★ ${words().pinned}`) : null,
        isHabit(turn) ? element("span", { class: "flag" }, `↻ ${words().habit}`) : null,
        isHistory(turn) ? element("span", { class: "flag" }, words().superseded) : null,
        turn.archived ? element("span", { class: "flag" }, words().archived) : null,
        ...(isHabit(turn) ? [] : this.keeping?.actions(turn, () => box.closest<HTMLElement>(".answer") ?? box) ?? [])),
      element("p", { class: "text" }, ...marked(turn.text, wanted)),
      isHabit(turn) ? null : this.keeping?.understood(turn) ?? null,
    ].filter((part) => part !== null));
    return box;
  }

  private why(why: api.Why, labels: Map<string, string>): Node[] {
    const terms = Object.entries(why.terms).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 8);
    const most = Math.max(...terms.map(([, value]) => Math.abs(value)), 1e-9);
    const bars = element("dl", { class: "terms" }, ...terms.flatMap(([name, value]) => {
      const bar = element("meter", { min: 0, max: most, value: Math.abs(value) });
      bar.className = value < 0 ? "minus" : "plus";
      return [element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, bar, ` ${value.toFixed(2)}`)];
    }));
    const label = (id: string) => labels.get(id) ?? this.label(id);
    const hops = why.associations.map((hop) => element("li", {},
      this.chip(hop.source, label(hop.source)), " → ", this.chip(hop.target, label(hop.target)),
      element("span", { class: "dim" }, ` ${say("together", { n: hop.times })}`)));
    const kinds = why.kinds.map(({ asked, member }) => element("li", {}, `${asked} → `, this.chip(member, label(member))));
    return [bars, ...(hops.length || kinds.length
      ? [element("h4", {}, words().path), element("ul", { class: "hops" }, ...hops, ...kinds)] : [])];
  }

  // a concept

  async showConcept(id: string, graph: string, at: number | null): Promise<void> {
    const concept = this.memory.graph.getNodeAttributes(id);
    const theme = this.memory.themes.find((one) => this.memory.colour(one) === concept.theme);
    const bar = element("meter", { min: 0, max: 6, value: Math.min(6, concept.strength) });
    const heading = element("h2", {}, element("span", { class: "bead" }), concept.label);
    (heading.firstElementChild as HTMLElement).style.background = ofTheme(this.sky.shade, concept.theme);
    const flags = [concept.pinned && `★ ${words().pinned}`, concept.longTerm && words().longTerm, concept.archived && words().archived].filter((flag) => flag !== false);
    const evidence = element("div", { class: "evidence" });
    const neighbours = element("ul", { class: "neighbours" });
    const when = at === null ? {} : { as_of: api.moment(at) };
    this.show("concept", heading,
      element("p", { class: "dim" }, theme ? theme.label : words().noTheme),
      flags.length ? element("p", { class: "chips" }, ...flags.map((flag) => element("span", { class: "flag" }, flag))) : null,
      element("p", {}, `${words().strength} `, bar, ` ${concept.strength.toFixed(2)}`),
      element("p", { class: "dim" }, [say("mentions", { n: concept.mentions }), say("since", { date: date(concept.born) }),
        say("last", { date: date(concept.touched) })].join(" · ")),
      element("p", { class: "row" },
        this.button(words().askAbout, () => this.deeds.ask(concept.label)),
        this.button(this.sky.focus.near ? words().whole : words().focus, () => this.deeds.focus(id))),
      element("h3", {}, words().neighbours), neighbours,
      element("h3", {}, words().evidence), evidence);
    await this.addTurns(evidence, graph, { concept: id, newest: true, limit: PAGE, ...when }, [concept.label]);
    const near = await api.picture(graph, { around: [id], hops: 1, nodes: NEAR, links: 400, ...when });
    neighbours.append(...this.neighbours(near));
  }

  /** List what is linked with the first concept of a picture, the strongest link first. */
  private neighbours({ concepts, links }: api.Pictured): HTMLElement[] {
    const own = links.sources.map((source, n) => ({ one: source, other: links.targets[n]!, weight: links.weights[n]!, times: links.times[n]! }))
      .filter(({ one, other }) => one === 0 || other === 0).map((link) => ({ ...link, to: link.one === 0 ? link.other : link.one }))
      .sort((a, b) => b.weight - a.weight);
    const most = own[0]?.weight ?? 1;
    return own.map(({ to, weight, times }) => element("li", {},
      this.chip(concepts.ids[to]!, concepts.labels[to]!), element("meter", { min: 0, max: most, value: weight }),
      element("span", { class: "dim" }, say("together", { n: times }))));
  }

  private async addTurns(into: HTMLElement, graph: string, wanted: Parameters<typeof api.turns>[1], mark: string[]): Promise<void> {
    const page = await api.turns(graph, wanted);
    into.append(...page.turns.map((turn) => {
      const said = this.said(turn, mark);
      said.dataset["turn"] = turn.id;
      return said;
    }));
    if (page.next === null) return;
    const more = this.button(words().more, () => {
      more.remove();
      void this.addTurns(into, graph, { ...wanted, cursor: page.next }, mark);
    });
    into.append(more);
  }

  async showConversation(session: string, turn: string | null, graph: string, at: number | null): Promise<void> {
    const talk = element("div", { class: "evidence talk" });
    this.show("talk", element("h2", {}, words().conversation), element("p", { class: "dim" }, session), talk);
    await this.addTurns(talk, graph, { session, limit: 100, as_of: at === null ? null : api.moment(at) }, []);
    if (turn === null) return;
    const chosen = talk.querySelector(`[data-turn="${CSS.escape(turn)}"]`);
    chosen?.classList.add("chosen");
    chosen?.scrollIntoView({ block: "center" });
  }

  // what changed

  showChanges(changed: api.Compared): void {
    const kinds = ["born", "stronger", "weaker", "forgotten", "long_term"] as const;
    const parts = kinds.filter((kind) => changed[kind].length).map((kind) => element("section", { class: `change ${kind}` },
      element("h3", {}, `${words()[kind]} `, element("span", { class: "count" }, number(changed.totals[kind] ?? changed[kind].length))),
      element("p", { class: "chips" }, ...changed[kind].slice(0, SHOWN).map((one) => this.chip(one.id, one.label, kind)))));
    const themes = { born: words().themeBorn, changed: words().themeChanged, merged: words().themeMerged, split: words().themeSplit, died: words().themeDied };
    const told = changed.themes.map((theme) => element("li", {},
      element("span", { class: "flag" }, themes[theme.change as keyof typeof themes] ?? theme.change), ` ${theme.label}`));
    const counts = [[changed.totals["added"] ?? 0, "turnsAdded"], [changed.totals["archived"] ?? 0, "turnsArchived"]] as const;
    this.show("changes",
      element("h2", {}, words().changes),
      element("p", { class: "dim" }, `${date(changed.since)} → ${date(changed.until)}`),
      element("p", {}, counts.filter(([n]) => n > 0).map(([n, name]) => say(name, { n })).join(" · ")),
      ...(parts.length || told.length ? parts : [element("p", { class: "empty" }, words().none)]),
      told.length ? element("section", {}, element("h3", {}, words().themes), element("ul", { class: "plain" }, ...told)) : null);
  }

  // parts

  private chip(id: string, label: string, kind = ""): HTMLElement {
    const chip = element("button", { class: `chip ${kind}`, type: "button" }, label);
    if (this.memory.graph.hasNode(id)) chip.style.borderColor = ofTheme(this.sky.shade, this.memory.graph.getNodeAttribute(id, "theme"));
    chip.addEventListener("click", () => this.deeds.openConcept(id));
    return chip;
  }

  private label(id: string): string {
    return this.memory.graph.hasNode(id) ? this.memory.graph.getNodeAttribute(id, "label") : id;
  }

  private button(text: string, deed: () => void): HTMLButtonElement {
    const button = element("button", { class: "button", type: "button" }, text);
    button.addEventListener("click", deed);
    return button;
  }
}
