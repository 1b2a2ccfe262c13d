// A consumer as infra/docs/recipes/quarkus.md sets it up. It fails at each order that is not a retry.
package shop;

import io.smallrye.common.annotation.Blocking;
import jakarta.enterprise.context.ApplicationScoped;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.eclipse.microprofile.reactive.messaging.Incoming;

@ApplicationScoped
public class Billing {
  @Incoming("orders")
  @Blocking
  public void take(ConsumerRecord<byte[], byte[]> record) {
    var key = new String(record.key());
    if (!key.equals(System.getenv("KEY"))) return;
    if (record.headers().lastHeader("dlq-attempt") == null) throw new IllegalStateException("no card for " + key);
    System.out.println("handled " + key);
  }
}
