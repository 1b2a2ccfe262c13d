// An application as infra/docs/recipes/kafka-streams.md sets it up. It fails at each order that is not a retry.
package shop;

import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndContinueExceptionHandler;
import org.apache.kafka.streams.errors.LogAndContinueProcessingExceptionHandler;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;

public class BillingStreams {
  public static void main(String[] args) {
    var topic = System.getenv("TOPIC");
    var settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, System.getenv("GROUP"));
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, System.getenv("BROKERS"));
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, System.getenv("STATE"));
    settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
    // KIP-1034: the handlers write the dead letter themselves, in the transaction of the task.
    settings.put(StreamsConfig.ERRORS_DEAD_LETTER_QUEUE_TOPIC_NAME_CONFIG, topic + ".dlq.v1");
    settings.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndContinueProcessingExceptionHandler.class);
    settings.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndContinueExceptionHandler.class);

    var builder = new StreamsBuilder();
    var charged = builder.stream(topic, Consumed.with(Serdes.String(), Serdes.ByteArray())).process(Charge::new);
    // What was charged goes on, with the headers of the order.
    var out = System.getenv("OUT");
    if (out != null) charged.to(out, Produced.with(Serdes.String(), Serdes.ByteArray()));
    var streams = new KafkaStreams(builder.build(), settings);
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
  }

  static class Charge implements Processor<String, byte[], String, byte[]> {
    /** So many retries fail as well. */
    private static final int FAILING_ATTEMPTS =
        Integer.parseInt(System.getenv().getOrDefault("FAILING_ATTEMPTS", "0"));

    private ProcessorContext<String, byte[]> context;

    @Override
    public void init(ProcessorContext<String, byte[]> context) {
      this.context = context;
    }

    @Override
    public void process(Record<String, byte[]> record) {
      if (!record.key().equals(System.getenv("KEY"))) return;
      var attempt = record.headers().lastHeader("dlq-attempt");
      if (attempt == null || Integer.parseInt(new String(attempt.value())) <= FAILING_ATTEMPTS)
        throw new IllegalStateException("no card for " + record.key());
      System.out.println("handled " + record.key());
      context.forward(record);
    }
  }
}
