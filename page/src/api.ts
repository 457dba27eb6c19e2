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

async function asked<T>(path: string, parameters: Parameters = {}, body?: object, signal?: AbortSignal): Promise<T> {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined) url.searchParams.append(name, String(one));
    }
  }
  const headers: Record<string, string> = body ? { "Content-Type": "application/json" } : {};
  const key = sessionStorage.getItem(KEY);
  if (key) headers["Authorization"] = `Bearer ${key}`;
  const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const response = await fetch(url, { ...sent, headers, signal: signal ?? null });
  const told = await response.json();
  if (!response.ok) throw new Problem(response.status, told.detail ?? response.statusText);
  return told as T;
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

/** A time in ms as a URL has it: ISO 8601, since few digits would be read as a date. */
export const moment = (at: number) => new Date(at).toISOString();
