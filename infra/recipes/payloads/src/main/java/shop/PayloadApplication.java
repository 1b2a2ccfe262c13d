// A consumer of orders in Avro, Protobuf or JSON, by the deserializers that people use. It fails at negative amounts, and
// in JSON at each order that is not a retry. Its dead letters are written by Spring's recoverer, serialised anew.
package shop;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaOperations;
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

@SpringBootApplication
public class PayloadApplication {
  public record Order(String id, long cents, String note) {}

  static final Schema AVRO = new Schema.Parser().parse("""
      {"type":"record","name":"Order","namespace":"shop","fields":[
        {"name":"id","type":"string"},
        {"name":"cents","type":"long"},
        {"name":"note","type":["null","string"],"default":null}]}""");

  static final FileDescriptorProto PROTOBUF = FileDescriptorProto.newBuilder()
      .setName("order.proto")
      .setPackage("shop")
      .setSyntax("proto3")
      .addMessageType(DescriptorProto.newBuilder()
          .setName("Order")
          .addField(field("id", 1, Type.TYPE_STRING))
          .addField(field("cents", 2, Type.TYPE_SINT64)))
      .build();

  static FieldDescriptorProto.Builder field(String name, int number, Type type) {
    return FieldDescriptorProto.newBuilder()
        .setName(name)
        .setJsonName(name)
        .setNumber(number)
        .setType(type)
        .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("describe")) {
      // As protoc --descriptor_set_out --include_imports writes it.
      Files.write(Path.of(args[1]), FileDescriptorSet.newBuilder().addFile(PROTOBUF).build().toByteArray());
      return;
    }
    var application = new SpringApplication(PayloadApplication.class);
    application.setDefaultProperties(Map.of("spring.main.banner-mode", "off", "spring.main.keep-alive", "true"));
    application.run(args);
  }

  @Bean
  DefaultErrorHandler errorHandler(KafkaOperations<Object, Object> template) {
    var recoverer = new DeadLetterPublishingRecoverer(
        template, (record, exception) -> new TopicPartition(record.topic() + ".dlq.v1", -1));
    return new DefaultErrorHandler(recoverer, new FixedBackOff(100, 1));
  }

  /** The record that fails, by the real serializer, which registers the schema. */
  @Bean
  @ConditionalOnProperty("billing.sends")
  ApplicationRunner sender(KafkaOperations<Object, Object> template) {
    return arguments -> {
      var order = new GenericData.Record(AVRO);
      order.put("id", "order-7");
      order.put("cents", -5L);
      template.send(System.getenv("TOPIC"), "order-7", order).get();
    };
  }

  @KafkaListener(topics = "${billing.topic}", groupId = "${billing.group}")
  void take(ConsumerRecord<String, Object> record) throws Exception {
    var order = orderOf(record.value());
    var isRetry = record.headers().lastHeader("dlq-attempt") != null;
    if (order.cents() < 0 || (record.value() instanceof Order && !isRetry))
      throw new IllegalStateException("no card for " + order.id());
    System.out.println("handled " + order.id() + " " + order.cents());
  }

  static Order orderOf(Object value) throws Exception {
    if (value instanceof Order order) return order;
    if (value instanceof GenericRecord avro)
      return new Order(avro.get("id").toString(), (Long) avro.get("cents"), null);
    var type = FileDescriptor.buildFrom(PROTOBUF, new FileDescriptor[0]).findMessageTypeByName("Order");
    var message = DynamicMessage.parseFrom(type, (byte[]) value);
    return new Order(
        (String) message.getField(type.findFieldByName("id")),
        (Long) message.getField(type.findFieldByName("cents")),
        null);
  }
}
