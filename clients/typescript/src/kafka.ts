// Messages over Kafka: records to the topics `turns` and `queries`, and one partition of `replies`, read from its end
// without a consumer group, where answers are told apart by correlation id (docs/wire.md).

import { randomInt, randomUUID } from "node:crypto";
import { type ClusterMetadata, Consumer, type ConsumerOptions, ListOffsetTimestamps, ProduceAcks, Producer } from "@platformatic/kafka";
import type { Answer, Command, Question } from "./messages.ts";
import { type Connection, keyOf, type Receipt, type Topic } from "./connection.ts";
import { EmgasError, NoAnswerError, TransportError } from "./errors.ts";
import { partitionOf } from "./partitions.ts";

/** TLS and SASL as @platformatic/kafka has them; `prefix` of the topics. */
export interface KafkaOptions extends Pick<ConsumerOptions<Buffer, Buffer, Buffer, Buffer>, "tls" | "sasl"> {
  prefix?: string;
}

const FETCH_BYTES = 8 * 1024 * 1024;
const FETCH_MS = 5000; // that a fetch waits for an answer to come
const RETRY_MS = 200;

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

export class KafkaConnection implements Connection {
  readonly #brokers: string;
  readonly #prefix: string;
  readonly #producer: Producer;
  readonly #reader: Consumer;
  readonly #waiting = new Map<string, Waiting>();
  #cluster!: ClusterMetadata;
  #replyPartition = 0;
  #offset = 0n;
  #open = true;
  #reading: Promise<void> = Promise.resolve();

  private constructor(brokers: string, { prefix = "emgas", ...security }: KafkaOptions) {
    this.#brokers = brokers;
    this.#prefix = prefix;
    const common = { clientId: "emgas", bootstrapBrokers: brokers.split(","), ...security };
    this.#producer = new Producer(common);
    this.#reader = new Consumer({ ...common, groupId: "unused" }); // it never joins a group
  }

  /** Connect, and begin to read answers. `brokers`: host:port[,host:port]. */
  static async open(brokers: string, options: KafkaOptions = {}): Promise<KafkaConnection> {
    const connection = new KafkaConnection(brokers, options);
    try {
      await connection.#begin();
    } catch (error) {
      await connection.close();
      throw connection.#translated(error);
    }
    return connection;
  }

  async append(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Receipt> {
    return await this.#within(seconds, this.#send(topic, message, onBehalf(subject)));
  }

  async ask(topic: Topic, message: Command | Question, seconds: number, subject?: string): Promise<Answer> {
    const correlation = randomUUID();
    const answer = new Promise<Answer>((resolve, reject) => this.#waiting.set(correlation, { resolve, reject }));
    answer.catch(() => {}); // it may fail before anybody awaits it
    const headers = {
      "correlation-id": correlation,
      "reply-to": `${this.#prefix}.replies`,
      "reply-partition": String(this.#replyPartition),
      deadline: String(Date.now() + Math.round(seconds * 1000)),
      ...onBehalf(subject),
    };
    try {
      return await this.#within(seconds, this.#send(topic, message, headers).then(() => answer));
    } finally {
      this.#waiting.delete(correlation);
    }
  }

  async close(): Promise<void> {
    this.#open = false;
    for (const { reject } of this.#waiting.values()) reject(new TransportError("the client was closed while this call waited"));
    await this.#producer.close();
    await this.#reader.close(true);
    await this.#reading;
  }

  async #begin(): Promise<void> {
    const topics = ["turns", "queries", "replies"].map((name) => `${this.#prefix}.${name}`);
    this.#cluster = await this.#reader.metadata({ topics });
    const replies = `${this.#prefix}.replies`;
    this.#replyPartition = randomInt(this.#partitions(replies));
    const ends = await this.#reader.listOffsets({ topics: [replies], partitions: { [replies]: [this.#replyPartition] }, timestamp: ListOffsetTimestamps.LATEST });
    this.#offset = ends.get(replies)!.find((end) => end !== undefined && end >= 0n)!;
    this.#reading = this.#read();
  }

  #partitions(topic: string): number {
    const found = this.#cluster.topics.get(topic);
    if (found === undefined) throw new TransportError(`Kafka at ${this.#brokers} has no topic ${topic}: run \`emgas admin topics create\``);
    return found.partitionsCount;
  }

  async #send(name: Topic, message: Command | Question, headers: Record<string, string>): Promise<Receipt> {
    const topic = `${this.#prefix}.${name}`;
    const graph = keyOf(message);
    const partition = partitionOf(graph, this.#partitions(topic));
    const timestamp = Date.now();
    const raw = new Map(Object.entries({ ...headers, "content-type": "application/json" }).map(([key, value]) => [Buffer.from(key), Buffer.from(value)]));
    const record = { topic, partition, key: Buffer.from(graph), value: Buffer.from(JSON.stringify(message)), headers: raw, timestamp: BigInt(timestamp) };
    try {
      const { offsets } = await this.#producer.send({ messages: [record], acks: ProduceAcks.ALL });
      return { partition, offset: Number(offsets![0]!.offset), timestamp };
    } catch (error) {
      throw this.#translated(error);
    }
  }

  async #read(): Promise<void> {
    while (this.#open) {
      try {
        await this.#fetch();
      } catch {
        // Brokers move, and come back: what waits meanwhile has its own deadline.
        if (this.#open) await new Promise((again) => setTimeout(again, RETRY_MS));
      }
    }
  }

  async #fetch(): Promise<void> {
    const replies = `${this.#prefix}.replies`;
    const cluster = await this.#reader.metadata({ topics: [replies] });
    const topic = cluster.topics.get(replies)!;
    const fetched = await this.#reader.fetch({
      node: topic.partitions[this.#replyPartition]!.leader,
      maxWaitTime: FETCH_MS,
      minBytes: 1,
      maxBytes: FETCH_BYTES,
      topics: [
        {
          topicId: topic.id,
          partitions: [{ partition: this.#replyPartition, fetchOffset: this.#offset, currentLeaderEpoch: -1, lastFetchedEpoch: -1, partitionMaxBytes: FETCH_BYTES }],
        },
      ],
    });
    const batches = fetched.responses.flatMap((response) => response.partitions).flatMap((partition) => partition.records ?? []);
    for (const batch of batches) {
      for (const record of batch.records) this.#answered(record.headers, record.value);
      const next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n;
      if (next > this.#offset) this.#offset = next; // the first batch may begin before what was asked for
    }
  }

  #answered(headers: readonly (readonly [Buffer | null, Buffer | null])[], value: Buffer | null): void {
    const correlation = headers.find(([name]) => name?.toString() === "correlation-id")?.[1]?.toString();
    const waiting = correlation === undefined ? undefined : this.#waiting.get(correlation);
    if (waiting === undefined || value === null) return; // another client's
    try {
      waiting.resolve(JSON.parse(value.toString()) as Answer);
    } catch (error) {
      waiting.reject(new TransportError("an answer that is no JSON came back", { cause: error }));
    }
  }

  async #within<T>(seconds: number, work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new NoAnswerError(`no answer within ${seconds} s`)), seconds * 1000);
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
      work.catch(() => {}); // what comes too late is nobody's any more
    }
  }

  #translated(error: unknown): EmgasError {
    if (error instanceof EmgasError) return error;
    const what = error instanceof Error ? error.message : String(error);
    return new TransportError(`Kafka at ${this.#brokers}: ${what}: is the broker running, and is the address that of its listener?`, { cause: error });
  }
}

const onBehalf = (subject: string | undefined): Record<string, string> => (subject === undefined ? {} : { subject });
