// The seam between the client and what carries its messages: HTTP (http.ts) or Kafka (kafka.ts).

import type { Answer, Command, Question } from "./messages.ts";

/** Where a message came to lie; `timestamp` in ms since 1970. */
export interface Receipt {
  partition: number;
  offset: number;
  timestamp: number;
}

export type Topic = "turns" | "queries";

export interface Connection {
  /** Append a message; resolves once the log has it. */
  append(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Receipt>;

  /** Append a message and await its answer. Rejects with NoAnswerError after so many seconds. */
  ask(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Answer>;

  close(): Promise<void>;
}

/** The graph that a message is about: its record's key. */
export function keyOf(message: Command | Question): string {
  if ("graph" in message) return message.graph;
  throw new TypeError(`${message.kind} is for operators, and goes to a partition: use \`emgas\` for it`);
}
