// Messages over HTTP, to `emgas serve`: each is one request, whose response goes on with the answer.

import type { Answer, Command, Question } from "./messages.ts";
import { type Connection, keyOf, type Receipt, type Topic } from "./connection.ts";
import { EmgasError, InvalidMessageError, NoAnswerError, TransportError } from "./errors.ts";

const INVALID = new Set([400, 413, 415, 422]);
const LONGEST_SECONDS = 600; // that the server waits for an answer
const GRACE_SECONDS = 5; // that the network may take longer than the memory

export class HttpConnection implements Connection {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, key?: string) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  }

  async append(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Receipt> {
    const { headers } = await this.#send(topic, message, seconds, false, subject);
    const [partition, offset, timestamp] = ["Partition", "Offset", "Timestamp"].map((name) => Number(headers.get(`Emgas-${name}`)));
    return { partition: partition!, offset: offset!, timestamp: timestamp! };
  }

  async ask(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Answer> {
    const { body } = await this.#send(topic, message, seconds, true, subject);
    if (body === "") throw new NoAnswerError(`no answer within ${seconds} s`);
    return JSON.parse(body) as Answer;
  }

  async close(): Promise<void> {} // the runtime keeps the connections

  async #send(topic: Topic, message: Command | Question, seconds: number, answer: boolean, subject?: string): Promise<{ headers: Headers; body: string }> {
    const query = new URLSearchParams({ key: keyOf(message), seconds: String(Math.min(seconds, LONGEST_SECONDS)), answer: String(answer) });
    try {
      const response = await fetch(`${this.#url}/v1/records/${topic}?${query}`, {
        method: "POST",
        headers: subject === undefined ? this.#headers : { ...this.#headers, "Emgas-Subject": encodeURIComponent(subject) }, // a header has no other letters
        body: JSON.stringify(message),
        signal: AbortSignal.timeout((seconds + GRACE_SECONDS) * 1000),
      });
      const body = await response.text();
      if (response.ok) return { headers: response.headers, body };
      throw refusal(response.status, body);
    } catch (error) {
      if (error instanceof EmgasError) throw error;
      if (error instanceof DOMException && error.name === "TimeoutError") throw new NoAnswerError(`no answer within ${seconds} s`);
      throw new TransportError(`${this.#url} cannot be reached: is \`emgas serve\` running?`, { cause: error });
    }
  }
}

function refusal(status: number, body: string): EmgasError {
  let detail = `HTTP status ${status}`;
  try {
    detail = String((JSON.parse(body) as { detail: unknown }).detail);
  } catch {
    // not a problem document: the status says what there is to say
  }
  if (INVALID.has(status)) return new InvalidMessageError(detail);
  return status === 504 ? new NoAnswerError(detail) : new TransportError(detail);
}
