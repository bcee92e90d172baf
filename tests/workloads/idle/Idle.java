// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/** Says "ready" and waits: a JVM to attach to. With -Dlong.stop its shutdown takes minutes. Compiled for Java 8. */
public final class Idle {
  public static void main(String[] arguments) throws Exception {
    if (Boolean.getBoolean("long.stop")) {
      Runtime.getRuntime().addShutdownHook(new Thread(Idle::stopSlowly));
    }
    System.out.println("ready");
    System.out.flush();
    while (System.in.read() >= 0) {
      // The one who started it closes standard input to end it.
    }
  }

  private static void stopSlowly() {
    System.out.println("stopping");
    System.out.flush();
    try {
      Thread.sleep(300_000);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }
}
