// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Everything at once that makes a stack hard to walk: interpreted, compiled and inlined frames, calls
 * into native code, intrinsics and stubs, lambdas and reflection, exceptions, classes that come and go
 * and undo what was compiled, collections, threads that live for a moment, contended locks, recursion.
 *
 * <p>Usage: Storm [SECONDS [WORKERS]]. Prints "ready" after a second of warming up and, when the seconds
 * are over, "done ROUNDS". Java 8.
 */
public final class Storm {
  static volatile long sink;
  static final AtomicLong ROUNDS = new AtomicLong();
  static final Object LOCK = new Object();
  static final Map<String, Long> SHARED = new HashMap<>();

  /** Loaded anew again and again, each time by a loader of its own. */
  public abstract static class Shape {
    public abstract double area(double size);
  }

  public static final class Square extends Shape {
    @Override
    public double area(double size) {
      return size * size;
    }
  }

  public static final class Circle extends Shape {
    @Override
    public double area(double size) {
      return 3.14159 * size * size;
    }
  }

  public static final class Diamond extends Shape {
    @Override
    public double area(double size) {
      return size * size / 2;
    }
  }

  private static final class Loader extends ClassLoader {
    Loader() {
      super(Storm.class.getClassLoader());
    }

    Class<?> again(Class<?> original) throws Exception {
      String file = original.getName().replace('.', '/') + ".class";
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (InputStream in = Storm.class.getClassLoader().getResourceAsStream(file)) {
        byte[] part = new byte[4096];
        for (int read = in.read(part); read > 0; read = in.read(part)) {
          bytes.write(part, 0, read);
        }
      }
      return defineClass(original.getName(), bytes.toByteArray(), 0, bytes.size());
    }
  }

  static void shapes(Random random) throws Exception {
    Class<?>[] kinds = {Square.class, Circle.class, Diamond.class};
    Class<?> kind = new Loader().again(kinds[random.nextInt(kinds.length)]);
    Shape shape = (Shape) kind.getDeclaredConstructor().newInstance();
    double sum = 0;
    for (int i = 0; i < 3000; i++) {
      sum += shape.area(i);
    }
    sink += (long) sum;
  }

  static void text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      text.append("{\"id\":").append(random.nextInt()).append(",\"name\":\"item ").append(i).append("\"}");
    }
    sink += text.toString().hashCode() + String.format("%08x %s", random.nextInt(), "format").length();
  }

  private static final Pattern WORDS = Pattern.compile("([a-z]+)-(\\d+)(?:,\\s*|$)");

  static void patterns(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      text.append("key-").append(random.nextInt(1000)).append(", ");
    }
    Matcher matcher = WORDS.matcher(text);
    while (matcher.find()) {
      sink += Integer.parseInt(matcher.group(2));
    }
  }

  static void collections(Random random) {
    Map<Integer, List<String>> groups = new TreeMap<>();
    for (int i = 0; i < 400; i++) {
      groups.computeIfAbsent(random.nextInt(40), key -> new ArrayList<>()).add("value " + i);
    }
    for (List<String> group : groups.values()) {
      Collections.sort(group, (a, b) -> b.compareTo(a));
    }
    sink += groups.toString().length();
  }

  static void streams(Random random) {
    int bound = 200 + random.nextInt(400);
    sink += IntStream.range(0, bound).filter(i -> i % 3 == 0).mapToObj(i -> "n" + i)
        .collect(Collectors.groupingBy(String::length, Collectors.counting())).size();
  }

  static int thrower(int depth) {
    if (depth == 0) {
      throw new IllegalStateException("at the bottom");
    }
    return thrower(depth - 1) + 1;
  }

  static void exceptions(Random random) {
    for (int i = 0; i < 20; i++) {
      try {
        thrower(random.nextInt(60));
      } catch (IllegalStateException e) {
        sink += e.getStackTrace().length;
      }
    }
  }

  static void natives(Random random) throws Exception {
    byte[] data = new byte[16 << 10];
    random.nextBytes(data);
    CRC32 crc = new CRC32();
    crc.update(data);
    Deflater deflater = new Deflater(1);
    deflater.setInput(data, 0, 8 << 10);
    deflater.finish();
    byte[] out = new byte[32 << 10];
    sink += deflater.deflate(out) + crc.getValue();
    deflater.end();
    sink += MessageDigest.getInstance("SHA-256").digest(data)[0];
    sink += new String(data, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.UTF_8).length;
  }

  static void numbers(Random random) {
    BigInteger number = new BigInteger(512, random);
    sink += number.modPow(BigInteger.valueOf(65537), BigInteger.ONE.shiftLeft(521).subtract(BigInteger.ONE)).bitCount();
    double sum = 0;
    for (int i = 0; i < 500; i++) {
      sum += Math.sin(i) * Math.pow(1.0001, i) + Math.log(i + 1.0);
    }
    sink += (long) sum;
  }

  static void arrays(Random random) {
    long[] values = new long[4000];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextLong();
    }
    long[] copy = Arrays.copyOf(values, values.length);
    Arrays.sort(copy);
    System.arraycopy(values, 0, copy, 1, values.length - 1);
    sink += copy[random.nextInt(copy.length)];
  }

  static void locks(Random random) {
    for (int i = 0; i < 50; i++) {
      synchronized (LOCK) {
        SHARED.merge("key " + random.nextInt(100), 1L, Long::sum);
      }
    }
  }

  static long recurse(int depth, long value) {
    return depth == 0 ? value : recurse(depth - 1, value * 31 + depth) ^ depth;
  }

  static void deep(Random random) {
    for (int i = 0; i < 50; i++) {
      sink += recurse(100 + random.nextInt(300), i);
    }
  }

  static void threads() throws InterruptedException {
    Thread thread = new Thread(() -> sink += recurse(50, 7), "moment-" + ROUNDS.get());
    thread.start();
    thread.join();
  }

  static void reflection() throws Exception {
    for (int i = 0; i < 30; i++) {
      sink += ((String) String.class.getMethod("concat", String.class).invoke("a", "b")).length();
    }
  }

  static void round(Random random) throws Exception {
    switch (random.nextInt(13)) {
      case 0: text(random); break;
      case 1: patterns(random); break;
      case 2: collections(random); break;
      case 3: streams(random); break;
      case 4: exceptions(random); break;
      case 5: natives(random); break;
      case 6: numbers(random); break;
      case 7: arrays(random); break;
      case 8: locks(random); break;
      case 9: deep(random); break;
      case 10: reflection(); break;
      case 11: shapes(random); break;
      default:
        if (random.nextInt(8) == 0) {
          threads();
        }
    }
    ROUNDS.incrementAndGet();
  }

  static void work(long seed, long endNanos) {
    Random random = new Random(seed);
    try {
      while (System.nanoTime() < endNanos) {
        round(random);
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 3600;
    int workers = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 4;
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      long seed = i;
      threads.add(new Thread(() -> work(seed, end), "storm-" + i));
      threads.get(i).start();
    }
    Thread.sleep(1000);
    System.out.println("ready");
    System.out.flush();
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println("done " + ROUNDS.get());
  }
}
