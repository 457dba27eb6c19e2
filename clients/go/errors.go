package emgas

import "errors"

// What goes wrong, by what the caller can do about it; errors.Is finds them, errors.As a *QueryFailedError.
var (
	// ErrInvalidMessage: the message breaks the contract. Mend it.
	ErrInvalidMessage = errors.New("invalid message")
	// ErrNoAnswer: nothing came in time. The message may have arrived; telling it again is safe.
	ErrNoAnswer = errors.New("no answer")
	// ErrTransport: the server or the brokers refused, or are out of reach.
	ErrTransport = errors.New("transport failed")
)

// QueryFailedError is a failure with which the memory answered; Code as in docs/wire.md.
type QueryFailedError struct{ Code, Message string }

func (e *QueryFailedError) Error() string { return e.Code + ": " + e.Message }
