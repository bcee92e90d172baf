// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/cluster_label.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

std::string pem(const std::string& text) {
  return "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n";
}

ClusterAccess access_of(const std::string& name, const std::string& ca) {
  ClusterAccess out;
  out.cluster_name = name;
  out.ca_pem = ca;
  return out;
}

TEST(ClusterLabel, IsOneFromInsideAndOutside) {
  const std::string inside = cluster_label(access_of("in-cluster", pem("TUlJ\nQ2hU")));

  EXPECT_EQ(cluster_label(access_of("prod", pem("TUlJQ2hU"))), inside);
  EXPECT_EQ(cluster_label(access_of("arn:aws:eks:x/prod", "# CA\r\n" + pem("TUlJ\r\nQ2hU"))),
            inside);
  EXPECT_EQ(cluster_label(access_of("prod", pem("TUlJQ2hU") + pem("b3RoZXI="))), inside);
  EXPECT_EQ(inside.size(), std::string("ca-0123456789ab").size());
}

TEST(ClusterLabel, TellsClustersApart) {
  EXPECT_NE(cluster_label(access_of("k", pem("TUlJQ2hU"))),
            cluster_label(access_of("k", pem("b3RoZXI="))));
}

TEST(ClusterLabel, IsTheKubeconfigsNameWhereNoAuthorityIsKnown) {
  for (const char* ca :
       {"", "no certificate", "-----BEGIN CERTIFICATE-----\nTUlJ", "-----END CERTIFICATE-----"}) {
    EXPECT_EQ(cluster_label(access_of("prod", ca)), "prod");
  }
}

} // namespace
} // namespace jprof::kube
