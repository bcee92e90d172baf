// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sidecar/record/walker_round.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Where several stack walkers saw the same program spend its time, method by method. The others are
// compared with the first. Walkers differ in what they can show, so only what all of them can show
// is compared: a sample counts for its innermost Java method, and samples without one, or whose
// walk failed, have a line of their own. One thread at a time.
namespace jprof::record {

// A part of the time that a walker saw.
struct WalkerShare {
  double share = 0;          // 0 to 1
  double standard_error = 0; // of the share: from the spread of the rounds, at least the binomial
  bool differs = false;      // from the first walker's, by more than chance
};

struct ComparedMethod {
  std::string name;
  std::vector<WalkerShare> shares; // in the order of the walkers
  double difference = 0;           // the largest of those that differ; 0: none differs
};

struct ComparedWalker {
  std::string name;
  std::uint64_t samples = 0;
  double failed = 0; // share of the time without a stack
  // Share of the time that this walker attributes to other methods than the first one does, beyond
  // chance.
  double misplaced = 0;
};

class WalkerComparison {
 public:
  explicit WalkerComparison(std::vector<std::string> walkers);

  // One round of one walker.
  void add(std::size_t walker, WalkerRound round);

  std::vector<ComparedWalker> walkers() const;
  // By the largest difference, then by share; methods that are below `least` everywhere are
  // omitted.
  std::vector<ComparedMethod> methods(double least) const;

 private:
  struct Walker {
    std::string name;
    std::vector<WalkerRound> rounds;
  };

  static WalkerShare share_of(const Walker& walker, const std::string& method);
  ComparedMethod compare(const std::string& method) const;

  std::vector<Walker> walkers_;
};

} // namespace jprof::record
