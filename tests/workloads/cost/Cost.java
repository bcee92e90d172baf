// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * Work that measures itself, for bench/overhead. Prints "ready" and answers each line on its standard
 * input by one line.
 *
 * <p>Usage: Cost MODE [N]. Modes: "work" counts the rounds of N threads that compute without end and
 * answers "ROUNDS CPU_NS", both since the start; "stalls" runs one VM operation after another beside N
 * threads that compute and answers "NUMBER P99_NS MAX_NS" of those since the last line; "deep" works
 * below 250 activations that are another sequence of two methods each time, on N threads; "large" has
 * 10 000 classes of one method and N sleeping threads, and computes.
 */
public final class Cost {
  static volatile double sink;

  private static final class Worker extends Thread {
    volatile long rounds;

    Worker(int number) {
      super("worker-" + number);
      setDaemon(true);
    }

    @Override
    public void run() {
      double x = getId();
      while (true) {
        for (int i = 0; i < 2000; i++) {
          x = x * 1.0000001 + 0.5;
        }
        sink = x;
        rounds++;
      }
    }
  }

  private static BufferedReader input() {
    return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
  }

  private static void say(String text) {
    System.out.println(text);
    System.out.flush();
  }

  static void work(int count) throws Exception {
    Worker[] workers = new Worker[count];
    for (int i = 0; i < count; i++) {
      workers[i] = new Worker(i);
      workers[i].start();
    }
    Thread.sleep(1000);
    ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    BufferedReader in = input();
    say("ready");
    while (in.readLine() != null) {
      long rounds = 0;
      long cpu = 0;
      for (Worker worker : workers) {
        // Rounds are long against the time between these two.
        rounds += worker.rounds;
        cpu += beans.getThreadCpuTime(worker.getId());
      }
      say(rounds + " " + cpu);
    }
  }

  private static long[] times = new long[1 << 20];
  private static int number;

  private static synchronized void keep(long nanos) {
    if (number < times.length) {
      times[number++] = nanos;
    }
  }

  private static synchronized String stallsSinceThen() {
    long[] sorted = Arrays.copyOf(times, number);
    Arrays.sort(sorted);
    number = 0;
    return sorted.length == 0 ? "0 0 0"
        : sorted.length + " " + sorted[sorted.length * 99 / 100] + " " + sorted[sorted.length - 1];
  }

  /** A thread's ThreadInfo with its stack takes a VM operation, VM_ThreadDump, at a safepoint of all threads. */
  static void stalls(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      new Worker(i).start();
    }
    final long asked = Thread.currentThread().getId();
    Thread.sleep(500);
    ThreadMXBean beans = ManagementFactory.getThreadMXBean();
    Thread asker = new Thread(() -> {
      while (true) {
        long begin = System.nanoTime();
        sink = beans.getThreadInfo(asked, 4).getStackTrace().length;
        keep(System.nanoTime() - begin);
        try {
          Thread.sleep(0, 200_000);
        } catch (InterruptedException e) {
          return;
        }
      }
    }, "asker");
    asker.setDaemon(true);
    asker.start();
    Thread.sleep(1000);
    stallsSinceThen();
    BufferedReader in = input();
    say("ready");
    while (in.readLine() != null) {
      say(stallsSinceThen());
    }
  }

  static double left(int depth, long path) {
    return depth == 0 ? bottom() : ((path >>> (depth & 63)) & 1) == 0 ? left(depth - 1, path) : right(depth - 1, path);
  }

  static double right(int depth, long path) {
    return depth == 0 ? bottom() : ((path >>> (depth & 63)) & 1) == 0 ? left(depth - 1, path) : right(depth - 1, path);
  }

  static double bottom() {
    double x = 1;
    for (int i = 0; i < 200_000; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static void deep(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      final long seed = i;
      Thread thread = new Thread(null, () -> {
        long path = seed;
        while (true) {
          path = path * 6364136223846793005L + 1442695040888963407L;
          sink = left(250, path ^ path >>> 32);
        }
      }, "deep-" + i, 8 << 20);
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(1000);
    say("ready");
    while (System.in.read() >= 0) {
      Thread.sleep(1);
    }
  }

  /** One method of its own, loaded again by loader after loader. */
  public static final class Copied {
    public static int work(int x) {
      return x * 31 + 7;
    }
  }

  private static final class Loader extends ClassLoader {
    Class<?> define(byte[] bytes) {
      return defineClass("Cost$Copied", bytes, 0, bytes.length);
    }
  }

  static void large(int count) throws Exception {
    byte[] bytes = new byte[1 << 16];
    int size = 0;
    try (InputStream in = Cost.class.getResourceAsStream("Cost$Copied.class")) {
      for (int read = in.read(bytes); read > 0; read = in.read(bytes, size, bytes.length - size)) {
        size += read;
      }
    }
    Class<?>[] classes = new Class<?>[10_000];
    for (int i = 0; i < classes.length; i++) {
      classes[i] = new Loader().define(Arrays.copyOf(bytes, size));
      classes[i].getMethod("work", int.class); // links and initialises it
    }
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < count; i++) {
      Thread thread = new Thread(null, () -> {
        try {
          never.await();
        } catch (InterruptedException e) {
          return;
        }
      }, "sleeper-" + i, 256 << 10);
      thread.setDaemon(true);
      thread.start();
    }
    say("ready");
    new Worker(0).run();
    sink = classes.length;
  }

  public static void main(String[] arguments) throws Exception {
    int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
    switch (arguments[0]) {
      case "work": work(count); break;
      case "stalls": stalls(count); break;
      case "deep": deep(count); break;
      case "large": large(count); break;
      default: throw new IllegalArgumentException(arguments[0]);
    }
  }
}
