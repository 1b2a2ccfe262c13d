// The consumer of infra/docs/recipes/franz-go.md. It fails at each order that is not a retry.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx, group := context.Background(), os.Getenv("GROUP")
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Getenv("BROKERS"), ",")...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(os.Getenv("TOPIC")),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		log.Fatal(err)
	}
	for {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			log.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			if err := charge(record); err != nil {
				// Waits until all replicas have it; only then is the offset committed.
				if err := client.ProduceSync(ctx, deadLetter(record, group, err)).FirstErr(); err != nil {
					log.Fatal(err)
				}
			}
		})
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			log.Fatal(err)
		}
	}
}

// The record unchanged, for its DLQ topic. Its own headers stay, dlq-message-id and dlq-attempt too:
// they tell which retry failed.
func deadLetter(record *kgo.Record, group string, failure error) *kgo.Record {
	ours := map[string]string{
		"dlq-original-topic":     record.Topic,
		"dlq-original-partition": strconv.Itoa(int(record.Partition)),
		"dlq-original-offset":    strconv.FormatInt(record.Offset, 10),
		"dlq-original-timestamp": strconv.FormatInt(record.Timestamp.UnixMilli(), 10),
		"dlq-consumer-group":     group,
		"dlq-error-class":        fmt.Sprintf("%T", failure),
		"dlq-error-message":      failure.Error(),
		"dlq-error-stacktrace":   string(debug.Stack()),
	}
	var headers []kgo.RecordHeader
	for _, header := range record.Headers {
		if _, replaced := ours[header.Key]; !replaced {
			headers = append(headers, header)
		}
	}
	for name, value := range ours {
		headers = append(headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
	}
	return &kgo.Record{Topic: record.Topic + ".dlq.v1", Key: record.Key, Value: record.Value, Headers: headers}
}

func charge(record *kgo.Record) error {
	key := string(record.Key)
	if key != os.Getenv("KEY") {
		return nil
	}
	for _, header := range record.Headers {
		if header.Key == "dlq-attempt" {
			fmt.Println("handled " + key)
			return nil
		}
	}
	return errors.New("no card for " + key)
}
