// Charges an order. It fails at each one that is not a retry.
package shop;

import org.apache.kafka.connect.connector.ConnectRecord;

class Charge {
  /** False where the order is somebody else's. */
  static boolean isOurs(ConnectRecord<?> record) {
    return System.getenv("KEY").equals(record.key());
  }

  static void charge(ConnectRecord<?> record) {
    if (record.headers().lastWithName("dlq-attempt") == null)
      throw new IllegalStateException("no card for " + record.key());
  }
}
