// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/diagnostic.h"

#include "lib/base/encoding.h"
#include "lib/base/text.h"
#include "sidecar/jvm/quoted.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace jprof::jvm {
namespace {

using base::ErrorCode;

constexpr std::size_t kQuotedBytes = 400;

struct Shape {
  std::string_view name;
  std::size_t least; // arguments
  std::string_view usage;
};

constexpr std::array<Shape, 10> kShapes = {{
    {"load", 1, "load PATH|LIBRARY [true|false] [OPTIONS]"},
    {"properties", 0, "properties"},
    {"agentProperties", 0, "agentProperties"},
    {"threaddump", 0, "threaddump [-l] [-e]"},
    {"datadump", 0, "datadump"},
    {"dumpheap", 1, "dumpheap PATH [-live|-all] [LEVEL OF GZIP]"},
    {"inspectheap", 0, "inspectheap [-live|-all]"},
    {"setflag", 1, "setflag NAME VALUE"},
    {"printflag", 1, "printflag NAME"},
    {"jcmd", 0, "jcmd [COMMAND ARGUMENTS]"},
}};

std::string join(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::string cure_of(std::string_view name) {
  if (name == "jcmd") {
    return "the command 'jcmd help' lists what this JVM knows, and 'jcmd help COMMAND' the "
           "arguments of one";
  }
  if (name == "setflag" || name == "printflag") {
    return "the command 'jcmd VM.flags -all' lists this JVM's flags; those that can be set are "
           "marked manageable there";
  }
  if (name == "dumpheap") {
    return "name a file that does not exist yet, in a folder of the JVM's container that the JVM "
           "may write into and that has room";
  }
  const auto* const shape = std::ranges::find(kShapes, name, &Shape::name);
  return shape == kShapes.end() ? "" : "the command's form is: " + std::string(shape->usage);
}

base::Error refused(const std::string& name, std::string_view said) {
  return base::make_error(ErrorCode::kAttachFailed,
                          "the JVM refused '" + name + "': " +
                              (said.empty() ? std::string("it gave no reason") : quoted(said)),
                          cure_of(name));
}

// What the library `instrument` returns for a Java agent (JDK, InvocationAdapter.c).
base::Status judge_java_agent(int code) {
  switch (code) {
  case 0:
    return {};
  case 100:
    return base::make_failure(ErrorCode::kAgentFailed,
                              "the agent's jar cannot be opened, or its "
                              "manifest has no Agent-Class",
                              "the path is as the JVM sees it");
  case 101:
    return base::make_failure(ErrorCode::kAgentFailed,
                              "the agent's jar cannot be put on the class path",
                              "the path is as the JVM sees it; the JVM must be able to read it");
  case 102:
    return base::make_failure(
        ErrorCode::kAgentFailed,
        "the agent's agentmain threw an exception, or its class was not found",
        "the JVM's standard error has the stack");
  default:
    return base::make_failure(ErrorCode::kAgentFailed,
                              "the Java agent failed with code " + std::to_string(code),
                              "the JVM's standard error may say why");
  }
}

base::Status judge_load(const Diagnostic& diagnostic, const AttachReply& reply) {
  JPROF_TRY_ASSIGN(const int code, interpret_load(reply));
  if (diagnostic.java_agent) {
    return judge_java_agent(code);
  }
  if (code != 0) {
    return base::make_failure(ErrorCode::kAgentFailed,
                              "Agent_OnAttach returned " + std::to_string(code),
                              "the agent's documentation, or what it writes to the JVM's standard "
                              "error, says what that means");
  }
  return {};
}

void complete(Diagnostic& diagnostic) {
  std::vector<std::string>& arguments = diagnostic.command.arguments;
  const std::string& name = diagnostic.command.name;
  if (name == "load") {
    // jattach's own form is LIBRARY ABSOLUTE OPTIONS; a lone path is an absolute one.
    if (arguments.size() == 1) {
      arguments.emplace_back(arguments[0].starts_with("/") ? "true" : "false");
    }
    diagnostic.java_agent = arguments[0] == "instrument";
    diagnostic.judged_by_text = true;
  } else if (name == "printflag") {
    diagnostic.judged_by_text = true;
  } else if (name == "jcmd") {
    arguments = {arguments.empty() ? std::string("help") : join(arguments)};
  } else if (name == "datadump") {
    diagnostic.note = "the threads were printed on the JVM's standard output (kubectl logs)";
  } else if (name == "dumpheap") {
    diagnostic.judged_by_text = true;
    diagnostic.note =
        "the dump is in the JVM's container, at " + base::printable(arguments[0], kQuotedBytes);
  }
}

} // namespace

base::Result<Diagnostic> make_diagnostic(const std::string& name,
                                         const std::vector<std::string>& arguments) {
  const auto shape = std::find_if(kShapes.begin(), kShapes.end(), [&name](const Shape& candidate) {
    return candidate.name == name;
  });
  if (shape == kShapes.end()) {
    std::string names;
    for (const Shape& known : kShapes) {
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    return base::make_failure(ErrorCode::kUsage,
                              "no attach command '" + base::printable(name, 40) + "'",
                              "there are " + names);
  }
  if (arguments.size() < shape->least) {
    return base::make_failure(ErrorCode::kUsage, name + " needs more arguments",
                              std::string(shape->usage));
  }
  Diagnostic diagnostic;
  diagnostic.command = {name, arguments};
  complete(diagnostic);
  return diagnostic;
}

base::Status judge(const Diagnostic& diagnostic, const AttachReply& reply) {
  const std::string& name = diagnostic.command.name;
  if (name == "load") {
    return judge_load(diagnostic, reply);
  }
  const std::string_view said = base::trimmed(reply.text);
  if (reply.code != 0) {
    return base::fail(refused(name, said));
  }
  // Words of attachListener.cpp, JDK 8 to 25; the number is 0 in either case.
  const bool failed =
      !reply.openj9 && ((name == "printflag" && said.starts_with("no such flag")) ||
                        (name == "dumpheap" && said.find("Heap dump file created") == said.npos));
  if (failed) {
    return base::fail(refused(name, said));
  }
  return {};
}

} // namespace jprof::jvm
