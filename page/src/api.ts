// What the page asks of the gateway: the wire's messages (docs/wire.md), over HTTP.  Nothing else is asked of anybody.

export interface Columns {
  ids: string[]; labels: string[]; strengths: number[]; mentions: number[]; themes: number[]; hops: number[];
  born: number[]; touched: number[]; long_term: boolean[]; archived: boolean[]; pinned: boolean[];
}

export interface Theme { id: string; label: string; born: number }

export interface Pictured {
  graph: string; clock: number; total: number;
  concepts: Columns;
  links: { sources: number[]; targets: number[]; weights: number[]; times: number[] };
  themes: Theme[];
  activity: { first: number; last: number; turns: number[] };
}

export interface Activated { id: string; label: string; energy: number; path: string[] }

export interface Mention { concept: string; weight: number; turn: string; distance: number; times: number }

export interface Hop { source: string; target: string; times: number; weight: number }

export interface Why { terms: Record<string, number>; mentions: Mention[]; associations: Hop[]; kinds: { asked: string; member: string }[] }

export interface Passage {
  id: string; session: string; speaker: string; text: string; at: number; score: number; archived?: boolean; pinned?: boolean; why?: Why;
  kind?: "turn" | "habit"; members?: string[]; superseded_by?: string; // what recurs; and the turn that says how it is since
}

export interface Reply {
  found: boolean; seeds: Activated[]; concepts: Activated[]; passages: Passage[]; context: string; tokens: number;
  timing: { waited_ms: number; recall_ms: number };
}

export interface Turn { id: string; session: string; speaker: string; text: string; at: number; archived: boolean; pinned?: boolean }

export interface Turns { total: number; turns: Turn[]; next: number | null }

export interface Change { id: string; label: string; before: number; after: number }

export interface ThemeChange { id: string; label: string; change: string; other: string | null; joined: string[]; left: string[] }

export interface Compared {
  since: number; until: number; turns: [number, number]; totals: Record<string, number>;
  born: Change[]; stronger: Change[]; weaker: Change[]; forgotten: Change[]; long_term: Change[];
  themes: ThemeChange[]; added: string[]; archived: string[];
}

export interface SessionRecap {
  session: string; since: number; until: number; turns: number; speakers: string[]; concepts: string[]; summary: { text: string }[];
}

export interface Habit { id: string; speaker: string; text: string; turns: number; period: number; last: number; members: string[] }

export interface Person {
  name: string; also: string[]; current: Record<string, { value: string; role?: string }[]>; history: Record<string, { value: string }[]>;
}

/** What an agent got at a prompt: turns by graph and id, and about how many tokens. */
export interface Injection { at: number; host: string; session: string; prompt: string | null; graphs: string[]; turns: [string, string][]; tokens: number }

export interface Understood {
  turns: { concepts: { label: string }[]; times: { text: string; since?: string | number }[];
    relations: { subject: string; relation: string; object: string }[] }[];
}

/** How far an import is: the counts of emgas/gateway's server-sent events. */
export interface Imported { published: number; accepted: number; duplicates: number; rejected: number }

/** What the gateway refused: RFC 9457. */
export class Problem extends Error {
  constructor(readonly status: number, detail: string) {
    super(detail);
    this.name = "Problem";
  }
}

type Parameters = Record<string, string | number | boolean | string[] | null | undefined>;

const KEY = "emgas.key";

export function remember(key: string): void {
  sessionStorage.setItem(KEY, key);
}

/** Nothing answered, or only half an answer came: the server does not run, or is out of reach. */
export class Unreachable extends Error {}

/** Throw Unreachable for a lost connection and for an answer that ends halfway; throw any other error again. */
function lost(error: unknown): never {
  throw error instanceof TypeError || error instanceof SyntaxError ? new Unreachable() : error;
}

async function asked<T>(path: string, parameters: Parameters = {}, body?: object, signal?: AbortSignal, method = "POST"): Promise<T> {
  const headers: Record<string, string> = body ? { "Content-Type": "application/json" } : {};
  const sent = body ? { method, body: JSON.stringify(body), headers } : { headers };
  const response = await fetched(path, parameters, { ...sent, signal: signal ?? null });
  return (await response.json().catch(lost)) as T;
}

/** Ask the gateway.  Throws Problem for a refusal, Unreachable without an answer. */
async function fetched(path: string, parameters: Parameters, options: RequestInit & { headers: Record<string, string> }): Promise<Response> {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  const key = sessionStorage.getItem(KEY);
  const headers = key ? { ...options.headers, Authorization: `Bearer ${key}` } : options.headers;
  const response = await fetch(url, { ...options, headers }).catch(lost);
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Problem(response.status, problem.detail ?? response.statusText);
  }
  return response;
}

const of = (graph: string) => `graphs/${encodeURIComponent(graph)}`;

export async function graphs(): Promise<string[]> {
  return (await asked<{ graphs: string[] }>("graphs")).graphs;
}

export const picture = (graph: string, wanted: Parameters, signal?: AbortSignal) =>
  asked<Pictured>(`${of(graph)}/picture`, wanted, undefined, signal);

export const turns = (graph: string, wanted: Parameters) => asked<Turns>(`${of(graph)}/turns`, wanted);

export const changes = (graph: string, since: number, until: number, signal?: AbortSignal) =>
  asked<Compared>(`${of(graph)}/changes`, { since: moment(since), until: moment(until), limit: 200 }, undefined, signal);

export const query = (graph: string, text: string, rounds: number, at: number | null) =>
  asked<Reply>(`${of(graph)}/query`, {}, {
    text, explain: true, top_concepts: 80, top_passages: 12,
    ...(rounds > 1 ? { spreading: { max_iterations: rounds } } : {}),
    ...(at === null ? {} : { as_of: at }),
  });

export const describe = (graph: string) => asked<{ turns: number; clock: number; preset: string }>(of(graph));

export const sessions = (graph: string) => asked<{ sessions: SessionRecap[] }>(`${of(graph)}/sessions`, { limit: 20, words: 30 });

export const habits = (graph: string) => asked<{ habits: Habit[] }>(`${of(graph)}/habits`, { limit: 20 });

export const injections = () => asked<{ injections: Injection[] }>("hooks", { limit: 200 });

export const people = (graph: string) => asked<{ people: Person[] }>(`${of(graph)}/people`, { limit: 20 });

export const record = (graph: string, speaker: string, text: string) =>
  asked(`${of(graph)}/turns`, {}, { id: crypto.randomUUID?.() ?? String(Math.random()).slice(2), speaker, text });

export const pin = (graph: string, turn: string, isPinned: boolean) => asked(`${of(graph)}/${isPinned ? "pin" : "unpin"}`, {}, { turns: [turn] });

export const forget = (graph: string, turn: string) => asked(`${of(graph)}/forget`, {}, { turns: [turn] });

export const configure = (graph: string, preset: string) => asked(`${of(graph)}/settings`, {}, { preset }, undefined, "PUT");

export const extract = (turn: { speaker: string; text: string; at: number }) => asked<Understood>("extract", {}, { turns: [turn] });

/** Import a file, and tell how far it is.  Throws Problem, Unreachable. */
export async function importFile(graph: string, file: File, progress: (counts: Imported) => void): Promise<Imported> {
  const headers = { "Content-Type": "application/octet-stream" };
  const response = await fetched(`${of(graph)}/import`, { name: file.name }, { method: "POST", body: file, headers });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const read = () => reader.read().catch(lost);
  let [rest, isDone, counts] = ["", false, { published: 0, accepted: 0, duplicates: 0, rejected: 0 }];
  for (let piece = await read(); !piece.done; piece = await read()) {
    const events = (rest + piece.value).split("\n\n");
    rest = events.pop()!;
    for (const event of events) {
      const [kind, data] = [/^event: (.*)$/m.exec(event)?.[1], /^data: (.*)$/m.exec(event)?.[1]];
      if (kind === "failed") throw new Problem(JSON.parse(data!).status, JSON.parse(data!).detail);
      if (kind === "progress" || kind === "done") progress((counts = JSON.parse(data!)));
      isDone ||= kind === "done";
    }
  }
  if (!isDone) throw new Unreachable(); // a proxy may end a stream properly whose server stopped
  return counts;
}

/** A time in ms as a URL has it: ISO 8601, since few digits would be read as a date. */
export const moment = (at: number) => new Date(at).toISOString();
