// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import com.sun.tools.javac.api.JavacTool;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Scanner;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/** Compiles the sources of a jar, which need nothing but the JDK, into memory, again and again. <pre>Compiler SOURCES.jar rt.jar</pre> */
public final class Compiler {
  private Compiler() {}

  public static void main(String[] args) throws Exception {
    List<JavaFileObject> sources = new ArrayList<>();
    try (ZipFile zip = new ZipFile(args[0])) {
      for (Enumeration<? extends ZipEntry> entries = zip.entries(); entries.hasMoreElements(); ) {
        ZipEntry entry = entries.nextElement();
        if (entry.getName().endsWith(".java") && !entry.getName().endsWith("-info.java")) {
          sources.add(new Source(entry.getName(), new Scanner(zip.getInputStream(entry), "UTF-8").useDelimiter("\\A").next()));
        }
      }
    }
    Harness.repeat("javac", 1, () -> compile(sources, args[1]));
    Harness.serve();
  }

  private static long compile(List<JavaFileObject> sources, String platform) throws Exception {
    JavacTool javac = JavacTool.create();
    StringWriter told = new StringWriter();
    try (StandardJavaFileManager files = javac.getStandardFileManager(null, null, null)) {
      files.setLocation(StandardLocation.PLATFORM_CLASS_PATH, Collections.singleton(new File(platform)));
      files.setLocation(StandardLocation.CLASS_PATH, Collections.<File>emptyList());
      Memory memory = new Memory(files);
      List<String> options = Arrays.asList("-source", "8", "-target", "8", "-proc:none", "-nowarn", "-XDignore.symbol.file");
      if (!javac.getTask(told, memory, null, options, null, sources).call()) {
        throw new IllegalStateException(told.toString());
      }
      return memory.written;
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String name, String text) {
      super(URI.create("memory:///" + name), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class Memory extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private long written;

    Memory(StandardJavaFileManager files) {
      super(files);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
      Harness.DONE.increment();
      return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + kind.extension), kind) {
        @Override
        public OutputStream openOutputStream() {
          return new ByteArrayOutputStream() {
            @Override
            public void close() {
              written += size();
            }
          };
        }
      };
    }
  }
}
