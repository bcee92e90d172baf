// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * What a service does, mixed: text, regular expressions, collections, sorting with comparators,
 * streams, compression through JNI, big copies and fills (stubs), exceptions, reflection, megamorphic
 * and interface calls, locks, recursion, allocation. Usage: Mixed [THREADS]. Prints "ready".
 */
public final class Mixed {
  static volatile Object sink;
  static final Map<String, Integer> SHARED = new ConcurrentHashMap<String, Integer>();
  static final Pattern WORDS = Pattern.compile("([a-z]+)-(\\d+)(?:;|$)");

  interface Shape {
    double area(double x);
  }

  static final class Square implements Shape {
    public double area(double x) {
      return x * x;
    }
  }

  static final class Circle implements Shape {
    public double area(double x) {
      return Math.sin(x) * x;
    }
  }

  static final class Cube implements Shape {
    public double area(double x) {
      return Math.pow(x, 1.5) + Math.sqrt(x);
    }
  }

  static final Shape[] SHAPES = {new Square(), new Circle(), new Cube()};

  static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      text.append((char) ('a' + random.nextInt(26))).append('-').append(random.nextInt(1000)).append(';');
    }
    return text.toString();
  }

  static int expressions(String text) {
    int sum = 0;
    Matcher matcher = WORDS.matcher(text);
    while (matcher.find()) {
      sum += Integer.parseInt(matcher.group(2));
    }
    return sum;
  }

  static int collections(Random random) {
    Map<String, List<Integer>> byName = new HashMap<String, List<Integer>>();
    Map<Integer, String> sorted = new TreeMap<Integer, String>();
    for (int i = 0; i < 400; i++) {
      String name = "n" + random.nextInt(50);
      byName.computeIfAbsent(name, key -> new ArrayList<Integer>()).add(i);
      sorted.put(random.nextInt(), name);
      SHARED.merge(name, 1, Integer::sum);
    }
    List<String> names = new ArrayList<String>(sorted.values());
    Collections.sort(names, (a, b) -> b.compareTo(a));
    return names.stream().filter(n -> n.length() > 2).mapToInt(String::hashCode).sum() + byName.size();
  }

  static int compression(byte[] data) throws Exception {
    Deflater deflater = new Deflater(3);
    deflater.setInput(data);
    deflater.finish();
    byte[] packed = new byte[data.length * 2];
    int size = deflater.deflate(packed);
    deflater.end();
    Inflater inflater = new Inflater();
    inflater.setInput(packed, 0, size);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] part = new byte[1024];
    for (int n = inflater.inflate(part); n > 0; n = inflater.inflate(part)) {
      out.write(part, 0, n);
    }
    inflater.end();
    CRC32 crc = new CRC32();
    crc.update(out.toByteArray());
    return (int) crc.getValue();
  }

  static int copies(byte[] from) {
    byte[] to = new byte[from.length * 8];
    for (int i = 0; i < 8; i++) {
      System.arraycopy(from, 0, to, i * from.length, from.length);
    }
    long[] numbers = new long[4096];
    Arrays.fill(numbers, 7);
    return Arrays.hashCode(to) + (Arrays.equals(numbers, numbers.clone()) ? 1 : 0);
  }

  static int fail(int depth) {
    if (depth == 0) {
      throw new IllegalStateException("expected");
    }
    return fail(depth - 1) + 1;
  }

  static int exceptions(int rounds) {
    int caught = 0;
    for (int i = 0; i < rounds; i++) {
      try {
        fail(10 + i % 30);
      } catch (IllegalStateException e) {
        caught += e.getStackTrace().length;
      }
    }
    return caught;
  }

  public static int reflected(int x) {
    return x * 31;
  }

  static int reflection(Method method) throws Exception {
    int sum = 0;
    for (int i = 0; i < 300; i++) {
      sum += (Integer) method.invoke(null, i);
    }
    return sum;
  }

  static double shapes() {
    double sum = 0;
    for (int i = 0; i < 3000; i++) {
      sum += SHAPES[i % SHAPES.length].area(i);
    }
    return sum;
  }

  static synchronized int locked(int rounds) {
    int x = 1;
    for (int i = 0; i < rounds; i++) {
      x = x * 31 + i;
    }
    return x;
  }

  static int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
  }

  static void work(long seed) {
    try {
      Random random = new Random(seed);
      Method method = Mixed.class.getMethod("reflected", int.class);
      for (int round = 0; ; round++) {
        String text = text(random);
        byte[] bytes = text.getBytes("UTF-8");
        switch (random.nextInt(9)) {
          case 0: sink = expressions(text); break;
          case 1: sink = collections(random); break;
          case 2: sink = compression(bytes); break;
          case 3: sink = copies(bytes); break;
          case 4: sink = exceptions(20); break;
          case 5: sink = reflection(method); break;
          case 6: sink = shapes(); break;
          case 7: sink = locked(2000); break;
          default: sink = fibonacci(12 + round % 8); break;
        }
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] arguments) {
    int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2;
    for (int i = 1; i < threads; i++) {
      final long seed = i;
      Thread thread = new Thread(() -> work(seed), "mixed-worker-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    System.out.flush();
    work(0);
  }
}
