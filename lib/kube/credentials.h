// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"
#include "lib/http/http_client.h"
#include "lib/kube/cluster_access.h"

#include <string>
#include <vector>

namespace jprof::kube {

// Who we are for the API server, at this moment.
struct Credentials {
  base::Secret token{};
  std::string client_certificate_pem{};
  base::Secret client_key_pem{};
};

// Runs the exec plugin if the user has one, reads the token file if there is one, else takes what
// the kubeconfig holds. kUnauthenticated with the plugin's own install hint, kConfigInvalid.
base::Result<Credentials> obtain_credentials(const ClusterAccess& access);

// Authorization and impersonation headers.
base::Result<std::vector<http::Header>> request_headers(const ClusterAccess& access,
                                                        const Credentials& credentials);

} // namespace jprof::kube
