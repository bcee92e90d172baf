# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages without installing them: an apt root of our own beside the machine's, so that its lists and its
# package state stay as they are.

# Prints the archives of a suite, one per line, as in a list of sources: where this machine takes Debian from, and for
# its own release the updates and the security fixes that it takes besides. The release comes first: apt takes a source
# that several have from the first, and the security archive still lists some that it no longer holds.
debian_archives() { # SUITE
  local found
  found=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk -v suite="$1" '$2 ~ /^bookworm(-updates|-security)?$/ && ($2 == "bookworm" || suite == "bookworm") {
      print $1, ($2 == "bookworm" ? suite : $2), "main"}' | LC_ALL=C sort -u -k2,2 -k1,1)
  grep -q " $1 main\$" <<<"$found" || fail "apt has no list of Debian 12 (bookworm): run apt-get update"
  echo "$found"
}

# Makes or refreshes the apt root of one suite and prints the options that select it. An architecture other than the
# machine's follows a slash: bookworm/arm64.
debian_root() { # SUITE[/ARCHITECTURE]
  local suite=${1%/*} architecture root lists sources
  architecture=$(dpkg --print-architecture)
  [[ $1 != */* ]] || architecture=${1#*/}
  sources=$(debian_archives "$suite" | while read -r archive; do
    for lists in deb deb-src; do
      echo "$lists [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive"
    done
  done)
  root=$cache/apt/$suite-$architecture-$(sha256sum <<<"$sources" | cut -c1-12)
  mkdir -p "$root"/etc/apt/{apt.conf.d,preferences.d,trusted.gpg.d} "$root"/var/lib/{apt/lists/partial,dpkg} \
    "$root/var/cache/apt/archives/partial"
  touch "$root/var/lib/dpkg/status"
  # No translations and no contents lists: they are most of the download. A mirror that stands still is as good as any
  # for a test part, so its lists may be past their date; their signature is checked all the same.
  cat >"$root/etc/apt/apt.conf" <<CONF
Dir "$root";
Dir::Etc "$root/etc/apt";
Dir::State::status "$root/var/lib/dpkg/status";
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
CONF
  echo "$sources" >"$root/etc/apt/sources.list"
  # Lists older than an hour may name files that the archive has replaced.
  if [[ -z $(find "$root/var/lib/apt/lists" -name '*_Packages*' -mmin -60 2>/dev/null) ]]; then
    APT_CONFIG=$root/etc/apt/apt.conf apt-get -qq update >&2
    find "$root/var/lib/apt/lists" -name '*_Packages*' -exec touch {} +
  fi
  echo "$root/etc/apt/apt.conf"
}

# Unpacks binary packages of a suite into a folder, without their scripts, and prints "SOURCE VERSION PACKAGE" of each.
debian_unpack() { # SUITE[/ARCHITECTURE] FOLDER PACKAGE...
  local suite=$1 folder=$2 conf deb got; shift 2
  got=$(mktemp -d)
  exec {apt_lock}>"$cache/lock/apt-${suite/\//-}"
  flock "$apt_lock"
  conf=$(debian_root "$suite")
  (cd "$got" && APT_CONFIG=$conf apt-get -qq download "$@")
  exec {apt_lock}>&-
  mkdir -p "$folder"
  for deb in "$got"/*.deb; do
    dpkg-deb --show --showformat='${source:Package} ${source:Version} ${Package}\n' "$deb"
    dpkg-deb -x "$deb" "$folder"
  done
  rm -rf "$got"
}

# Unpacks a source package of a suite, Debian's patches applied, into ./source.
debian_source() { # SUITE PACKAGE
  local conf
  need dpkg-source build
  exec {apt_lock}>"$cache/lock/apt-$1"
  flock "$apt_lock"
  conf=$(debian_root "$1")
  APT_CONFIG=$conf apt-get -qq source --only-source "$2"
  exec {apt_lock}>&-
  mv -T "$(find . -mindepth 1 -maxdepth 1 -type d -name "${2%%=*}-*")" source
}
