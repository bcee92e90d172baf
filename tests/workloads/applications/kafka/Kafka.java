// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Collections;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Exit;

/** A broker in KRaft mode with a producer and a consumer of its own, all in this JVM. <pre>Kafka FOLDER</pre> */
public final class Kafka {
  private static final String TOPIC = "orders";
  private static final int EACH_SECOND = 20_000; // what is kept on disk is bounded by the broker, this bounds what is written

  private Kafka() {}

  public static void main(String[] args) throws Exception {
    Path folder = Paths.get(args[0]);
    int broker = freePort();
    String config =
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:PEER\n"
            + "listeners=PLAINTEXT://127.0.0.1:PORT,CONTROLLER://127.0.0.1:PEER\ncontroller.listener.names=CONTROLLER\n"
            + "log.dirs=LOGS\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=1\nnum.partitions=2\n"
            + "log.segment.bytes=4194304\nlog.retention.bytes=8388608\nlog.retention.check.interval.ms=5000\n"
            + "log.segment.delete.delay.ms=1000\ngroup.initial.rebalance.delay.ms=0\n";
    Path file = folder.resolve("server.properties");
    String text =
        config
            .replace("PEER", Integer.toString(freePort()))
            .replace("PORT", Integer.toString(broker))
            .replace("LOGS", folder.resolve("logs").toString());
    Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    PrintStream out = System.out;
    System.setOut(System.err); // what the broker's tools say is no answer of ours
    format(file);
    Thread server = new Thread(() -> kafka.Kafka.main(new String[] {file.toString()}), "broker");
    server.setDaemon(true);
    server.start();
    String address = "127.0.0.1:" + broker;
    Thread consumer = new Thread(() -> consume(address), "consumer");
    consumer.setDaemon(true);
    consumer.start();
    KafkaProducer<String, String> producer = producer(address);
    Random random = new Random(919);
    producer.send(record(random)).get(); // the broker is up
    while (Harness.DONE.sum() == 0) {
      Thread.sleep(10);
    }
    Thread sender = new Thread(() -> produce(producer, random), "producer");
    sender.setDaemon(true);
    sender.start();
    System.setOut(out);
    Harness.serve();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private static void format(Path file) {
    Exit.setExitProcedure(
        (code, message) -> {
          throw new IllegalStateException(code + " " + message);
        });
    try {
      kafka.tools.StorageTool.main(new String[] {"format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", file.toString()});
    } catch (IllegalStateException end) {
      if (!end.getMessage().startsWith("0 ")) {
        throw end;
      }
    } finally {
      Exit.resetExitProcedure();
    }
  }

  private static KafkaProducer<String, String> producer(String address) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    properties.put("compression.type", "lz4");
    properties.put("linger.ms", "5");
    return new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
  }

  private static ProducerRecord<String, String> record(Random random) {
    int number = random.nextInt(1000);
    return new ProducerRecord<>(TOPIC, "customer " + number, "{\"order\": " + random.nextLong() + ", \"pieces\": " + number + "}");
  }

  private static void produce(KafkaProducer<String, String> producer, Random random) {
    try {
      for (long begin = System.nanoTime(), sent = 0; true; ++sent) {
        producer.send(record(random));
        long early = begin + sent * 1_000_000_000 / EACH_SECOND - System.nanoTime();
        if (early > 5_000_000) {
          Thread.sleep(early / 1_000_000);
        }
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  private static void consume(String address) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    properties.put("group.id", "shop");
    properties.put("auto.offset.reset", "earliest");
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(Collections.singleton(TOPIC));
      while (true) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
          Harness.DONE.add(record.value().isEmpty() ? 0 : 1);
        }
      }
    }
  }
}
