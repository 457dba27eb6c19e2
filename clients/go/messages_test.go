package emgas_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type document struct {
	Components struct {
		Messages map[string]struct {
			Examples []struct{ Payload json.RawMessage }
		}
		Schemas map[string]struct{ Properties map[string]json.RawMessage }
	}
}

func TestEveryTypeHasTheFieldsOfItsSchema(t *testing.T) {
	schemas := read[document](t, "../../emgas/schema/asyncapi.json").Components.Schemas
	for _, each := range types {
		found := reflect.TypeOf(each)
		var fields, wanted []string
		for field := range found.Fields() {
			fields = append(fields, strings.Split(field.Tag.Get("json"), ",")[0])
		}
		for field := range schemas[found.Name()].Properties {
			wanted = append(wanted, field)
		}
		slices.Sort(fields)
		slices.Sort(wanted)
		if !slices.Equal(fields, wanted) {
			t.Errorf("%s has %v, its schema has %v", found.Name(), fields, wanted)
		}
	}
}

func TestEveryExampleIsReadAndWrittenAsItIs(t *testing.T) {
	messages := read[document](t, "../../emgas/schema/asyncapi.json").Components.Messages
	for _, each := range types {
		name := reflect.TypeOf(each).Name()
		for _, example := range messages[name].Examples {
			value := reflect.New(reflect.TypeOf(each))
			if err := json.Unmarshal(example.Payload, value.Interface()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			written, err := json.Marshal(value.Elem().Interface())
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var before, after any
			if json.Unmarshal(example.Payload, &before) != nil || json.Unmarshal(written, &after) != nil {
				t.Fatalf("%s: %s", name, written)
			}
			holds(t, after, before, name)
		}
	}
}
