// A sink connector as infra/docs/recipes/kafka-connect.md describes it. It reports the orders that it cannot charge.
package shop;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

public class BillingSink extends SinkConnector {
  private Map<String, String> settings;

  @Override
  public void start(Map<String, String> settings) {
    this.settings = settings;
  }

  @Override
  public Class<? extends Task> taskClass() {
    return BillingTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(int maxTasks) {
    return Collections.nCopies(maxTasks, settings);
  }

  @Override
  public void stop() {}

  @Override
  public ConfigDef config() {
    return new ConfigDef();
  }

  @Override
  public String version() {
    return "1";
  }

  public static class BillingTask extends SinkTask {
    @Override
    public void start(Map<String, String> settings) {}

    @Override
    public void put(Collection<SinkRecord> records) {
      for (var record : records) {
        if (!Charge.isOurs(record)) continue;
        try {
          Charge.charge(record);
          System.out.println("handled " + record.key());
        } catch (IllegalStateException error) {
          // Connect waits for the dead letter before it commits the offset. Thrown, the error would stop the task.
          context.errantRecordReporter().report(record, error);
        }
      }
    }

    @Override
    public void stop() {}

    @Override
    public String version() {
      return "1";
    }
  }
}
