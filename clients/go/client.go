package emgas

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/text/unicode/norm"
)

const defaultWait = 10 * time.Second

// Receipt is where a message came to lie. Timestamp: ms since 1970.
type Receipt struct {
	Partition int
	Offset    int64
	Timestamp int64
}

// Topic is where a message goes.
type Topic string

// What is told goes to TopicTurns, what is asked to TopicQueries.
const (
	TopicTurns   Topic = "turns"
	TopicQueries Topic = "queries"
)

// Record is a message on its way to the graph that it is about. Subject: on whose behalf it comes, or "".
type Record struct {
	Topic          Topic
	Graph, Subject string
	Message        []byte
}

// Connection carries records. Its context always has a deadline.
type Connection interface {
	// Append returns once the log has the record.
	Append(ctx context.Context, record Record) (Receipt, error)
	// Ask appends a record and returns its answer, or ErrNoAnswer once the context ends.
	Ask(ctx context.Context, record Record) ([]byte, error)
	Close() error
}

// Client tells a memory what was said, and asks it what helps. Any number of goroutines may share one.
type Client struct {
	connection Connection
	subject    string
}

// New makes a client of a connection: HTTP(…), or what kafka.Open gives.
func New(connection Connection) *Client { return &Client{connection: connection} }

// OnBehalfOf gives a client of the same connection whose calls come from a subject, for graphs that grant rights.
// Closing either closes the connection of both.
func (c *Client) OnBehalfOf(subject string) *Client { return &Client{c.connection, subject} }

// Close lets go.
func (c *Client) Close() error { return c.connection.Close() }

// Publish appends a turn, and returns once the log has it. What becomes of it is not awaited.
func (c *Client) Publish(ctx context.Context, turn Turn) (Receipt, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	turn.Graph = named(turn.Graph)
	message, err := encode(turn)
	if err != nil {
		return Receipt{}, err
	}
	return c.connection.Append(ctx, Record{TopicTurns, turn.Graph, c.subject, message})
}

// Tell tells a graph something, and returns what became of it.
func (c *Client) Tell(ctx context.Context, command Command) (Outcome, error) {
	return ask[Outcome](ctx, c, TopicTurns, command, "outcome")
}

// Query asks a graph what was said.
func (c *Client) Query(ctx context.Context, query Query) (Reply, error) {
	return ask[Reply](ctx, c, TopicQueries, query, "reply")
}

// Describe asks what a graph holds.
func (c *Client) Describe(ctx context.Context, describe Describe) (Description, error) {
	return ask[Description](ctx, c, TopicQueries, describe, "description")
}

// Read reads turns as they were said, a page of them.
func (c *Client) Read(ctx context.Context, read Read) (Turns, error) {
	return ask[Turns](ctx, c, TopicQueries, read, "turns")
}

// Picture asks what a graph looks like.
func (c *Client) Picture(ctx context.Context, picture Picture) (Pictured, error) {
	return ask[Pictured](ctx, c, TopicQueries, picture, "pictured")
}

// Compare asks what changed in a graph between two times.
func (c *Client) Compare(ctx context.Context, compare Compare) (Compared, error) {
	return ask[Compared](ctx, c, TopicQueries, compare, "compared")
}

// Recap asks what conversations were about.
func (c *Client) Recap(ctx context.Context, recap Recap) (Recapped, error) {
	return ask[Recapped](ctx, c, TopicQueries, recap, "recapped")
}

// Trend asks how often something is spoken of, since when, and when not.
func (c *Client) Trend(ctx context.Context, trend Trend) (Trended, error) {
	return ask[Trended](ctx, c, TopicQueries, trend, "trended")
}

// Explore asks what a concept is to a graph, and what it is linked with.
func (c *Client) Explore(ctx context.Context, explore Explore) (Explored, error) {
	return ask[Explored](ctx, c, TopicQueries, explore, "explored")
}

// Habits asks what recurs.
func (c *Client) Habits(ctx context.Context, habits Habits) (Recurring, error) {
	return ask[Recurring](ctx, c, TopicQueries, habits, "recurring")
}

// Recent asks what is in mind of a conversation.
func (c *Client) Recent(ctx context.Context, recent Recent) (InMind, error) {
	return ask[InMind](ctx, c, TopicQueries, recent, "inmind")
}

func ask[A any](ctx context.Context, c *Client, topic Topic, message interface{ graph() string }, kind string) (A, error) {
	var answer A
	ctx, cancel := bounded(ctx)
	defer cancel()
	value, err := encode(message)
	if err != nil {
		return answer, err
	}
	raw, err := c.connection.Ask(ctx, Record{topic, named(message.graph()), c.subject, value})
	if err != nil {
		return answer, err
	}
	return decode[A](raw, kind)
}

// named writes a graph in Unicode's normal form C: however "Zoë" is typed, it is one graph, and one key.
func named(graph string) string { return norm.NFC.String(graph) }

func encode(message any) ([]byte, error) {
	value, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidMessage, err)
	}
	return value, nil
}

// decode reads an answer of a kind, or the failure that came instead.
func decode[A any](raw []byte, kind string) (A, error) {
	var answer A
	var failure Failure
	if err := json.Unmarshal(raw, &failure); err != nil {
		return answer, fmt.Errorf("%w: an answer that is no JSON came back: %w", ErrTransport, err)
	}
	switch failure.Kind {
	case "failure":
		return answer, &QueryFailedError{failure.Code, failure.Message}
	case kind:
		err := json.Unmarshal(raw, &answer)
		return answer, err
	}
	return answer, fmt.Errorf("%w: the memory answered with %s instead of %s", ErrTransport, failure.Kind, kind)
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, defaultWait)
}
