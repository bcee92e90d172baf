// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/** Works in two virtual threads (JDK 21 and later). Prints "ready", and runs until it is killed. */
public final class Virtual implements Runnable {
  static volatile double sink;

  @Override
  public void run() {
    while (true) {
      work();
      Thread.yield();
    }
  }

  static void work() {
    double x = 1;
    for (int i = 0; i < 100000; i++) {
      x = x * 1.0000001 + 0.5;
    }
    sink = x;
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 2; i++) {
      // By name: this is compiled for Java 8.
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Virtual());
    }
    System.out.println("ready");
    Thread.sleep(Long.MAX_VALUE);
  }
}
