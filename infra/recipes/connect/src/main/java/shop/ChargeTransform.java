// A transformation that throws: Connect writes the dead letter.
package shop;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;

public class ChargeTransform implements Transformation<SinkRecord> {
  @Override
  public SinkRecord apply(SinkRecord record) {
    if (Charge.isOurs(record)) Charge.charge(record);
    return record;
  }

  @Override
  public ConfigDef config() {
    return new ConfigDef();
  }

  @Override
  public void configure(Map<String, ?> settings) {}

  @Override
  public void close() {}
}
