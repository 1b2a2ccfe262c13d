// Writes dead letters as Java's own client does, for what no other client can prove: transactions of several
// producers that overlap on one partition, and each of its compression codecs. Prints one line for every
// record that was committed: offset, timestamp, key, value and header in base64, "-" for null.

import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class DeadLetterWriter {
    /** As the producer's batches are; a transaction has several. */
    private static final int MAX_RECORDS = 6;
    private static final byte[][] KEYS = {null, {}, {0, 0, 0, 0}, {0, 0, 0, 1}, {'k', 'e', 'y'}};

    public static void main(String[] args) throws Exception {
        String brokers = args[1];
        String topic = args[2];
        switch (args[0]) {
            // BROKERS TOPIC PRODUCERS TRANSACTIONS: half of the transactions are committed.
            case "transactions" -> writeTransactions(brokers, topic, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
            // BROKERS TOPIC CODEC RECORDS
            case "compressed" -> writeCompressed(brokers, topic, args[3], Integer.parseInt(args[4]));
            default -> throw new IllegalArgumentException(args[0]);
        }
    }

    private static void writeTransactions(String brokers, String topic, int producers, int transactions) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(producers);
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            int seed = i;
            Callable<Void> writing = () -> {
                try (var producer = connect(brokers, Map.of("transactional.id", topic + "-" + seed))) {
                    producer.initTransactions();
                    writeTransactions(producer, topic, new Random(seed), transactions / producers);
                }
                return null;
            };
            ends.add(threads.submit(writing));
        }
        threads.shutdown();
        for (Future<?> end : ends) end.get();
    }

    private static void writeTransactions(KafkaProducer<byte[], byte[]> producer, String topic, Random random, int count)
            throws Exception {
        for (int i = 0; i < count; i++) {
            boolean commit = i % 2 == 0;
            List<Sent> sent = new ArrayList<>();
            producer.beginTransaction();
            for (int records = 1 + random.nextInt(MAX_RECORDS); records > 0; records--) {
                sent.add(send(producer, topic, random, (commit ? "committed " : "aborted ") + i));
                // Flushed, the record stands in the log before others end their transactions.
                if (random.nextBoolean()) producer.flush();
            }
            // An abort drops what has not been sent, and then there would be nothing to filter.
            producer.flush();
            if (random.nextInt(4) == 0) Thread.sleep(random.nextInt(20));
            if (commit) producer.commitTransaction();
            else producer.abortTransaction();
            if (commit) print(sent);
        }
    }

    private static void writeCompressed(String brokers, String topic, String codec, int count) throws Exception {
        Random random = new Random(count);
        // Large batches: a codec then works in several blocks.
        Map<String, Object> config = Map.of("compression.type", codec, "linger.ms", 100, "batch.size", 500_000);
        try (var producer = connect(brokers, config)) {
            List<Sent> sent = new ArrayList<>();
            for (int i = 0; i < count; i++) sent.add(send(producer, topic, random, codec + " " + "again and ".repeat(random.nextInt(200)) + i));
            producer.flush();
            print(sent);
        }
    }

    private record Sent(byte[] key, byte[] value, byte[] header, Future<RecordMetadata> metadata) {}

    private static Sent send(KafkaProducer<byte[], byte[]> producer, String topic, Random random, String text) {
        byte[] key = KEYS[random.nextInt(KEYS.length)];
        byte[] noise = new byte[random.nextInt(50)];
        random.nextBytes(noise);
        byte[] value = random.nextInt(10) == 0 ? null : (text + Base64.getEncoder().encodeToString(noise)).getBytes();
        var letter = new ProducerRecord<>(topic, 0, key, value);
        letter.headers().add("noise", noise);
        return new Sent(key, value, noise, producer.send(letter));
    }

    private static KafkaProducer<byte[], byte[]> connect(String brokers, Map<String, Object> more) {
        var config = new java.util.HashMap<String, Object>(more);
        config.put("bootstrap.servers", brokers);
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static synchronized void print(List<Sent> records) throws Exception {
        for (Sent record : records) {
            RecordMetadata place = record.metadata.get();
            String bytes = base64(record.key) + " " + base64(record.value) + " " + base64(record.header);
            System.out.println(place.offset() + " " + place.timestamp() + " " + bytes);
        }
    }

    private static String base64(byte[] bytes) {
        return bytes == null ? "-" : "=" + Base64.getEncoder().encodeToString(bytes);
    }
}
