// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace jprof::base {

// Where a file goes that a person named by -o.
struct OutputPlace {
  std::string path;
  bool stream = false; // a FIFO or a character device: written to as it stands
};

// As cp(1) has it: what a symbolic link leads to is replaced, and the link stays; into a FIFO or a
// character device (/dev/null) it is written. kUsage for a link that leads nowhere, one that
// somebody else has made (who may lay links where others write chooses what we overwrite), and for
// folders, sockets and disks.
Result<OutputPlace> output_place(const std::string& path);

// Whether a file can be made where `place` is, found out before any work is done for it: kUsage for
// a folder that is not there, which is named as in `path`, kIo for one that we may not write into.
Status check_folder(const std::string& path, const OutputPlace& place);

// Writes it there: a file at once, whole or not at all (write_file_atomically). A FIFO that nobody
// reads from for ten seconds is kIo.
Status write_output(const std::string& path, std::string_view bytes, unsigned mode);

} // namespace jprof::base
