# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Applications that nobody here wrote, for tests/workloads/applications: the jars of a lock file there, each checked
# against its digest. What they need is in the lock file, too: nothing is resolved when a part is made.

for application in "$repo"/tests/workloads/applications/*/lock; do
  [[ -e $application ]] || continue
  name=$(basename "$(dirname "$application")")
  pin["app-$name"]="$(sha256sum <"$application") recipe 1"
  about["app-$name"]="$(sed -n '1s/^# \([^:]*\):.*/\1/p' "$application")"
  eval "make_app_$name() { jars_of $name; }"
done

jars_of() { # APPLICATION
  local lock=$repo/tests/workloads/applications/$1/lock coordinates digest group artifact version classifier
  need mvn test
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>none</groupId><artifactId>none</artifactId><version>1</version><dependencies>'
    while read -r coordinates digest; do
      IFS=: read -r group artifact version classifier <<<"$coordinates"
      echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
      [[ -z $classifier ]] || echo "<classifier>$classifier</classifier>"
      echo '<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>'
    done < <(grep -v '^#' "$lock")
    echo '</dependencies></project>'
  } >pom.xml
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory="$PWD/lib"
  while read -r coordinates digest; do
    IFS=: read -r group artifact version classifier <<<"$coordinates"
    echo "$digest  lib/$artifact-$version${classifier:+-$classifier}.jar"
  done < <(grep -v '^#' "$lock") >SHA256SUMS
  sha256sum --check --strict --quiet SHA256SUMS
  [[ $(find lib -name '*.jar' | wc -l) == "$(wc -l <SHA256SUMS)" ]] || fail "$1: the lock file does not name every jar"
  rm pom.xml
}
