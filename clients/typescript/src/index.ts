export { connect, MemoryClient, type Options } from "./client.ts";
export type { Connection, Receipt } from "./connection.ts";
export { EmgasError, InvalidMessageError, NoAnswerError, QueryFailedError, TransportError } from "./errors.ts";
export { murmur2, partitionOf } from "./partitions.ts";
export type * from "./messages.ts";
