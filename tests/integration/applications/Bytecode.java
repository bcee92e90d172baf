// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Prints the instructions of classes: run by the JVM and with the class path of the application that they are of.
 *
 * <p>A class name on standard input gives, separated by tabs: {@code missing NAME}, or {@code class NAME SUPER INTERFACE...}; then a
 * line {@code method NAME DESCRIPTOR ACCESS INSTRUCTION...} for each method; then {@code end}. An instruction is {@code BCI:OPCODE}, of a
 * call {@code BCI:OPCODE:OWNER:NAME:DESCRIPTOR}.
 */
public final class Bytecode {
  // JVMS 4.4 and 6.5. Bytes that follow an opcode; tableswitch, lookupswitch and wide have their own.
  private static final int[] OPERANDS = new int[256];

  static {
    fill("16 18 21-25 54-58 169 188", 1);
    fill("17 19 20 132 153-168 178-184 187 189 192 193 198 199", 2);
    fill("197", 3);
    fill("185 186 200 201", 4);
  }

  private final DataInputStream in;
  private final Object[] constants;
  private final PrintStream out;

  private Bytecode(byte[] bytes, PrintStream out) throws IOException {
    this.out = out;
    in = new DataInputStream(new ByteArrayInputStream(bytes));
    in.skipBytes(8);
    constants = new Object[in.readUnsignedShort()];
    for (int i = 1; i < constants.length; ++i) {
      constants[i] = constant();
      if (constants[i] == Long.class) {
        ++i; // JVMS 4.4.5: it takes two entries
      }
    }
  }

  private static void fill(String opcodes, int bytes) {
    for (String range : opcodes.split(" ")) {
      String[] ends = range.split("-");
      for (int code = Integer.parseInt(ends[0]); code <= Integer.parseInt(ends[ends.length - 1]); ++code) {
        OPERANDS[code] = bytes;
      }
    }
  }

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name = names.readLine(); name != null; name = names.readLine()) {
      try (InputStream file = ClassLoader.getSystemResourceAsStream(name + ".class")) {
        if (file == null) {
          out.println("missing\t" + name);
        } else {
          new Bytecode(all(file), out).print();
        }
      }
    }
    out.flush();
  }

  private static byte[] all(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] piece = new byte[8192];
    for (int got = in.read(piece); got > 0; got = in.read(piece)) {
      bytes.write(piece, 0, got);
    }
    return bytes.toByteArray();
  }

  /** A text, the indices that a reference holds, Long.class for what takes two entries, null for what no call needs. */
  private Object constant() throws IOException {
    int tag = in.readUnsignedByte();
    switch (tag) {
      case 1:
        return in.readUTF();
      case 5:
      case 6:
        in.skipBytes(8);
        return Long.class;
      case 7:
      case 8:
      case 16:
      case 19:
      case 20:
        return new int[] {in.readUnsignedShort()};
      case 15:
        in.skipBytes(3);
        return null;
      case 3:
      case 4:
        in.skipBytes(4);
        return null;
      default: // references, names with types, dynamic constants: two indices each
        return new int[] {in.readUnsignedShort(), in.readUnsignedShort()};
    }
  }

  private String text(int index) {
    return (String) constants[index];
  }

  private String className(int index) {
    return index == 0 ? "-" : text(((int[]) constants[index])[0]);
  }

  private void print() throws IOException {
    in.skipBytes(2);
    StringBuilder head = new StringBuilder("class\t" + className(in.readUnsignedShort()) + "\t" + className(in.readUnsignedShort()));
    for (int left = in.readUnsignedShort(); left > 0; --left) {
      head.append('\t').append(className(in.readUnsignedShort()));
    }
    out.println(head);
    for (int left = in.readUnsignedShort(); left > 0; --left) {
      in.skipBytes(6);
      for (int attributes = in.readUnsignedShort(); attributes > 0; --attributes) {
        in.skipBytes(2);
        in.skipBytes(in.readInt());
      }
    }
    for (int left = in.readUnsignedShort(); left > 0; --left) {
      method();
    }
    out.println("end");
  }

  private void method() throws IOException {
    int access = in.readUnsignedShort();
    StringBuilder line = new StringBuilder("method\t" + text(in.readUnsignedShort()) + "\t" + text(in.readUnsignedShort()) + "\t" + access);
    for (int attributes = in.readUnsignedShort(); attributes > 0; --attributes) {
      String name = text(in.readUnsignedShort());
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      if (name.equals("Code")) {
        DataInputStream code = new DataInputStream(new ByteArrayInputStream(bytes, 4, bytes.length - 4));
        byte[] instructions = new byte[code.readInt()];
        code.readFully(instructions);
        instructions(instructions, line);
      }
    }
    out.println(line);
  }

  private void instructions(byte[] code, StringBuilder line) {
    int at = 0;
    while (at < code.length) {
      int opcode = code[at] & 0xff;
      line.append('\t').append(at).append(':').append(opcode);
      if (opcode >= 182 && opcode <= 186) {
        int[] reference = (int[]) constants[(code[at + 1] & 0xff) << 8 | code[at + 2] & 0xff];
        int[] nameAndType = (int[]) constants[reference[1]];
        line.append(':').append(opcode == 186 ? "-" : className(reference[0]));
        line.append(':').append(text(nameAndType[0])).append(':').append(text(nameAndType[1]));
      }
      at += length(code, at, opcode);
    }
  }

  private static int length(byte[] code, int at, int opcode) {
    int aligned = (at & ~3) + 4;
    switch (opcode) {
      case 170: // tableswitch
        return aligned - at + 12 + 4 * (word(code, aligned + 8) - word(code, aligned + 4) + 1);
      case 171: // lookupswitch
        return aligned - at + 8 + 8 * word(code, aligned + 4);
      case 196: // wide
        return (code[at + 1] & 0xff) == 132 ? 6 : 4;
      default:
        return 1 + OPERANDS[opcode];
    }
  }

  private static int word(byte[] code, int at) {
    return (code[at] & 0xff) << 24 | (code[at + 1] & 0xff) << 16 | (code[at + 2] & 0xff) << 8 | code[at + 3] & 0xff;
  }
}
