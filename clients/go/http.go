package emgas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const longest = 600 // seconds that the server waits for an answer

type httpConnection struct {
	url, key string
	client   *http.Client
}

// HTTP speaks to `emgas serve` at http://host:port; key is what its operator issued, or "".
func HTTP(url, key string) Connection {
	return &httpConnection{strings.TrimRight(url, "/"), key, &http.Client{}}
}

func (c *httpConnection) Append(ctx context.Context, record Record) (Receipt, error) {
	headers, _, err := c.send(ctx, record, false)
	if err != nil {
		return Receipt{}, err
	}
	number := func(name string) int64 { n, _ := strconv.ParseInt(headers.Get("Emgas-"+name), 10, 64); return n }
	return Receipt{int(number("Partition")), number("Offset"), number("Timestamp")}, nil
}

func (c *httpConnection) Ask(ctx context.Context, record Record) ([]byte, error) {
	_, body, err := c.send(ctx, record, true)
	if err == nil && len(body) == 0 {
		err = fmt.Errorf("%w in time", ErrNoAnswer)
	}
	return body, err
}

func (c *httpConnection) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

func (c *httpConnection) send(ctx context.Context, record Record, answer bool) (http.Header, []byte, error) {
	deadline, _ := ctx.Deadline()
	seconds := min(longest, max(0.1, time.Until(deadline).Seconds()))
	query := url.Values{"key": {record.Graph}, "answer": {strconv.FormatBool(answer)}, "seconds": {strconv.FormatFloat(seconds, 'f', 3, 64)}}
	address := fmt.Sprintf("%s/v1/records/%s?%s", c.url, record.Topic, query.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(record.Message))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrTransport, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	if record.Subject != "" {
		request.Header.Set("Emgas-Subject", url.PathEscape(record.Subject)) // a header has no other letters
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, nil, c.failed(ctx, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, nil, c.failed(ctx, err)
	}
	if response.StatusCode >= 300 {
		return nil, nil, refusal(response.StatusCode, body)
	}
	return response.Header, body, nil
}

func (c *httpConnection) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w in time: %w", ErrNoAnswer, ctx.Err())
	}
	return fmt.Errorf("%w: %s cannot be reached: is `emgas serve` running? %w", ErrTransport, c.url, err)
}

func refusal(status int, body []byte) error {
	problem := struct{ Detail string }{fmt.Sprintf("HTTP status %d", status)}
	_ = json.Unmarshal(body, &problem) // what is no problem document leaves the status
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %s", ErrInvalidMessage, problem.Detail)
	case http.StatusGatewayTimeout:
		return fmt.Errorf("%w: %s", ErrNoAnswer, problem.Detail)
	}
	return fmt.Errorf("%w: %s", ErrTransport, problem.Detail)
}
