// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <string>
#include <string_view>

namespace jprof::base {

// Where a file goes that a person named with -o.
struct OutputPlace {
  std::string path;
  bool stream = false; // a FIFO or a character device: written to as it stands
};

// Like cp(1): what a symbolic link leads to is replaced, and the link stays; a FIFO or a character
// device (/dev/null) is written into. kUsage for a link that leads nowhere, for one that somebody
// else has made (a user who may create links where others write chooses what we overwrite), and for
// folders, sockets and disks.
Result<OutputPlace> output_place(const std::string& path);

// Whether a file can be created where `place` is, checked before any work is done for it: kUsage
// for a folder that does not exist, which is named as in `path`, kIo for one that we may not write
// into.
Status check_folder(const std::string& path, const OutputPlace& place);

// Writes it there: a file at once, whole or not at all (write_file_atomically). A FIFO that nobody
// reads from for ten seconds is kIo.
Status write_output(const std::string& path, std::string_view bytes, unsigned mode);

} // namespace jprof::base
