// MemoryClient: tell a memory what was said, ask it what helps. The messages are those of docs/wire.md.

import type { Answer, Command, Outcome, Query, Question, Reply, Turn } from "./messages.ts";
import type { Connection, Receipt } from "./connection.ts";
import { QueryFailedError, TransportError } from "./errors.ts";
import { HttpConnection } from "./http.ts";
import type { KafkaOptions } from "./kafka.ts";

export interface Options extends KafkaOptions {
  /** What the operator of `emgas serve` issued; for http:// only. */
  key?: string;
  /** How long a call may wait. */
  seconds?: number;
  /** On whose behalf calls come, for graphs that grant rights; without it, of who runs the memory, or owns the key. */
  subject?: string;
}

/** What each question is answered with, by their kinds. */
interface Answers {
  query: "reply";
  describe: "description";
  read: "turns";
  picture: "pictured";
  compare: "compared";
  recap: "recapped";
  trend: "trended";
  explore: "explored";
  habits: "recurring";
  recent: "inmind";
  list: "graphs";
  inspect: "inspection";
  checkpoint: "checkpointed";
  extract: "extracted";
  profile: "profiled";
  previewforget: "forgetpreview";
}

export type AnswerTo<Q extends Question> = Extract<Answer, { kind: Answers[Q["kind"]] }>;

export class MemoryClient {
  readonly #connection: Connection;
  readonly #seconds: number;
  readonly #subject: string | undefined;

  constructor(connection: Connection, seconds = 10, subject?: string) {
    this.#connection = connection;
    this.#seconds = seconds;
    this.#subject = subject;
  }

  /** Give a client of the same connection whose calls come from another subject; closing either closes it for both. */
  onBehalfOf(subject: string | undefined): MemoryClient {
    return new MemoryClient(this.#connection, this.#seconds, subject);
  }

  /** Append a turn; resolves once the log has it. What becomes of it is not awaited. */
  async publish(turn: Turn, seconds = this.#seconds): Promise<Receipt> {
    return await this.#connection.append("turns", named(turn), seconds, this.#subject);
  }

  /** Tell a graph something, a turn or a command; gives what became of it: accepted, duplicate or rejected. */
  async tell(command: Command, seconds = this.#seconds): Promise<Outcome> {
    return expect("outcome", await this.#connection.ask("turns", named(command), seconds, this.#subject));
  }

  /** Ask a graph. Rejects with QueryFailedError when its owner answers with a failure. */
  ask<Q extends Question>(question: Q, seconds?: number): Promise<AnswerTo<Q>>;
  async ask(question: Question, seconds = this.#seconds): Promise<Answer> {
    return answered(await this.#connection.ask("queries", named(question), seconds, this.#subject));
  }

  /** Ask what was said: `ask` for a question in words. */
  async query(graph: string, text: string, options: Omit<Query, "kind" | "graph" | "text"> = {}, seconds = this.#seconds): Promise<Reply> {
    return await this.ask({ ...options, kind: "query", graph, text }, seconds);
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Connect to `http://host:port`, or to `kafka://host:port[,host:port]` (which needs @platformatic/kafka). */
export async function connect(url: string, { key, seconds, subject, ...kafka }: Options = {}): Promise<MemoryClient> {
  const [scheme, address = ""] = url.split("://");
  if (scheme === "http" || scheme === "https") return new MemoryClient(new HttpConnection(url, key), seconds, subject);
  if (scheme !== "kafka") throw new TransportError("write the address as http://host:port or kafka://host:port");
  const { KafkaConnection } = await import("./kafka.ts"); // HTTP alone needs no Kafka client
  return new MemoryClient(await KafkaConnection.open(address, kafka), seconds, subject);
}

/** Write the graph in Unicode's normal form C: however "Zoë" is typed, it is one graph, and one key. */
function named<M extends Command | Question>(message: M): M {
  return "graph" in message ? { ...message, graph: message.graph.normalize("NFC") } : message;
}

function answered(answer: Answer): Answer {
  if (answer.kind === "failure") throw new QueryFailedError(answer.code, answer.message);
  return answer;
}

function expect<K extends Answer["kind"]>(kind: K, answer: Answer): Extract<Answer, { kind: K }> {
  if (answered(answer).kind !== kind) throw new TransportError(`the memory answered with ${answer.kind} instead of ${kind}`);
  return answer as Extract<Answer, { kind: K }>;
}
