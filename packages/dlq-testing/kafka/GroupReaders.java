// Consumers of every protocol, all in one process: what the look at consumer groups sees of them is tested with these.
// Arguments: BROKERS KIND:GROUP:TOPIC …. A line "stop GROUP" on standard input ends one of them, its end ends all.
// Prints "read GROUP OFFSET" when the group has committed, or acknowledged, past a record; a silent one never commits.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class GroupReaders {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Map<String, Thread> READERS = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        String brokers = args[0];
        for (int i = 1; i < args.length; i++) {
            String[] reader = args[i].split(":");
            String group = reader[1];
            Thread thread = new Thread(() -> {
                try {
                    read(brokers, reader[0], group, reader[2]);
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
            READERS.put(group, thread);
            thread.start();
        }
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Thread thread = READERS.remove(line.substring("stop ".length()));
            end(thread);
            System.out.println(line);
        }
        for (Thread thread : READERS.values()) end(thread);
    }

    /** Readers look between two polls whether they were ended, and leave their group properly. */
    private static final Map<Thread, Boolean> ENDED = new ConcurrentHashMap<>();

    private static void end(Thread thread) throws InterruptedException {
        ENDED.put(thread, true);
        thread.join();
    }

    private static boolean goesOn() {
        return !ENDED.containsKey(Thread.currentThread());
    }

    private static void read(String brokers, String kind, String group, String topic) throws Exception {
        if (kind.equals("share")) {
            readShared(brokers, group, topic);
            return;
        }
        var config = configOf(brokers, group);
        config.put("enable.auto.commit", false);
        config.put("auto.offset.reset", "earliest");
        config.put("group.protocol", kind.equals("consumer") ? "consumer" : "classic");
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            if (kind.equals("assigned")) consumer.assign(List.of(new TopicPartition(topic, 0)));
            else consumer.subscribe(List.of(topic));
            while (goesOn()) {
                var records = consumer.poll(POLL);
                if (records.isEmpty()) continue;
                if (!kind.equals("silent")) consumer.commitSync();
                for (var record : records) print(group, record.offset());
            }
        }
    }

    private static void readShared(String brokers, String group, String topic) throws Exception {
        // A share group begins at the end of the log unless its own configuration says otherwise.
        try (var admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            var of = new ConfigResource(ConfigResource.Type.GROUP, group);
            var earliest = new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(of, List.of(earliest))).all().get();
        }
        try (var consumer = new KafkaShareConsumer<>(configOf(brokers, group), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(topic));
            while (goesOn()) {
                var records = consumer.poll(POLL);
                // Acknowledges all of them.
                consumer.commitSync();
                for (var record : records) print(group, record.offset());
            }
        }
    }

    private static Map<String, Object> configOf(String brokers, String group) {
        var config = new HashMap<String, Object>();
        config.put("bootstrap.servers", brokers);
        config.put("group.id", group);
        config.put("fetch.max.wait.ms", 100);
        return config;
    }

    private static synchronized void print(String group, long offset) {
        System.out.println("read " + group + " " + offset);
    }
}
