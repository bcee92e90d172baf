// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/walker_comparison.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace jprof::record {
namespace {

// Differences below half a point are of no use to anybody; larger ones must be beyond chance.
constexpr double kMinDifference = 0.005;
constexpr double kStandardErrors = 4; // many methods are compared at once

double weight_of(const std::map<std::string, double>& weights, const std::string& method) {
  const auto found = weights.find(method);
  return found != weights.end() ? found->second : 0;
}

} // namespace

WalkerComparison::WalkerComparison(std::vector<std::string> walkers) {
  for (std::string& name : walkers) {
    walkers_.push_back({std::move(name), {}});
  }
}

void WalkerComparison::add(std::size_t walker, WalkerRound round) {
  walkers_.at(walker).rounds.push_back(std::move(round));
}

WalkerShare WalkerComparison::share_of(const Walker& walker, const std::string& method) {
  double part = 0;
  double whole = 0;
  std::uint64_t samples = 0;
  std::vector<double> shares;
  for (const WalkerRound& round : walker.rounds) {
    const double weight = weight_of(round.weights, method);
    part += weight;
    whole += round.weight;
    samples += round.samples;
    if (round.weight > 0) {
      shares.push_back(weight / round.weight);
    }
  }
  WalkerShare out;
  if (whole <= 0 || samples == 0) {
    out.standard_error = 1; // nothing is known
    return out;
  }
  out.share = part / whole;
  // A share of nothing or everything has an error too: as if half a sample had been elsewhere.
  const auto count = static_cast<double>(samples);
  const double inner = std::clamp(out.share, 0.5 / count, std::max(0.5, 1 - 0.5 / count));
  const double binomial = std::sqrt(inner * (1 - inner) / count);
  double squares = 0;
  for (const double share : shares) {
    squares += (share - out.share) * (share - out.share);
  }
  const auto rounds = static_cast<double>(shares.size());
  const double spread = rounds > 1 ? std::sqrt(squares / (rounds - 1) / rounds) : 0;
  out.standard_error = std::max(binomial, spread);
  return out;
}

ComparedMethod WalkerComparison::compare(const std::string& method) const {
  ComparedMethod out{method, {}, 0};
  for (const Walker& walker : walkers_) {
    WalkerShare share = share_of(walker, method);
    if (!out.shares.empty()) {
      const WalkerShare& first = out.shares.front();
      const double apart = std::abs(share.share - first.share);
      const double chance = std::hypot(share.standard_error, first.standard_error);
      share.differs = apart >= kMinDifference && apart > kStandardErrors * chance;
      out.difference = share.differs ? std::max(out.difference, apart) : out.difference;
    }
    out.shares.push_back(share);
  }
  return out;
}

std::vector<ComparedMethod> WalkerComparison::methods(double least) const {
  std::set<std::string> names;
  for (const Walker& walker : walkers_) {
    for (const WalkerRound& round : walker.rounds) {
      for (const auto& [name, weight] : round.weights) {
        names.insert(name);
      }
    }
  }
  std::vector<ComparedMethod> out;
  for (const std::string& name : names) {
    ComparedMethod method = compare(name);
    if (std::ranges::any_of(method.shares,
                            [least](const WalkerShare& share) { return share.share >= least; })) {
      out.push_back(std::move(method));
    }
  }
  std::ranges::stable_sort(out, [](const ComparedMethod& a, const ComparedMethod& b) {
    return std::pair(a.difference, a.shares.front().share) >
           std::pair(b.difference, b.shares.front().share);
  });
  return out;
}

std::vector<ComparedWalker> WalkerComparison::walkers() const {
  const std::vector<ComparedMethod> all = methods(0);
  std::vector<ComparedWalker> out;
  for (std::size_t i = 0; i < walkers_.size(); ++i) {
    ComparedWalker walker;
    walker.name = walkers_[i].name;
    for (const WalkerRound& round : walkers_[i].rounds) {
      walker.samples += round.samples;
    }
    walker.failed = share_of(walkers_[i], kFailedWalk).share;
    double more = 0;
    double less = 0;
    for (const ComparedMethod& method : all) {
      if (method.shares[i].differs) {
        const double apart = method.shares[i].share - method.shares.front().share;
        (apart > 0 ? more : less) += std::abs(apart);
      }
    }
    walker.misplaced = std::max(more, less); // what is beyond chance on one side is so on the other
    out.push_back(std::move(walker));
  }
  return out;
}

} // namespace jprof::record
