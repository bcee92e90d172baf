// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/java_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace jprof::jvm {
namespace {

std::string joined(std::initializer_list<const char*> words) {
  std::string cmdline;
  for (const char* word : words) {
    cmdline += word;
    cmdline.push_back('\0');
  }
  return cmdline;
}

TEST(JavaCommand, KnowsTheMainClass) {
  const JavaCommand command = parse_java_command(
      joined({"/usr/bin/java", "-Xmx1g", "-cp", "a.jar:b.jar", "com.acme.Main", "-Xrs", "x"}));

  EXPECT_EQ(command.main, "com.acme.Main");
  EXPECT_EQ(command.vm_options, (std::vector<std::string>{"-Xmx1g"})); // -Xrs is the program's
}

TEST(JavaCommand, KnowsJarsAndModules) {
  EXPECT_EQ(parse_java_command(joined({"java", "-jar", "/app/shop.jar", "arg"})).main,
            "/app/shop.jar");
  EXPECT_EQ(parse_java_command(joined({"java", "-p", "mods", "-m", "m/com.acme.Main"})).main,
            "m/com.acme.Main");
  EXPECT_EQ(parse_java_command(joined({"java", "--module=m/Main"})).main, "m/Main");
  EXPECT_EQ(parse_java_command(joined({"java", "--add-opens", "a/b=c", "Main"})).main, "Main");
}

TEST(JavaCommand, LooksPastALauncher) {
  const JavaCommand loader = parse_java_command(joined(
      {"/lib64/ld-linux-x86-64.so.2", "--library-path", "/lib", "/opt/jdk/bin/java", "Main"}));
  const JavaCommand qemu = parse_java_command(
      joined({"/usr/bin/qemu-aarch64", "-L", "/sys", "/opt/bin/java", "-Xrs", "Main"}));

  EXPECT_EQ(loader.main, "Main");
  EXPECT_EQ(qemu.main, "Main");
  EXPECT_EQ(qemu.vm_options, (std::vector<std::string>{"-Xrs"}));
}

TEST(JavaCommand, OfAProgramThatEmbedsAJvmIsItsName) {
  EXPECT_EQ(parse_java_command(joined({"/opt/app/server", "--port", "80"})).main, "server");
}

TEST(JavaCommand, OfNothingIsEmpty) {
  EXPECT_EQ(parse_java_command("").main, "");
  EXPECT_EQ(parse_java_command(joined({"java"})).main, "");
  EXPECT_EQ(parse_java_command(joined({"java", "-jar"})).main, "");
  EXPECT_EQ(parse_java_command(joined({"java", "-cp"})).main, "");
  EXPECT_EQ(parse_java_command("java").main, ""); // cut: no NUL
}

TEST(JavaCommand, PutsArgumentFilesInTheirPlace) {
  std::vector<std::string> asked;
  const OptionFile read = [&asked](const std::string& path) -> std::string {
    asked.push_back(path);
    return path == "/etc/app.args" ? "# of the shop\n-Xrs -cp \"a b.jar\" @inner\ncom.acme.Main\n"
                                   : "";
  };

  const JavaCommand command =
      parse_java_command(joined({"java", "-Xmx1g", "@/etc/app.args", "@/etc/password"}), read);

  EXPECT_EQ(command.main, "com.acme.Main");
  EXPECT_EQ(command.vm_options, (std::vector<std::string>{"-Xmx1g", "-Xrs", "@inner"}));
  EXPECT_EQ(asked, (std::vector<std::string>{"/etc/app.args"})); // the second is the program's
}

TEST(JavaCommand, LeavesArgumentFilesAloneWhereTheLauncherDoes) {
  const OptionFile read = [](const std::string&) { return std::string("-Xrs Other"); };

  EXPECT_EQ(parse_java_command(joined({"java", "--disable-@files", "@x", "Main"}), read).main,
            "Main");
  EXPECT_EQ(parse_java_command(joined({"java", "@@x", "Main"}), read).main, "Main");
  EXPECT_EQ(parse_java_command(joined({"java", "@x", "Main"})).main, "Main"); // none can be read
}

TEST(JavaCommand, EndsWithArgumentFilesWithoutEnd) {
  const OptionFile read = [](const std::string&) {
    std::string text;
    for (int i = 0; i < 100000; ++i) {
      text += "-a ";
    }
    return text;
  };
  std::string cmdline = joined({"java"});
  for (int i = 0; i < 1000; ++i) {
    cmdline += joined({"@x"});
  }

  EXPECT_LT(parse_java_command(cmdline, read).vm_options.size(), 100000U);
}

TEST(JvmFlags, OfOptionFilesAreAppliedInTheJvmsOrder) {
  const OptionFile read = [](const std::string& path) -> std::string {
    return path == "flags" ? "+DisableAttachMechanism -EnableDynamicAgentLoading"
                           : "-XX:-DisableAttachMechanism '-Da=b c'";
  };

  const auto options = expand_option_files(
      {"-XX:+EnableDynamicAgentLoading", "-XX:Flags=flags", "-XX:VMOptionsFile=more", "-Xrs"},
      read);

  EXPECT_EQ(options, (std::vector<std::string>{"-XX:+DisableAttachMechanism",
                                               "-XX:-EnableDynamicAgentLoading",
                                               "-XX:+EnableDynamicAgentLoading",
                                               "-XX:-DisableAttachMechanism", "-Da=b c", "-Xrs"}));
}

TEST(JvmFlags, LastOneWins) {
  JvmFlags flags;
  apply_options({"-XX:+DisableAttachMechanism", "-XX:-EnableDynamicAgentLoading", "-Xrs"}, flags);
  EXPECT_TRUE(flags.attach_disabled && flags.agents_disabled && flags.signals_reduced);

  apply_options({"-XX:-DisableAttachMechanism", "-XX:+EnableDynamicAgentLoading",
                 "-XX:-ReduceSignalUsage", "-XX:+StartAttachListener", "-XX:+DebugNonSafepoints"},
                flags);
  EXPECT_FALSE(flags.attach_disabled || flags.agents_disabled || flags.signals_reduced);
  EXPECT_TRUE(flags.agents_announced && flags.attach_listener_early && flags.inlining_detailed);
}

TEST(JvmFlags, IgnoreWhatOnlyLooksLikeOne) {
  JvmFlags flags;
  apply_options(
      {"-XX:", "-XX:+", "-XX:DisableAttachMechanism", "-Xrsx", "-D+DisableAttachMechanism"}, flags);

  EXPECT_FALSE(flags.attach_disabled || flags.signals_reduced);
}

TEST(OptionVariable, IsSplitAsAJvmDoes) {
  EXPECT_EQ(split_options(" -Xrs  '-Da=b c' -D\"x y\"=z\t-XX:+A\n"),
            (std::vector<std::string>{"-Xrs", "-Da=b c", "-Dx y=z", "-XX:+A"}));
  EXPECT_EQ(split_options("'unfinished quote"), (std::vector<std::string>{"unfinished quote"}));
  EXPECT_TRUE(split_options("  ").empty());
  EXPECT_EQ(split_options("''"), (std::vector<std::string>{""}));
}

TEST(ArgumentFile, IsSplitAsTheLauncherDoes) {
  EXPECT_EQ(split_argument_file("-a \"b\\\\c\\td e\" # no more\n'f #g'\\h\ti#j\nk"),
            (std::vector<std::string>{"-a", "b\\c\td e", "f #g\\h", "i", "k"}));
  EXPECT_TRUE(split_argument_file("# nothing").empty());
}

} // namespace
} // namespace jprof::jvm
