// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::jvm {

// A JVM's command line, parsed as its launcher does (JDK's java(1)). All bytes are the target's:
// print through base::printable.
struct JavaCommand {
  std::vector<std::string> vm_options; // before the main class, without class and module paths
  std::string main;                    // class, jar file or module/class; empty if not seen
};

// The text of a file that an option names, as the JVM would have read it; empty if it cannot be
// obtained.
using OptionFile = std::function<std::string(const std::string& path)>;

// `cmdline` is /proc/PID/cmdline: words that end in NUL, possibly cut off. Words before the first
// one that is called "java" belong to a launcher (an explicit dynamic loader, qemu); without such a
// word the whole is a program that embeds a JVM, and main is its first word's file name. Argument
// files ("@FILE" before the main class) are inserted if `read` is given, at most 32 of them.
JavaCommand parse_java_command(std::string_view cmdline, const OptionFile& read = {});

// Flags that decide whether we can attach. If a flag is given twice, the last one wins.
struct JvmFlags {
  bool attach_disabled = false;       // -XX:+DisableAttachMechanism
  bool signals_reduced = false;       // -Xrs, -XX:+ReduceSignalUsage
  bool attach_listener_early = false; // -XX:+StartAttachListener
  bool agents_disabled = false;       // -XX:-EnableDynamicAgentLoading
  bool agents_announced = false;      // -XX:+EnableDynamicAgentLoading: no notice (JEP 451)
  bool inlining_detailed = false;     // -XX:+DebugNonSafepoints
};
void apply_options(const std::vector<std::string>& options, JvmFlags& flags);
// The words of JAVA_TOOL_OPTIONS and similar variables: separated by white space, single or double
// quoted.
std::vector<std::string> split_options(std::string_view text);
// The words of an argument file: in addition, "#" begins a comment and "\\" in quotes an escape.
std::vector<std::string> split_argument_file(std::string_view text);
// Replaces each "@FILE" by the file's words: for JDK_JAVA_OPTIONS.
std::vector<std::string> expand_argument_files(std::vector<std::string> words,
                                               const OptionFile& read);
// Including the contents of the files of -XX:Flags= (applied before everything else) and
// -XX:VMOptionsFile= (applied at its place).
std::vector<std::string> expand_option_files(const std::vector<std::string>& options,
                                             const OptionFile& read);

} // namespace jprof::jvm
