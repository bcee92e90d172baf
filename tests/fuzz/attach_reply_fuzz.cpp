// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What stands at the other end of an attach socket is the target's: any bytes.
#include "sidecar/jvm/attach_protocol.h"
#include "sidecar/jvm/diagnostic.h"
#include "sidecar/jvm/openj9_protocol.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"load", "jcmd"}) {
    const auto said = jprof::jvm::parse_openj9({name, {}}, text);
    static_cast<void>(jprof::jvm::interpret_load(said));
  }
  const auto reply = jprof::jvm::parse_reply(text);
  if (!reply) {
    return 0;
  }
  (void)jprof::jvm::interpret_load(*reply);
  (void)jprof::jvm::supported_version(*reply);
  for (const char* name : {"load", "printflag", "threaddump"}) {
    const auto diagnostic = jprof::jvm::make_diagnostic(name, {"instrument", "false", "x"});
    if (const auto status = jprof::jvm::judge(*diagnostic, *reply);
        !status && status.error().message.find_first_of("\x1b\r\n") != std::string::npos) {
      std::abort(); // what the JVM said reaches the terminal
    }
  }
  return 0;
}
