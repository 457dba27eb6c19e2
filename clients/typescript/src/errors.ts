// What goes wrong, by what the caller can do about it.
//
// EmgasError
// ├── InvalidMessageError  the message breaks the contract: mend it
// ├── NoAnswerError        nothing came in time; the message may have arrived, and telling it again is safe
// ├── TransportError       the server or the brokers refused, or are out of reach
// └── QueryFailedError     the memory answered with a failure: `code`, as in docs/wire.md

export class EmgasError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class InvalidMessageError extends EmgasError {}

export class NoAnswerError extends EmgasError {}

export class TransportError extends EmgasError {}

export class QueryFailedError extends EmgasError {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
