// Leaves out the retries that dlq-manager sent for another consumer group of the topic.
package shop;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.kafka.clients.consumer.ConsumerRecord;

public class ForGroup {
  /** For factory.setRecordFilterStrategy: true leaves the record out. A malformed header excludes nobody. */
  public static boolean isForAnother(ConsumerRecord<?, ?> record, String group) {
    var found = record.headers().headers("dlq-for-group").iterator();
    if (!found.hasNext()) return false;
    var header = found.next();
    if (header.value() == null || found.hasNext()) return false;
    var value = new String(header.value(), UTF_8);
    int slash = value.indexOf('/');
    return slash > 0
        && slash < value.length() - 1
        && value.substring(0, slash).equals(record.topic())
        && !value.substring(slash + 1).equals(group);
  }
}
