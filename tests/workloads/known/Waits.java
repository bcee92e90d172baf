// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * 64 virtual threads (JDK 21 and later), or as many as the argument says, of 30 frames each, f00 to f29. The innermost sleeps for
 * a millisecond, so that the frames are put into the heap, and works; then each works a little as its callee has returned, so that
 * they come back one after the other. Prints "ready", and runs until it is killed.
 */
public final class Waits implements Runnable {
  static volatile double sink;

  @Override
  public void run() {
    for (int round = 0; ; round++) {
      f00(round);
    }
  }

  static void f00(int round) {
    f01(round);
    after(round + 0);
  }

  static void f01(int round) {
    f02(round);
    after(round + 1);
  }

  static void f02(int round) {
    f03(round);
    after(round + 2);
  }

  static void f03(int round) {
    f04(round);
    after(round + 3);
  }

  static void f04(int round) {
    f05(round);
    after(round + 4);
  }

  static void f05(int round) {
    f06(round);
    after(round + 5);
  }

  static void f06(int round) {
    f07(round);
    after(round + 6);
  }

  static void f07(int round) {
    f08(round);
    after(round + 7);
  }

  static void f08(int round) {
    f09(round);
    after(round + 8);
  }

  static void f09(int round) {
    f10(round);
    after(round + 9);
  }

  static void f10(int round) {
    f11(round);
    after(round + 10);
  }

  static void f11(int round) {
    f12(round);
    after(round + 11);
  }

  static void f12(int round) {
    f13(round);
    after(round + 12);
  }

  static void f13(int round) {
    f14(round);
    after(round + 13);
  }

  static void f14(int round) {
    f15(round);
    after(round + 14);
  }

  static void f15(int round) {
    f16(round);
    after(round + 15);
  }

  static void f16(int round) {
    f17(round);
    after(round + 16);
  }

  static void f17(int round) {
    f18(round);
    after(round + 17);
  }

  static void f18(int round) {
    f19(round);
    after(round + 18);
  }

  static void f19(int round) {
    f20(round);
    after(round + 19);
  }

  static void f20(int round) {
    f21(round);
    after(round + 20);
  }

  static void f21(int round) {
    f22(round);
    after(round + 21);
  }

  static void f22(int round) {
    f23(round);
    after(round + 22);
  }

  static void f23(int round) {
    f24(round);
    after(round + 23);
  }

  static void f24(int round) {
    f25(round);
    after(round + 24);
  }

  static void f25(int round) {
    f26(round);
    after(round + 25);
  }

  static void f26(int round) {
    f27(round);
    after(round + 26);
  }

  static void f27(int round) {
    f28(round);
    after(round + 27);
  }

  static void f28(int round) {
    f29(round);
    after(round + 28);
  }

  static void f29(int round) {
    waits();
    after(round + 29);
  }

  static void waits() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    work(20);
  }

  static void after(int which) {
    if (which % 5 == 0) {
      work(2);
    } else {
      sink += which;
    }
  }

  static void work(int times) {
    double x = 1;
    for (int i = 0; i < times * 1000; i++) {
      x = x * 1.0000001 + 0.5;
    }
    sink = x;
  }

  public static void main(String[] arguments) throws Exception {
    int threads = arguments.length == 0 ? 64 : Integer.parseInt(arguments[0]);
    for (int i = 0; i < threads; i++) {
      // By name: this is compiled for Java 8.
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Waits());
    }
    System.out.println("ready");
    Thread.sleep(Long.MAX_VALUE);
  }
}
