#!/usr/bin/env bash
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds libjprof.so for aarch64 with Debian's cross compiler, checks what the linker made, and asks for the known
# answers in a JVM under qemu's user mode emulation. Exits 77 (skip) where the compiler, qemu or that JVM is missing.
#
#   aarch64.sh BUILD_FOLDER CLASSES
set -euo pipefail

build=${1:?usage: aarch64.sh BUILD_FOLDER CLASSES}
classes=${2:?}
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool (scripts/install test)"; exit 77; }
done

cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_BUILD_TYPE=Debug \
  -DJPROF_DEV_MODE=ON -DJPROF_BUILD_SIDECAR=OFF -DJPROF_BUILD_PLUGIN=OFF
cmake --build "$build" --target jprof_agent -j2
scripts/check_agent_elf.sh "$build/bin/libjprof.so"
run() {
  python3 -B "tests/integration/agent/$1_test.py" --jdk jdk-21-aarch64 --library "$build/bin/libjprof.so" --classes "$classes" "${@:2}"
}
run shares known_shares_and_weights thread_split
run agent two_sessions_in_a_row_and_busy later_copy_hands_over hang_up_stops_it deadline_stops_it killed_jvm_leaves_the_region \
  foreign_handler_is_respected
run stacks names_survive_class_churn mixed_work_has_whole_stacks mathematics_has_whole_stacks exceptions_have_whole_stacks \
  intrinsics_have_whole_stacks inlined_loops_are_named deep_stacks_are_marked flips_generations_when_small
