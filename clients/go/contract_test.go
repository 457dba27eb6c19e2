// The contract of clients/contract.json, over the transports that EMGAS_TEST_URLS names: addresses between spaces, and for
// Kafka the prefix of the topics in EMGAS_TEST_PREFIX. tests/clients/ starts what stands there.
package emgas_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	emgas "emgas/client"
	"emgas/client/kafka"
)

type step struct {
	Tell, Ask, Publish json.RawMessage
	Gives              any
	Saved, Refused, As string
	Fails              []string
	Seconds            float64
	Times              int
}

type contract struct {
	Cases []struct {
		Name  string
		Steps []step
	}
	Partitions []struct {
		Key           string
		Of, Partition int
	}
}

type values map[string]any

func read[T any](t *testing.T, path string) T {
	t.Helper()
	var found T
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func open(t *testing.T, url string) emgas.Connection {
	t.Helper()
	brokers, isKafka := strings.CutPrefix(url, "kafka://")
	if !isKafka {
		return emgas.HTTP(url, "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	opened, err := kafka.Open(ctx, os.Getenv("EMGAS_TEST_PREFIX"), kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func TestTheContract(t *testing.T) {
	urls := strings.Fields(os.Getenv("EMGAS_TEST_URLS"))
	if len(urls) == 0 {
		t.Fatal("set EMGAS_TEST_URLS: tests/clients does")
	}
	for _, url := range urls {
		connection := open(t, url)
		for _, each := range read[contract](t, "../contract.json").Cases {
			t.Run(strings.SplitN(url, ":", 2)[0]+": "+each.Name, func(t *testing.T) {
				known := values{"graph": "test-" + strings.ToLower(rand.Text())[:12]}
				for _, one := range each.Steps {
					runAll(t, connection, one, known)
				}
			})
		}
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
	}
}

func runAll(t *testing.T, connection emgas.Connection, one step, known values) {
	if one.Times == 0 {
		run(t, connection, one, known)
		return
	}
	var group sync.WaitGroup
	for n := range one.Times {
		mine := maps.Clone(known)
		mine["n"] = n
		group.Go(func() { run(t, connection, one, mine) })
	}
	group.Wait()
}

func run(t *testing.T, connection emgas.Connection, one step, known values) {
	t.Helper()
	wait := time.Minute
	if one.Seconds > 0 {
		wait = time.Duration(one.Seconds * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	found, err := said(ctx, connection, one, known)
	switch {
	case one.Fails != nil:
		if !slices.Contains(one.Fails, kindOf(err)) {
			t.Errorf("%v, %v is none of %v", found, err, one.Fails)
		}
	case one.Refused != "":
		told := fmt.Sprint(found, err)
		if !strings.Contains(told, one.Refused) || strings.Contains(told, "accepted") {
			t.Errorf("%s does not say %s", told, one.Refused)
		}
	case err != nil:
		t.Error(err)
	default:
		holds(t, found, filled(one.Gives, known), "answer")
	}
	if one.Saved != "" && err == nil {
		known[one.Saved] = found.(map[string]any)["Offset"]
	}
}

// said sends a step's message as the type that it is; one that breaks the contract has none, and goes as it stands.
func said(ctx context.Context, connection emgas.Connection, one step, known values) (any, error) {
	client := emgas.New(connection).OnBehalfOf(one.As)
	raw := message(one, known)
	kind := struct{ Kind, Graph string }{Kind: "turn"}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	if one.Refused != "" {
		topic := emgas.TopicTurns
		if one.Ask != nil {
			topic = emgas.TopicQueries
		}
		answer, err := connection.Ask(ctx, emgas.Record{Topic: topic, Graph: kind.Graph, Subject: one.As, Message: raw})
		return string(answer), err
	}
	switch kind.Kind {
	case "query":
		return answer(client.Query(ctx, typed[emgas.Query](raw)))
	case "describe":
		return answer(client.Describe(ctx, typed[emgas.Describe](raw)))
	case "read":
		return answer(client.Read(ctx, typed[emgas.Read](raw)))
	case "picture":
		return answer(client.Picture(ctx, typed[emgas.Picture](raw)))
	case "compare":
		return answer(client.Compare(ctx, typed[emgas.Compare](raw)))
	case "recap":
		return answer(client.Recap(ctx, typed[emgas.Recap](raw)))
	case "trend":
		return answer(client.Trend(ctx, typed[emgas.Trend](raw)))
	case "explore":
		return answer(client.Explore(ctx, typed[emgas.Explore](raw)))
	case "habits":
		return answer(client.Habits(ctx, typed[emgas.Habits](raw)))
	case "recent":
		return answer(client.Recent(ctx, typed[emgas.Recent](raw)))
	case "endsession":
		return answer(client.Tell(ctx, typed[emgas.EndSession](raw)))
	case "grant":
		return answer(client.Tell(ctx, typed[emgas.Grant](raw)))
	case "revoke":
		return answer(client.Tell(ctx, typed[emgas.Revoke](raw)))
	case "configure":
		return answer(client.Tell(ctx, typed[emgas.Configure](raw)))
	case "forget":
		return answer(client.Tell(ctx, typed[emgas.Forget](raw)))
	case "pin":
		return answer(client.Tell(ctx, typed[emgas.Pin](raw)))
	case "unpin":
		return answer(client.Tell(ctx, typed[emgas.Unpin](raw)))
	case "feedback":
		return answer(client.Tell(ctx, typed[emgas.Feedback](raw)))
	case "undo":
		return answer(client.Tell(ctx, typed[emgas.Undo](raw)))
	case "erase":
		return answer(client.Tell(ctx, typed[emgas.Erase](raw)))
	}
	if one.Publish != nil {
		return answer(client.Publish(ctx, typed[emgas.Turn](raw)))
	}
	return answer(client.Tell(ctx, typed[emgas.Turn](raw)))
}

func message(one step, known values) []byte {
	var plain any
	raw := slices.Concat(one.Tell, one.Ask, one.Publish) // a step has one of them
	if err := json.Unmarshal(raw, &plain); err != nil {
		panic(err)
	}
	made, err := json.Marshal(filled(plain, known))
	if err != nil {
		panic(err)
	}
	return made
}

func typed[M any](raw []byte) M {
	var found M
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil {
		panic(fmt.Sprintf("%s: %v", raw, err))
	}
	return found
}

func answer[A any](found A, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	var plain any
	return plain, json.Unmarshal(raw, &plain)
}

func kindOf(err error) string {
	var failed *emgas.QueryFailedError
	if errors.As(err, &failed) {
		return failed.Code
	}
	if errors.Is(err, emgas.ErrNoAnswer) {
		return "no-answer"
	}
	return fmt.Sprint(err)
}

var name = regexp.MustCompile(`\{(\w+)\}`)

// filled puts values where their names stand in braces; what is nothing but a name becomes the value itself.
func filled(part any, known values) any {
	switch part := part.(type) {
	case string:
		if whole := name.FindString(part); whole == part && whole != "" {
			if value, has := known[whole[1:len(whole)-1]]; has {
				return value
			}
		}
		return name.ReplaceAllStringFunc(part, func(found string) string {
			if value, has := known[found[1:len(found)-1]]; has {
				return fmt.Sprint(value)
			}
			return found
		})
	case []any:
		made := make([]any, len(part))
		for place, each := range part {
			made[place] = filled(each, known)
		}
		return made
	case map[string]any:
		made := map[string]any{}
		for field, value := range part {
			made[field] = filled(value, known)
		}
		return made
	}
	return part
}

func holds(t *testing.T, found, wanted any, where string) {
	t.Helper()
	switch wanted := wanted.(type) {
	case nil:
	case []any:
		list, _ := found.([]any)
		if len(list) != len(wanted) {
			t.Errorf("%s: %v has not %d parts", where, found, len(wanted))
			return
		}
		for place, each := range wanted {
			holds(t, list[place], each, fmt.Sprintf("%s[%d]", where, place))
		}
	case map[string]any:
		fields, _ := found.(map[string]any)
		for field, value := range wanted {
			holds(t, fields[field], value, where+"."+field)
		}
	default:
		if !reflect.DeepEqual(found, wanted) {
			t.Errorf("%s: %v is not %v", where, found, wanted)
		}
	}
}

func TestWhatIsOutOfReachIsTold(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := emgas.New(emgas.HTTP("http://127.0.0.1:1", "")).Query(ctx, emgas.Query{Graph: "ada", Text: "who?"})
	if !errors.Is(err, emgas.ErrTransport) {
		t.Errorf("over HTTP: %v", err)
	}
	if _, err := kafka.Open(ctx, "emgas", kgo.SeedBrokers("127.0.0.1:1")); !errors.Is(err, emgas.ErrTransport) {
		t.Errorf("over Kafka: %v", err)
	}
}

func TestAKeyLiesWhereJavasDefaultPartitionerPutsIt(t *testing.T) {
	placed := kafka.Partitioner().ForTopic("any")
	for _, each := range read[contract](t, "../contract.json").Partitions {
		if got := placed.Partition(&kgo.Record{Key: []byte(each.Key)}, each.Of); got != each.Partition {
			t.Errorf("%q of %d: %d, not %d", each.Key, each.Of, got, each.Partition)
		}
	}
}
