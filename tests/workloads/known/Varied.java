// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.math.BigInteger;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.Deflater;

/**
 * Three threads that do what programs do (sort, hash, format, match, pack, search), each time one thing by chance: what
 * a capture of it shows is the same at any time, apart from chance.
 *
 * <p>Usage: Varied SORTS. Sorting runs SORTS times each time. Prints "ready" after 15 seconds, when everything
 * is compiled, and runs until it is killed.
 */
public final class Varied {
  static volatile Object sink;
  static final Pattern NUMBER = Pattern.compile("(\\d+)-(\\w+)");

  static void sort(Random random) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      words.add(Integer.toString(random.nextInt(), 36));
    }
    Collections.sort(words);
    sink = words;
  }

  static void count(Random random) {
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < 800; i++) {
      counts.merge("key" + random.nextInt(200), 1, Integer::sum);
    }
    sink = counts;
  }

  static void index(Random random) {
    TreeMap<Long, Long> tree = new TreeMap<>();
    for (int i = 0; i < 600; i++) {
      tree.put(random.nextLong() >>> 40, (long) i);
    }
    sink = tree.subMap(1000L, 1000000L).size();
  }

  static void report(Random random) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      out.append(String.format("%5d %-8s %.3f%n", random.nextInt(1000), "row" + i, random.nextDouble()));
    }
    sink = out.toString();
  }

  static void match(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      text.append(random.nextInt(10000)).append("-item ").append(' ');
    }
    sink = NUMBER.matcher(text).replaceAll("$2-$1");
  }

  static void digest(Random random) throws Exception {
    byte[] bytes = new byte[20000];
    random.nextBytes(bytes);
    sink = MessageDigest.getInstance("SHA-256").digest(bytes);
  }

  static void pack(Random random) {
    byte[] bytes = new byte[12000];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) random.nextInt(12);
    }
    Deflater deflater = new Deflater();
    deflater.setInput(bytes);
    deflater.finish();
    sink = deflater.deflate(new byte[16000]);
    deflater.end();
  }

  static void power(Random random) {
    sink = new BigInteger(256, random).modPow(new BigInteger(64, random), BigInteger.ONE.shiftLeft(255).subtract(BigInteger.TEN));
  }

  static void search(Random random) {
    int[] distance = new int[3600];
    Arrays.fill(distance, -1);
    ArrayDeque<Integer> queue = new ArrayDeque<>();
    queue.add(random.nextInt(distance.length));
    distance[queue.peek()] = 0;
    while (!queue.isEmpty()) {
      int at = queue.poll();
      for (int next : new int[] {at - 1, at + 1, at - 60, at + 60}) {
        if (next >= 0 && next < distance.length && distance[next] < 0) {
          distance[next] = distance[at] + 1;
          queue.add(next);
        }
      }
    }
    sink = distance;
  }

  static void stream(Random random) {
    sink = random.ints(500).boxed().filter(n -> n % 3 != 0).map(n -> "n" + n).collect(Collectors.groupingBy(String::length));
  }

  static void work(Random random, int sorts) throws Exception {
    switch (random.nextInt(10)) {
      case 0:
        for (int i = 0; i < sorts; i++) {
          sort(random);
        }
        break;
      case 1: count(random); break;
      case 2: index(random); break;
      case 3: report(random); break;
      case 4: match(random); break;
      case 5: digest(random); break;
      case 6: pack(random); break;
      case 7: power(random); break;
      case 8: search(random); break;
      default: stream(random); break;
    }
  }

  static void run(long seed, int sorts) {
    Random random = new Random(seed);
    try {
      while (true) {
        work(random, sorts);
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  public static void main(String[] arguments) throws Exception {
    int sorts = Integer.parseInt(arguments[0]);
    for (int i = 0; i < 3; i++) {
      long seed = i;
      new Thread(() -> run(seed, sorts), "varied-" + i).start();
    }
    Thread.sleep(15_000);
    System.out.println("ready");
    System.out.flush();
  }
}
