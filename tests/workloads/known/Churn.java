// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;

/**
 * Generates, runs and drops classes without end, so that their memory is given to others while it is
 * being sampled. Class Made7 has the one static method work7(int), a loop of some milliseconds; with the
 * argument "callers" it calls burn(int) instead, often enough to be compiled. Prints "ready".
 */
public final class Churn {
  /** A loader of one class, collected with it. */
  private static final class Loader extends ClassLoader {
    Class<?> define(String name, byte[] bytes) {
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  static void utf8(DataOutputStream out, String text) throws IOException {
    out.writeByte(1);
    out.writeUTF(text);
  }

  /** A class file of version 49, which needs no stack maps (JVMS 4). */
  static byte[] make(String name, String method, boolean calls) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(0xCAFEBABE);
    out.writeInt(49);
    out.writeShort(14);
    utf8(out, name); // 1
    out.writeByte(7);
    out.writeShort(1); // 2: this class
    utf8(out, "java/lang/Object"); // 3
    out.writeByte(7);
    out.writeShort(3); // 4: its parent
    utf8(out, method); // 5
    utf8(out, "(I)I"); // 6
    utf8(out, "Code"); // 7
    utf8(out, "Churn"); // 8
    out.writeByte(7);
    out.writeShort(8); // 9
    utf8(out, "burn"); // 10
    out.writeByte(12);
    out.writeShort(10);
    out.writeShort(6); // 11: burn(I)I
    out.writeByte(10);
    out.writeShort(9);
    out.writeShort(11); // 12: Churn.burn(I)I
    utf8(out, ""); // 13
    out.writeShort(0x0001);
    out.writeShort(2);
    out.writeShort(4);
    out.writeShort(0); // interfaces
    out.writeShort(0); // fields
    out.writeShort(1); // methods
    out.writeShort(0x0009);
    out.writeShort(5);
    out.writeShort(6);
    out.writeShort(1);
    out.writeShort(7);
    byte[] call = {0x1a, (byte) 0xb8, 0x00, 0x0c, (byte) 0xac}; // iload_0; invokestatic; ireturn
    byte[] loop = {
      0x03, 0x3c, // iconst_0; istore_1
      0x1a, (byte) 0x9e, 0x00, 0x10, // loop: iload_0; ifle end
      0x1b, 0x1a, 0x60, 0x3c, // iload_1; iload_0; iadd; istore_1
      (byte) 0x84, 0x00, (byte) 0xff, // iinc 0, -1
      (byte) 0xa7, (byte) 0xff, (byte) 0xf5, // goto loop
      0x00, 0x00, 0x00, // nop
      0x1b, (byte) 0xac // end: iload_1; ireturn
    };
    byte[] code = calls ? call : loop;
    out.writeInt(12 + code.length);
    out.writeShort(2);
    out.writeShort(2);
    out.writeInt(code.length);
    out.write(code);
    out.writeShort(0);
    out.writeShort(0);
    out.writeShort(0); // attributes of the class
    return bytes.toByteArray();
  }

  public static int burn(int rounds) {
    int sum = 0;
    for (int i = rounds; i > 0; i--) {
      sum += i ^ sum << 3;
    }
    return sum;
  }

  public static void main(String[] arguments) throws Exception {
    boolean calls = arguments.length > 0 && arguments[0].equals("callers");
    int runs = calls ? 400 : 3;
    int rounds = calls ? 10_000 : 100_000;
    System.out.println("ready");
    System.out.flush();
    for (int i = 0; ; i++) {
      Class<?> made = new Loader().define("Made" + i, make("Made" + i, "work" + i, calls));
      Method work = made.getMethod("work" + i, int.class);
      for (int run = 0; run < runs; run++) {
        work.invoke(null, rounds);
      }
      if (i % 50 == 49) {
        System.gc();
      }
    }
  }
}
