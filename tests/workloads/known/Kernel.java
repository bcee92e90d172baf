// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * One thread, "kernel", that is in the kernel for known reasons: compute() computes, fault() touches pages of a
 * file that has just been emptied, call() reads from /dev/zero. Each takes some 0.3 to 20 ms at a time.
 *
 * <p>Usage: Kernel FOLDER, where a file of 32 MiB has room in memory. Prints "ready". A line on standard input
 * names what the thread does from then on, or "all" of it in turn; it is answered with the same line once that
 * has begun. Java 8.
 */
public final class Kernel {
  private static final int PAGE = 4096;
  private static final int PAGES = 8192;
  private static volatile String wanted = "compute";
  private static volatile String begun = "";
  static volatile double sink;

  private static RandomAccessFile file;
  private static MappedByteBuffer memory;
  private static FileChannel zeroes;
  private static final ByteBuffer BUFFER = ByteBuffer.allocateDirect(1 << 20);

  static double compute(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static void fault(int pages) {
    for (int i = 0; i < pages; i++) {
      memory.put(i * PAGE, (byte) 1);
    }
  }

  static void call(int times) throws IOException {
    for (int i = 0; i < times; i++) {
      BUFFER.clear();
      zeroes.read(BUFFER);
    }
  }

  /** The next touch of each page is a fault again. */
  static void renew() throws IOException {
    file.setLength(0);
    file.setLength((long) PAGE * PAGES);
  }

  private static void work() throws IOException {
    int random = 1;
    while (true) {
      String what = wanted;
      begun = what;
      random = random * 1664525 + 1013904223;
      int length = (random >>> 24) + 5; // of 260
      if (what.equals("compute") || what.equals("all")) {
        sink = compute(sink, length * 30_000);
      }
      if (what.equals("fault") || what.equals("all")) {
        fault(length * 31);
        renew();
      }
      if (what.equals("call") || what.equals("all")) {
        call(length);
      }
    }
  }

  public static void main(String[] arguments) throws IOException {
    File path = File.createTempFile("jprof-kernel", null, new File(arguments[0]));
    file = new RandomAccessFile(path, "rw");
    path.delete();
    renew();
    memory = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, (long) PAGE * PAGES);
    zeroes = new RandomAccessFile("/dev/zero", "r").getChannel();
    Thread worker = new Thread(() -> {
      try {
        work();
      } catch (Throwable e) {
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
      }
    }, "kernel");
    worker.setDaemon(true);
    worker.start();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    System.out.flush();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      wanted = line;
      while (!begun.equals(line)) {
        Thread.yield();
      }
      System.out.println(line);
      System.out.flush();
    }
  }
}
