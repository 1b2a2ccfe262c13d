// What Java's own client does for tests of a cluster: reads topics to their end as a read-committed consumer, and moves
// leaders.

import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class ClusterTool {
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            // BROKERS HEADER TOPIC…: one line for each record: topic, partition, offset, value of the header or "-".
            case "read" -> read(args[1], args[2], List.of(args).subList(3, args.length));
            // BROKERS SECONDS EVERY TOPIC…: prints how often a partition changed its leader.
            case "move-leaders" ->
                moveLeaders(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]), List.of(args).subList(4, args.length));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void read(String brokers, String header, Collection<String> topics) {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", brokers,
            "isolation.level", "read_committed",
            "auto.offset.reset", "earliest",
            "enable.auto.commit", false);
        var out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false);
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (String topic : topics)
                for (var info : consumer.partitionsFor(topic)) partitions.add(new TopicPartition(topic, info.partition()));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            // Of a read-committed consumer, an end is where the first open transaction begins.
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue()))
                for (var record : consumer.poll(Duration.ofMillis(200))) print(out, record, header);
        }
        out.flush();
    }

    private static void print(PrintStream out, ConsumerRecord<byte[], byte[]> record, String header) {
        Header found = record.headers().lastHeader(header);
        String value = found == null || found.value() == null ? "-" : new String(found.value());
        out.println(record.topic() + " " + record.partition() + " " + record.offset() + " " + value);
    }

    /** Back and forth: the second replica becomes the preferred leader and is elected, then the first one again. */
    private static void moveLeaders(String brokers, int seconds, int every, Collection<String> topics) throws Exception {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        int moved = 0;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            while (System.nanoTime() < end) {
                Map<TopicPartition, Integer> before = leaders(admin, topics);
                Map<TopicPartition, Optional<NewPartitionReassignment>> orders = new HashMap<>();
                for (TopicDescription topic : admin.describeTopics(topics).allTopicNames().get().values())
                    for (var partition : topic.partitions()) {
                        List<Integer> replicas = new ArrayList<>(partition.replicas().stream().map(node -> node.id()).toList());
                        Collections.swap(replicas, 0, 1);
                        orders.put(new TopicPartition(topic.name(), partition.partition()), Optional.of(new NewPartitionReassignment(replicas)));
                    }
                admin.alterPartitionReassignments(orders).all().get();
                Set<TopicPartition> all = new HashSet<>(orders.keySet());
                admin.electLeaders(ElectionType.PREFERRED, all).partitions().get();
                Thread.sleep(every * 1000L);
                Map<TopicPartition, Integer> after = leaders(admin, topics);
                for (TopicPartition partition : all) if (!after.get(partition).equals(before.get(partition))) moved += 1;
            }
        }
        System.out.println(moved);
    }

    private static Map<TopicPartition, Integer> leaders(Admin admin, Collection<String> topics) throws Exception {
        Map<TopicPartition, Integer> leaders = new HashMap<>();
        for (TopicDescription topic : admin.describeTopics(topics).allTopicNames().get().values())
            for (var partition : topic.partitions())
                leaders.put(new TopicPartition(topic.name(), partition.partition()), partition.leader() == null ? -1 : partition.leader().id());
        return leaders;
    }
}
