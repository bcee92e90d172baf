// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** Indexes Lucene's own sources in mapped files and searches them, again and again. <pre>Lucene SOURCES.jar FOLDER</pre> */
public final class Lucene {
  private static final String[] WORDS = {
    "directory", "posting*", "\"index writer\"", "merge AND segment", "score~1", "term OR query", "bytes -utf8", "doc*"
  };

  private Lucene() {}

  public static void main(String[] args) throws Exception {
    List<String> texts = texts(args[0]);
    Path folder = Paths.get(args[1]);
    Random random = new Random(919);
    Harness.repeat("lucene", 1, () -> round(texts, Files.createTempDirectory(folder, "index"), random));
    Harness.serve();
  }

  private static List<String> texts(String jar) throws IOException {
    List<String> texts = new ArrayList<>();
    try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(Paths.get(jar)))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (entry.getName().endsWith(".java")) {
          texts.add(read(zip));
        }
      }
    }
    return texts;
  }

  private static String read(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] piece = new byte[8192];
    for (int got = in.read(piece); got > 0; got = in.read(piece)) {
      bytes.write(piece, 0, got);
    }
    return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
  }

  private static long round(List<String> texts, Path folder, Random random) throws Exception {
    long hits = 0;
    try (Directory directory = new MMapDirectory(folder);
        StandardAnalyzer analyzer = new StandardAnalyzer()) {
      IndexWriterConfig config = new IndexWriterConfig(analyzer).setRAMBufferSizeMB(4);
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int i = 0; i < 300; ++i) {
          int number = random.nextInt(texts.size());
          Document document = new Document();
          document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
          document.add(new NumericDocValuesField("length", texts.get(number).length()));
          document.add(new TextField("text", texts.get(number), Field.Store.YES));
          writer.addDocument(document);
          Harness.DONE.increment();
        }
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        for (int i = 0; i < 200; ++i) {
          TopDocs found = searcher.search(new QueryParser("text", analyzer).parse(WORDS[i % WORDS.length]), 20);
          hits += found.totalHits.value + (found.scoreDocs.length > 0 ? searcher.doc(found.scoreDocs[0].doc).get("text").length() : 0);
          Harness.DONE.increment();
        }
      }
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
    return hits;
  }
}
