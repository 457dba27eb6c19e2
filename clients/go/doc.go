// Package emgas speaks to EMGAS, associative memory for conversational AI: over HTTP with what is here, over Kafka with
// the package kafka below it. The messages are those of docs/wire.md.
//
//	memory := emgas.New(emgas.HTTP("http://127.0.0.1:8088", ""))
//	defer memory.Close()
//	outcome, err := memory.Tell(ctx, emgas.Turn{ID: "t1", Graph: "ada", Speaker: "Ada", Text: "The kettle broke again."})
//	reply, err := memory.Query(ctx, emgas.Query{Graph: "ada", Text: "what broke?"})
//
// A call waits until its context ends, and 10 seconds where that has no deadline.
package emgas
