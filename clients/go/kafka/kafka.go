// Package kafka carries messages over Kafka: records to the topics turns and queries, and one partition of replies, read
// from its end without a consumer group, where answers are told apart by correlation id (docs/wire.md).
package kafka

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	emgas "emgas/client"
)

// Partitioner finds a graph's partition as the Java client's default partitioner does: murmur2 of the key.
func Partitioner() kgo.Partitioner { return kgo.StickyKeyPartitioner(nil) }

type connection struct {
	client  *kgo.Client
	prefix  string
	replies int32 // the partition that is read
	done    chan struct{}
	closing sync.Once

	mutex   sync.Mutex
	waiting map[string]chan []byte // by correlation id
}

// Open connects, and begins to read answers. prefix: of the topics, "emgas" by default. options: seed brokers, and TLS or
// SASL, as kgo has them.
func Open(ctx context.Context, prefix string, options ...kgo.Opt) (emgas.Connection, error) {
	client, err := kgo.NewClient(append(options, kgo.RecordPartitioner(Partitioner()), kgo.ClientID("emgas"))...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", emgas.ErrTransport, err)
	}
	c := &connection{client: client, prefix: prefix, done: make(chan struct{}), waiting: map[string]chan []byte{}}
	if err := c.begin(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("%w: %w", emgas.ErrTransport, err)
	}
	go c.read()
	return c, nil
}

// begin fixes where answers are read from before anything is asked, so that none can be passed over.
func (c *connection) begin(ctx context.Context) error {
	topics := []string{c.prefix + ".turns", c.prefix + ".queries", c.prefix + ".replies"}
	ends, err := kadm.NewClient(c.client).ListEndOffsets(ctx, topics...)
	if err != nil {
		return err
	}
	for _, topic := range topics {
		if len(ends[topic]) == 0 || ends[topic][0].Err != nil {
			return fmt.Errorf("there is no topic %s: run `emgas admin topics create`", topic)
		}
	}
	replies := topics[2]
	c.replies = mathrand.Int32N(int32(len(ends[replies])))
	at := kgo.NewOffset().At(ends[replies][c.replies].Offset)
	c.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{replies: {c.replies: at}})
	return nil
}

func (c *connection) Append(ctx context.Context, record emgas.Record) (emgas.Receipt, error) {
	return c.send(ctx, record)
}

func (c *connection) Ask(ctx context.Context, record emgas.Record) ([]byte, error) {
	correlation, answer := rand.Text(), make(chan []byte, 1)
	c.mutex.Lock()
	c.waiting[correlation] = answer
	c.mutex.Unlock()
	defer func() {
		c.mutex.Lock()
		delete(c.waiting, correlation)
		c.mutex.Unlock()
	}()
	deadline, _ := ctx.Deadline()
	_, err := c.send(ctx, record,
		header("correlation-id", correlation),
		header("reply-to", c.prefix+".replies"),
		header("reply-partition", strconv.Itoa(int(c.replies))),
		header("deadline", strconv.FormatInt(deadline.UnixMilli(), 10)),
	)
	if err != nil {
		return nil, err
	}
	select {
	case found := <-answer:
		return found, nil
	case <-c.done:
		return nil, fmt.Errorf("%w: the client was closed while this call waited", emgas.ErrTransport)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w in time: %w", emgas.ErrNoAnswer, ctx.Err())
	}
}

func (c *connection) Close() error {
	c.closing.Do(func() {
		close(c.done)
		c.client.Close()
	})
	return nil
}

func (c *connection) send(ctx context.Context, record emgas.Record, headers ...kgo.RecordHeader) (emgas.Receipt, error) {
	if record.Subject != "" {
		headers = append(headers, header("subject", record.Subject))
	}
	there, err := c.client.ProduceSync(ctx, &kgo.Record{
		Topic:   c.prefix + "." + string(record.Topic),
		Key:     []byte(record.Graph),
		Value:   record.Message,
		Headers: append(headers, header("content-type", "application/json")),
	}).First()
	if err != nil && ctx.Err() != nil {
		return emgas.Receipt{}, fmt.Errorf("%w in time: %w", emgas.ErrNoAnswer, err)
	}
	if err != nil {
		return emgas.Receipt{}, fmt.Errorf("%w: %w", emgas.ErrTransport, err)
	}
	return emgas.Receipt{Partition: int(there.Partition), Offset: there.Offset, Timestamp: there.Timestamp.UnixMilli()}, nil
}

// read hands every answer to the call that waits for it, and passes over those of other clients.
func (c *connection) read() {
	for {
		fetches := c.client.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(record *kgo.Record) {
			for _, each := range record.Headers {
				if each.Key == "correlation-id" {
					c.answered(string(each.Value), record.Value)
				}
			}
		})
	}
}

func (c *connection) answered(correlation string, value []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if answer, waits := c.waiting[correlation]; waits {
		delete(c.waiting, correlation) // one answer is enough: at least once may be twice
		answer <- value
	}
}

func header(name, value string) kgo.RecordHeader {
	return kgo.RecordHeader{Key: name, Value: []byte(value)}
}
