// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * What JVMs have stub routines for, one thing after the other: hashes, ciphers, check sums, large numbers, encodings,
 * comparisons and searches of arrays and strings. Prints "ready".
 */
public final class Intrinsics {
  static final byte[] BYTES = new byte[16384];
  static final char[] CHARS = new char[8192];
  static volatile Object sink;

  static void digests() throws Exception {
    for (String name : new String[] {"MD5", "SHA-1", "SHA-256", "SHA-512"}) {
      sink = MessageDigest.getInstance(name).digest(BYTES);
    }
  }

  static void ciphers() throws Exception {
    SecretKeySpec key = new SecretKeySpec(BYTES, 0, 16, "AES");
    for (String mode : new String[] {"ECB", "CBC", "CTR"}) {
      Cipher cipher = Cipher.getInstance("AES/" + mode + "/NoPadding");
      if (mode.equals("ECB")) {
        cipher.init(Cipher.ENCRYPT_MODE, key);
      } else {
        cipher.init(Cipher.ENCRYPT_MODE, key, new IvParameterSpec(BYTES, 16, 16));
      }
      sink = cipher.doFinal(BYTES);
    }
  }

  static void checkSums() {
    CRC32 crc = new CRC32();
    Adler32 adler = new Adler32();
    for (int i = 0; i < 8; i++) {
      crc.update(BYTES);
      adler.update(BYTES);
    }
    sink = crc.getValue() + adler.getValue();
  }

  static void numbers() {
    BigInteger number = new BigInteger(1, Arrays.copyOf(BYTES, 256));
    BigInteger odd = number.setBit(0);
    sink = number.multiply(odd).add(number.multiply(number)).shiftRight(77);
    sink = number.modPow(BigInteger.valueOf(65537), odd);
  }

  static void encodings() {
    byte[] encoded = Base64.getEncoder().encode(BYTES);
    sink = Base64.getDecoder().decode(encoded);
    String text = new String(encoded, StandardCharsets.ISO_8859_1);
    sink = text.getBytes(StandardCharsets.UTF_8);
    sink = new String(CHARS).getBytes(StandardCharsets.UTF_8);
  }

  static void comparisons() {
    byte[] same = BYTES.clone();
    char[] chars = CHARS.clone();
    int found = 0;
    for (int i = 0; i < 16; i++) {
      same[same.length - 1 - i]++;
      found += Arrays.equals(same, BYTES) ? 1 : 0;
      found += Arrays.equals(chars, CHARS) ? 1 : 0;
      found += Arrays.hashCode(same);
    }
    sink = found;
  }

  static void searches() {
    String text = new String(CHARS);
    String latin = new String(BYTES, StandardCharsets.ISO_8859_1);
    int found = 0;
    for (int i = 0; i < 16; i++) {
      found += text.indexOf("missing") + text.indexOf('\uffff') + latin.indexOf("not there") + latin.indexOf('\u1234');
      found += text.compareTo(latin) + text.toLowerCase().length();
    }
    sink = found;
  }

  static void fills() {
    byte[] bytes = new byte[65536];
    long[] longs = new long[8192];
    Object[] objects = new Object[4096];
    Arrays.fill(bytes, (byte) 7);
    Arrays.fill(longs, 7L);
    Arrays.fill(objects, sink);
    System.arraycopy(objects, 0, objects, 1, 4000);
    System.arraycopy(bytes, 3, bytes, 0, 60000);
    sink = Arrays.copyOf(longs, 5000);
  }

  public static void main(String[] arguments) throws Exception {
    Random random = new Random(1);
    random.nextBytes(BYTES);
    for (int i = 0; i < CHARS.length; i++) {
      CHARS[i] = (char) ('a' + random.nextInt(i % 100 == 0 ? 1000 : 26));
    }
    System.out.println("ready");
    System.out.flush();
    while (true) {
      digests();
      ciphers();
      checkSums();
      numbers();
      encodings();
      comparisons();
      searches();
      fills();
    }
  }
}
