// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * What a sampler must live with in somebody else's JVM. A thread's name counts what it has done, so
 * that it can be seen from outside; a JVM that was hurt ends with 3.
 *
 * <p>Usage: Neighbours MODE [N]. Modes: "processes" starts one process after another ("spawned-7");
 * "overflow" overflows stacks ("overflow-7"); "redefine" redefines a class that is at work
 * ("redefined-7"; needs this class as -javaagent); "files" leaves N file descriptors free, and closes
 * all that it has opened, and says "closed", when it is given a line; "parked" has N parked threads
 * ("parked-7") and works in another; "busy" works in N threads; "faults" meets
 * null pointers, of which a thousand count as one ("caught-7"), and overflows stacks ("overflow-7"). Java 8.
 */
public final class Neighbours {
  static volatile double sink;
  static Instrumentation instrumentation;

  public static void premain(String options, Instrumentation given) {
    instrumentation = given;
  }

  /** Runs on a thread of its own, and ends the JVM if it fails. */
  interface Work {
    void run() throws Exception;
  }

  static void begin(String name, Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Throwable e) {
        e.printStackTrace();
        System.exit(3);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
  }

  static void count(String what, int number) {
    String name = what + "-" + number;
    if (name.length() > 15) {
      throw new IllegalStateException("the kernel would cut " + name); // and it would count anew
    }
    Thread.currentThread().setName(name);
  }

  static void processes() throws Exception {
    boolean small = new File("/bin/true").canExecute(); // a JVM's image may hold no other program
    String[] command = small ? new String[] {"/bin/true"}
        : new String[] {System.getProperty("java.home") + "/bin/java", "-version"};
    for (int i = 1;; i++) {
      int code = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(new File("/dev/null")).start().waitFor();
      if (code != 0) {
        throw new IllegalStateException("a process ended with " + code);
      }
      count("spawned", i);
    }
  }

  static double down(double x, long y) {
    return down(x * 1.0000001 + y, y + 1) + 1;
  }

  static void overflow() {
    Map<Object, Object> itself = new HashMap<>(); // to hash it is to hash it
    itself.put("self", itself);
    for (int i = 1;; i++) {
      try {
        sink = i % 2 == 0 ? down(i, i) : itself.hashCode();
        throw new IllegalStateException("a stack without an end");
      } catch (StackOverflowError e) {
        count("overflow", i);
      }
    }
  }

  static final class Box {
    int value;
  }

  static Box box;

  static int read(Box from) {
    return from.value; // a load that faults where the code is compiled
  }

  static void nulls() {
    for (int i = 1;; i++) {
      for (int j = 0; j < 1000; j++) {
        try {
          sink = read(box);
          throw new IllegalStateException("nothing has a value");
        } catch (NullPointerException e) {
          sink = j;
        }
      }
      count("caught", i);
    }
  }

  /** Redefined while it runs. */
  static final class Target {
    static double turn(double x) {
      for (int i = 0; i < 100_000; i++) {
        x = x * 1.0000001 + "version one".length();
      }
      return x;
    }

    static void spin() {
      for (int i = 0; i < 20; i++) {
        sink = turn(i);
      }
    }
  }

  static byte[] bytesOfTarget() throws IOException {
    byte[] bytes = new byte[1 << 16];
    int size = 0;
    try (InputStream in = Neighbours.class.getResourceAsStream("Neighbours$Target.class")) {
      for (int read = in.read(bytes); read > 0; read = in.read(bytes, size, bytes.length - size)) {
        size += read;
      }
    }
    return java.util.Arrays.copyOf(bytes, size);
  }

  static void redefine() throws Exception {
    byte[] one = bytesOfTarget();
    byte[] two = new String(one, StandardCharsets.ISO_8859_1).replace("version one", "version two")
        .getBytes(StandardCharsets.ISO_8859_1);
    for (int i = 1;; i++) {
      instrumentation.redefineClasses(new ClassDefinition(Target.class, i % 2 == 0 ? one : two));
      count("redefined", i);
      Thread.sleep(20);
    }
  }

  static void files(int free) throws Exception {
    List<FileInputStream> open = new ArrayList<>();
    try {
      while (true) {
        open.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      for (int i = 0; i < free; i++) {
        open.remove(open.size() - 1).close();
      }
    }
    say("ready");
    System.in.read();
    for (FileInputStream file : open) {
      file.close();
    }
    say("closed");
  }

  static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  static void work() {
    for (double x = 1;;) {
      for (int i = 0; i < 1_000_000; i++) {
        x = x * 1.0000001 + 0.5;
      }
      sink = x;
    }
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "processes":
        begin("spawned-0", Neighbours::processes);
        break;
      case "overflow":
        begin("overflow-0", Neighbours::overflow);
        break;
      case "redefine":
        begin("spinning", () -> {
          while (true) {
            Target.spin();
          }
        });
        begin("redefined-0", Neighbours::redefine);
        break;
      case "busy":
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
          begin("busy-" + i, Neighbours::work);
        }
        break;
      case "faults":
        begin("caught-0", Neighbours::nulls);
        begin("overflow-0", Neighbours::overflow);
        break;
      case "files":
        files(Integer.parseInt(arguments[1]));
        break;
      case "parked":
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
          begin("parked-" + i, () -> {
            while (true) {
              LockSupport.park();
            }
          });
        }
        begin("working", Neighbours::work);
        break;
      default:
        throw new IllegalArgumentException(arguments[0]);
    }
    if (!arguments[0].equals("files")) {
      say("ready");
    }
    Thread.sleep(Long.MAX_VALUE);
  }
}
