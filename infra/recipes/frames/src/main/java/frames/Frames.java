package frames;

import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.serializers.SerializationDataEncoder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.ProtobufSerializer;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.apicurio.registry.serde.protobuf.ProtobufKafkaSerializer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.message.BinaryMessageEncoder;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Prints what AWS Glue's, Apicurio's and Avro's own serializers write, for
 * packages/dlq-core/src/domain/payload/test-serializer-bytes.ts. No registry is asked.
 *
 * <pre>mvn -q compile dependency:copy-dependencies && java -cp 'target/classes:target/dependency/*' frames.Frames</pre>
 */
public final class Frames {
  private static final UUID VERSION = UUID.fromString("0b1c2d3e-4f50-4612-8304-05060708090a");

  /** Apicurio's serializer with what stands behind the id of the schema. */
  private static final class Apicurio extends ProtobufKafkaSerializer<Message> {
    byte[] write(Message message, RecordHeaders headers) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      if (headers == null) serializeData(null, message, out);
      else serializeData(headers, null, message, out);
      return out.toByteArray();
    }
  }

  public static void main(String[] args) throws Exception {
    FileDescriptorProto proto = order();
    FileDescriptor file = FileDescriptor.buildFrom(proto, new FileDescriptor[0]);
    Descriptor order = file.findMessageTypeByName("Order");
    Descriptor money = file.findMessageTypeByName("Money");
    Descriptor line = order.findNestedTypeByName("Line");
    Message total = DynamicMessage.newBuilder(money).setField(money.findFieldByName("cents"), 42L).build();
    Message sold = DynamicMessage.newBuilder(line).setField(line.findFieldByName("sku"), "s").build();
    Message whole = DynamicMessage.newBuilder(order)
        .setField(order.findFieldByName("id"), "o1")
        .setField(order.findFieldByName("total"), total)
        .addRepeatedField(order.findFieldByName("lines"), sold)
        .addRepeatedField(order.findFieldByName("codes"), 7)
        .addRepeatedField(order.findFieldByName("codes"), 300)
        .build();
    print("descriptor", proto.toByteArray());

    for (String compression : new String[] {"NONE", "ZLIB"}) {
      GlueSchemaRegistryConfiguration configuration = new GlueSchemaRegistryConfiguration(
          Map.of("region", "eu-central-1", "endpoint", "http://127.0.0.1:1", "compression", compression));
      ProtobufSerializer serializer = ProtobufSerializer.builder().configs(configuration).build();
      SerializationDataEncoder encoder = new SerializationDataEncoder(configuration);
      print("glue " + compression + " Order", encoder.write(serializer.serialize(whole), VERSION));
      print("glue " + compression + " Order.Line", encoder.write(serializer.serialize(sold), VERSION));
      if (compression.equals("NONE")) System.out.println("glue schema\n" + serializer.getSchemaDefinition(whole));
    }

    Apicurio apicurio = new Apicurio();
    apicurio.configure(
        Map.of("apicurio.registry.url", "http://127.0.0.1:1", "apicurio.protobuf.validation.enabled", false,
            "apicurio.registry.serde.validation-enabled", false),
        false);
    print("apicurio frame Order", apicurio.write(whole, null));
    print("apicurio frame Money", apicurio.write(total, null));
    RecordHeaders headers = new RecordHeaders();
    print("apicurio headers Money", apicurio.write(total, headers));
    headers.forEach(header -> System.out.println(header.key() + " " + new String(header.value())));

    Schema schema = new Schema.Parser().parse(
        "{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"shop\",\"doc\":\"An order\",\"fields\":["
            + "{\"name\":\"id\",\"type\":\"string\"},{\"name\":\"cents\",\"type\":\"long\",\"default\":0},"
            + "{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null},"
            + "{\"name\":\"kind\",\"type\":{\"type\":\"enum\",\"name\":\"Kind\",\"symbols\":[\"A\",\"B\"]}},"
            + "{\"name\":\"hash\",\"type\":{\"type\":\"fixed\",\"name\":\"com.acme.Hash\",\"size\":2}},"
            + "{\"name\":\"other\",\"type\":[\"null\",\"Kind\"]}]}");
    GenericData.Record record = new GenericData.Record(schema);
    record.put("id", "order-7");
    record.put("cents", 500L);
    record.put("kind", new GenericData.EnumSymbol(schema.getField("kind").schema(), "B"));
    record.put("hash", new GenericData.Fixed(schema.getField("hash").schema(), new byte[] {1, 2}));
    byte[] single = new byte[256];
    java.nio.ByteBuffer buffer = new BinaryMessageEncoder<GenericData.Record>(new GenericData(), schema).encode(record);
    System.out.println("avro schema " + schema);
    System.out.println("avro canonical " + SchemaNormalization.toParsingForm(schema));
    single = new byte[buffer.remaining()];
    buffer.get(single);
    print("avro single object", single);
  }

  private static FileDescriptorProto order() {
    return FileDescriptorProto.newBuilder()
        .setName("order.proto")
        .setPackage("acme")
        .setSyntax("proto3")
        .addMessageType(DescriptorProto.newBuilder()
            .setName("Order")
            .addField(field("id", 1, Type.TYPE_STRING))
            .addField(field("total", 2, Type.TYPE_MESSAGE).setTypeName(".acme.Money"))
            .addField(field("lines", 3, Type.TYPE_MESSAGE).setTypeName(".acme.Order.Line").setLabel(Label.LABEL_REPEATED))
            .addField(field("codes", 4, Type.TYPE_INT32).setLabel(Label.LABEL_REPEATED))
            .addNestedType(DescriptorProto.newBuilder().setName("Line").addField(field("sku", 1, Type.TYPE_STRING)))
            .addNestedType(DescriptorProto.newBuilder().setName("Address").addField(field("zip", 1, Type.TYPE_STRING))))
        .addMessageType(DescriptorProto.newBuilder().setName("Money").addField(field("cents", 1, Type.TYPE_INT64)))
        .build();
  }

  private static FieldDescriptorProto.Builder field(String name, int number, Type type) {
    return FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type).setLabel(Label.LABEL_OPTIONAL);
  }

  private static void print(String name, byte[] bytes) {
    System.out.println(name + " " + HexFormat.of().formatHex(bytes));
  }
}
