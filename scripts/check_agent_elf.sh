#!/usr/bin/env bash
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Proves what libjprof.so promises to every JVM that loads it: it needs libc alone, imports only what the oldest
# supported glibc and musl both have, exports only its entry points, binds at load time, and is small.
set -euo pipefail

library=${1:?usage: check_agent_elf.sh LIBRARY}
max_bytes=$((150 * 1024))
failed=0
complain() { echo "check_agent_elf: $*" >&2; failed=1; }

equal() { # WHAT WANTED GOT
  [[ $2 == "$3" ]] || complain "$1: expected '$2', found '$3'"
}

machine=$(readelf -h "$library" | awk '/Machine:/ {print $2}')
case $machine in
  Advanced) libc_version=GLIBC_2.2.5 ;; # "Advanced Micro Devices X86-64"
  AArch64) libc_version=GLIBC_2.17 ;;
  *) complain "unknown machine $machine" ;;
esac

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
equal "needed libraries" "libc.so.6 " "$needed"

imports=$(nm -D --undefined-only "$library" | awk '{print $NF}' | sort | tr '\n' ' ')
equal "imported symbols" "dl_iterate_phdr@$libc_version " "$imports"

exports=$(nm -D --defined-only "$library" | awk '{print $NF}' | sort | tr '\n' ' ')
equal "exported symbols" "Agent_OnAttach Agent_OnLoad Agent_OnUnload jprof_agent_resident_v1 " "$exports"

readelf -d "$library" | grep -q 'BIND_NOW' || complain "not bound at load time (-z now)"
! readelf -d "$library" | grep -q 'TEXTREL' || complain "has text relocations"
! readelf -lW "$library" | grep -q ' TLS ' || complain "has thread-local storage"
! readelf -lW "$library" | grep 'GNU_STACK' | grep -q 'RWE' || complain "wants an executable stack"
! readelf -SW "$library" | grep -qE '\.(init_array|ctors|fini_array)' || complain "runs code when it is loaded"

musl=/lib/ld-musl-x86_64.so.1
if [[ -e $musl && $machine == Advanced ]]; then
  defined=$(nm -D --defined-only "$musl" | awk '{print $NF}')
  for symbol in $imports; do
    grep -qx "${symbol%@*}" <<<"$defined" || complain "musl has no ${symbol%@*}"
  done
fi

# What its segments hold. The file may be larger: if pages can have 64 KiB, as on aarch64, the linker leaves a gap of that size.
bytes=0
while read -r size; do bytes=$((bytes + size)); done < <(readelf -lW "$library" | awk '$1 == "LOAD" {print $5}')
((bytes <= max_bytes)) || complain "$bytes bytes to load, more than $max_bytes"
((failed == 0)) && echo "check_agent_elf: $library is fine ($bytes bytes to load)"
exit "$failed"
