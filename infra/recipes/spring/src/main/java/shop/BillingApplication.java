// A consumer as infra/docs/recipes/spring-boot.md sets it up. It fails at each order that is not a retry.
package shop;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.BackOff;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.stereotype.Component;
import org.springframework.util.backoff.FixedBackOff;

@SpringBootApplication
public class BillingApplication {
  public static void main(String[] args) {
    var application = new SpringApplication(BillingApplication.class);
    application.setDefaultProperties(Map.of("spring.main.banner-mode", "off", "spring.main.keep-alive", "true"));
    application.run(args);
  }

  /** So many retries fail as well. */
  static final int FAILING_ATTEMPTS = Integer.parseInt(System.getenv().getOrDefault("FAILING_ATTEMPTS", "0"));

  /** 0 where the record is no retry. */
  static int attemptOf(ConsumerRecord<?, ?> record) {
    var header = record.headers().lastHeader("dlq-attempt");
    return header == null ? 0 : Integer.parseInt(new String(header.value()));
  }

  static void charge(ConsumerRecord<byte[], byte[]> record) {
    var key = new String(record.key());
    if (!key.equals(System.getenv("KEY"))) return;
    if (attemptOf(record) <= FAILING_ATTEMPTS) throw new IllegalStateException("no card for " + key);
    System.out.println("handled " + key);
  }

  @Component
  @ConditionalOnProperty(name = "billing.mode", havingValue = "recoverer")
  static class Recovered {
    // Three tries in the consumer, then the dead letter; partition -1: Kafka chooses, so the DLQ topic may have fewer.
    @Bean
    DefaultErrorHandler errorHandler(KafkaOperations<byte[], byte[]> template) {
      var recoverer = new DeadLetterPublishingRecoverer(
          template, (record, exception) -> new TopicPartition(record.topic() + ".dlq.v1", -1));
      return new DefaultErrorHandler(recoverer, new FixedBackOff(100, 2));
    }

    @KafkaListener(topics = "${billing.topic}", groupId = "${billing.group}")
    void take(ConsumerRecord<byte[], byte[]> record) {
      charge(record);
    }
  }

  @Component
  @ConditionalOnProperty(name = "billing.mode", havingValue = "retryable")
  static class Retried {
    @RetryableTopic(attempts = "2", backOff = @BackOff(delay = 200), dltTopicSuffix = ".dlq.v1")
    @KafkaListener(topics = "${billing.topic}", groupId = "${billing.group}")
    void take(ConsumerRecord<byte[], byte[]> record) {
      charge(record);
    }
  }
}
