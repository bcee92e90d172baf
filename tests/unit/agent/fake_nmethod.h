// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/sampling/vm_layout.h"

namespace jprof::agent::sampling {

// Where the nmethods of made-up code caches keep what, with offsets where some JDKs have addresses.
inline void lay_out_nmethods(VmLayout& vm) {
  vm.blob = {.name = 0,
             .size = 8,
             .frame_size = 12,
             .frame_complete = {16, 2, true},
             .code_begin = -1,
             .code_offset = 20,
             .code_end = -1,
             .data_offset = {24, 4, true}};
  auto& compiled = vm.compiled;
  compiled.method = 32;
  compiled.comp_level = {40, 1, true};
  compiled.scopes_data_offset = 44;
  compiled.scopes_pcs_offset = 48;
  compiled.scopes_pcs_end_offset = 52;
  compiled.metadata_offset = {56, 4, true};
  compiled.deopt_handler_offset = 60;
  compiled.deopt_mh_handler_offset = 64;
  compiled.orig_pc_offset = 68;
}

} // namespace jprof::agent::sampling
