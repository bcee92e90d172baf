// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;

/**
 * Threads that work in turns, in groups, beside others that wait for ever and came first. With each turn one
 * thread more begins, which works until the next one.
 *
 * <p>Usage: Turns IDLE GROUPS THREADS. Prints "ready" when all threads wait. A line on standard input with a
 * number has that group work from then on, "all" has every group. Each answers with a line.
 */
public final class Turns {
  private static final Object LOCK = new Object();
  static volatile int turn; // how many there have been; the lock's
  static volatile int group = -1; // that works; the lock's
  static final int ALL = -2;
  static volatile double sink;

  static double work(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static void workWhile(int ofTurn) {
    double x = 1;
    while (turn == ofTurn) {
      x = work(x, 20_000);
    }
    sink = x;
  }

  static void worker(int ofGroup) {
    while (true) {
      int now;
      synchronized (LOCK) {
        while (group != ofGroup && group != ALL) {
          await(LOCK);
        }
        now = turn;
      }
      workWhile(now);
    }
  }

  static void idle() {
    Object never = new Object();
    synchronized (never) {
      while (true) {
        await(never);
      }
    }
  }

  static void await(Object event) {
    try {
      event.wait();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  static void start(Runnable what, String name) {
    Thread thread = new Thread(null, what, name, 64 << 10);
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] arguments) throws IOException {
    int idle = Integer.parseInt(arguments[0]);
    int groups = Integer.parseInt(arguments[1]);
    int threads = Integer.parseInt(arguments[2]);
    for (int i = 0; i < idle; i++) {
      start(Turns::idle, "idle " + i);
    }
    for (int i = 0; i < groups * threads; i++) {
      int ofGroup = i / threads;
      start(() -> worker(ofGroup), "turn " + ofGroup + "-" + i % threads);
    }
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    System.out.flush();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      int now;
      synchronized (LOCK) {
        now = ++turn;
        group = line.equals("all") ? ALL : Integer.parseInt(line);
        LOCK.notifyAll();
      }
      start(() -> workWhile(now), "born " + now);
      System.out.println("turn " + now);
      System.out.flush();
    }
  }
}
