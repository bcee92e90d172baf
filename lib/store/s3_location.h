// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/url.h"
#include "lib/store/store_url.h"

#include <string>
#include <string_view>

namespace jprof::store {

// Where a bucket is served, and how its URLs are made.
struct S3Location {
  http::Url endpoint; // of the service, without the bucket
  std::string bucket;
  std::string prefix; // without '/' at either end
  std::string region;
  bool path_style = false;
  bool own_endpoint = false; // named by the user, not derived from the region

  // The URL of an object below the prefix, or of the bucket itself for an empty key.
  http::Url object_url(std::string_view key) const;
  http::Url bucket_url() const;
  std::string full_key(std::string_view key) const;
  // AWS only: the same bucket in another region, as the service told us.
  void move_to_region(const std::string& new_region);
};

// Fills in what the URL leaves open: region us-east-1, AWS's endpoint, and the addressing: path
// style for an endpoint of one's own and for buckets whose name no certificate covers, else virtual
// host.
Result<S3Location> make_s3_location(const StoreUrl& url);

} // namespace jprof::store
