// What people do with a memory beside asking it: add to it, import files, look through it, pin and forget turns.
import * as api from "./api.ts";
import { byId, element } from "./html.ts";
import { date, say, words } from "./words.ts";

const PRESETS = ["default", "forgetful", "elephant"];
const AGENT_PROMPTS = 20; // shown, the latest first
const UNDO_MS = 8000; // that a turn can be kept after all: only then is the memory told to forget it

export interface Place {
  graph(): string;
  show(kind: string, ...children: (Node | string | null)[]): void;
  openConversation(session: string): void;
  changed(graph: string): Promise<void>;
  notice(text: string, kind?: string, action?: { text: string; do: () => void }): void;
  told<T>(work: Promise<T>): Promise<T | null>;
}

export class Keeping {
  private pending: { graph: string; turn: string; timer: number } | null = null;

  constructor(private readonly place: Place) {
    addEventListener("pagehide", () => void this.forgetNow());
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.import(this.place.graph() || "me", file);
    });
  }

  // add

  showRemember(): void {
    const graph = element("input", { class: "field wide", maxLength: 128, value: this.place.graph() || "me" });
    const text = element("textarea", { id: "memory-text", class: "field wide", rows: 4, maxLength: 30000, required: true, placeholder: words().whatToRemember });
    text.ariaLabel = words().whatToRemember;
    const speaker = element("input", { id: "memory-speaker", class: "field wide", maxLength: 256, value: "me", required: true });
    const named = (text: string, field: HTMLElement) => element("label", { class: "dim" }, text, field);
    const form = element("form", { class: "form" }, this.place.graph() ? null : named(words().newGraph, graph), text, named(words().speaker, speaker),
      element("button", { class: "button strong", type: "submit" }, words().save));
    form.addEventListener("submit", (event) => { event.preventDefault(); void this.record(graph.value.trim(), speaker.value.trim(), text); });
    const file = element("input", { id: "memory-file", class: "field wide", type: "file" });
    file.ariaLabel = words().importFile;
    file.addEventListener("change", () => { if (file.files?.[0]) void this.import(graph.value.trim(), file.files[0]); });
    this.place.show("remember", element("h2", {}, words().remember), form, element("p", { class: "dim" }, words().importFile), file,
      this.place.graph() ? this.presets() : null);
    text.focus();
  }

  private presets(): HTMLElement {
    const select = element("select", { class: "field wide" }, element("option", { value: "" }, "…"), ...PRESETS.map((name) => element("option", { value: name }, name)));
    select.ariaLabel = words().preset;
    void this.place.told(api.describe(this.place.graph())).then((memory) => { if (memory && PRESETS.includes(memory.preset)) select.value = memory.preset; });
    select.addEventListener("change", () => void this.preset(select.value));
    return element("section", {}, element("h3", {}, words().preset), select);
  }

  private async preset(preset: string): Promise<void> {
    if (preset && await this.place.told(api.configure(this.place.graph(), preset)) !== null) this.place.notice(say("presetSet", { preset }));
  }

  private async record(graph: string, speaker: string, text: HTMLTextAreaElement): Promise<void> {
    if (await this.place.told(api.record(graph, speaker, text.value.trim())) === null) return;
    text.value = "";
    await this.place.changed(graph);
    this.place.notice(words().remembered);
  }

  async import(graph: string, file: File): Promise<void> {
    const done = await this.place.told(api.importFile(graph, file, ({ published }) => this.place.notice(say("importing", { name: file.name, n: published }))));
    if (done === null) return;
    await this.place.changed(graph);
    this.place.notice(say("imported", { name: file.name, ...done }));
  }

  // look

  async showTalks(): Promise<void> {
    const answer = await this.place.told(api.sessions(this.place.graph()));
    if (answer === null) return;
    const rows = answer.sessions.map((one) => {
      const open = element("button", { class: "link", type: "button" }, one.session);
      open.addEventListener("click", () => this.place.openConversation(one.session));
      return element("div", { class: "said" }, element("p", { class: "who" }, open, ` · ${date(one.until)} · ${say("turnCount", { n: one.turns })} · ${one.speakers.join(", ")}`),
        element("p", { class: "chips" }, ...one.concepts.map((label) => element("span", { class: "flag" }, label))),
        element("p", { class: "text" }, one.summary.map(({ text }) => text).join(" … ")));
    });
    this.list("talks", words().talks, rows, words().noTalks);
  }

  async showPeople(): Promise<void> {
    const answer = await this.place.told(api.people(this.place.graph()));
    if (answer === null) return;
    const rows = answer.people.map(({ name, also, current, history }) => element("div", { class: "said" },
      element("p", {}, element("b", {}, [name, ...also].join(", "))),
      element("dl", { class: "facts" }, ...Object.entries(current).flatMap(([slot, values]) => [
        element("dt", {}, slot.replaceAll("_", " ")),
        element("dd", {}, values.map(({ value, role }) => (role ? `${value} (${role})` : value)).join(", "),
          history[slot]?.length ? element("span", { class: "dim" }, ` · ${say("formerly", { values: history[slot].map(({ value }) => value).join(", ") })}`) : null)]))));
    this.list("who", words().who, rows, words().noPeople);
  }

  async showHabits(): Promise<void> {
    const answer = await this.place.told(api.habits(this.place.graph()));
    if (answer === null) return;
    const rows = answer.habits.map((one) => element("div", { class: "said" },
      element("p", { class: "who" }, element("b", {}, one.speaker), ` · ${say("every", { n: Math.round(one.period) })} · ${say("turnCount", { n: one.turns })}`),
      element("p", { class: "text" }, one.text)));
    this.list("habits", words().habits, rows, words().noHabits);
  }

  /** What coding agents got of this memory, each with the prompt that it was added to. */
  async showAgents(): Promise<void> {
    const [graph, answer] = [this.place.graph(), await this.place.told(api.injections())];
    if (answer === null) return;
    const own = answer.injections.filter(({ graphs }) => graphs.includes(graph)).slice(0, AGENT_PROMPTS);
    const quoted = (one: api.Injection) => one.turns.filter(([where]) => where === graph).map(([, id]) => id);
    const ids = [...new Set(own.flatMap((one) => [...quoted(one), ...(one.prompt ? [one.prompt] : [])]))].slice(0, 100);
    const page = ids.length ? await this.place.told(api.turns(graph, { id: ids, limit: 100 })) : null;
    const texts = new Map((page?.turns ?? []).map(({ id, text }) => [id, text]));
    const rows = own.map((one) => element("div", { class: "said" },
      element("p", { class: "who" }, element("b", {}, one.host), ` · ${date(one.at)} · ${one.session} · ${say("tokens", { n: one.tokens })}`),
      element("p", { class: "text" }, texts.get(one.prompt ?? "") ?? words().notKept),
      element("ul", { class: "plain" }, ...quoted(one).map((id) => element("li", {}, `→ ${texts.get(id) ?? words().forgotten}`)))));
    this.list("agents", words().agentsTitle, rows, words().noAgents);
  }

  private list(kind: string, heading: string, rows: HTMLElement[], none: string): void {
    this.place.show(kind, element("h2", {}, heading), rows.length ? element("div", { class: "evidence" }, ...rows) : element("p", { class: "empty" }, none));
  }

  // turns

  /** What can be done with a turn: pin it, forget it, see what was understood of it. */
  actions(turn: api.Turn | api.Passage, row: () => HTMLElement | null): HTMLElement[] {
    const star = element("button", { class: "act", type: "button" });
    const name = (pinned: boolean) => { star.textContent = pinned ? "★" : "☆"; star.title = star.ariaLabel = pinned ? words().unpin : words().pinIt; };
    name(turn.pinned ?? false);
    star.addEventListener("click", async () => {
      if (await this.place.told(api.pin(this.place.graph(), turn.id, !turn.pinned)) !== null) name((turn.pinned = !turn.pinned));
    });
    const bin = element("button", { class: "act", type: "button", title: words().forget }, "×");
    bin.ariaLabel = words().forget;
    bin.addEventListener("click", () => this.forget(turn, row()));
    return [star, bin];
  }

  /** What the memory understands of a turn's text, once it is opened. */
  understood(turn: api.Turn | api.Passage): HTMLElement {
    const details = element("details", { class: "why" }, element("summary", {}, words().understood));
    details.addEventListener("toggle", async () => {
      if (!details.open || details.childElementCount > 1) return;
      const answer = await this.place.told(api.extract({ speaker: turn.speaker, text: turn.text, at: turn.at }));
      const [one] = answer?.turns ?? [];
      if (one === undefined) return;
      const facts = [...one.relations.map(({ subject, relation, object }) => `${subject} · ${relation.replaceAll("-", " ")} · ${object}`),
        ...one.times.map(({ text, since }) => (since === undefined ? text : `${text}: ${since}`))];
      details.append(element("p", { class: "chips" }, ...one.concepts.map(({ label }) => element("span", { class: "flag" }, label))),
        element("ul", { class: "plain" }, ...facts.map((fact) => element("li", {}, fact))),
        one.concepts.length || facts.length ? "" : words().understoodNothing);
    });
    return details;
  }

  private forget(turn: api.Turn | api.Passage, row: HTMLElement | null): void {
    void this.forgetNow();
    if (row) row.hidden = true;
    const undo = () => {
      if (this.pending) clearTimeout(this.pending.timer);
      this.pending = null;
      if (row) row.hidden = false;
      this.place.notice("");
    };
    this.pending = { graph: this.place.graph(), turn: turn.id, timer: setTimeout(() => void this.forgetNow(), UNDO_MS) };
    this.place.notice(say("forgetting", { text: turn.text.slice(0, 80) }), "plain", { text: words().undo, do: undo });
  }

  /** Send what is still to be forgotten. */
  async forgetNow(): Promise<void> {
    if (!this.pending) return;
    const { graph, turn, timer } = this.pending;
    clearTimeout(timer);
    this.pending = null;
    byId("notice").hidden = true;
    if (await this.place.told(api.forget(graph, turn)) !== null) await this.place.changed(graph);
  }
}
