// The input of the rules for findings, and the list of their sentences.
#pragma once

#include <string>
#include <vector>

#include "examine/findings.hpp"

namespace hone {

struct Sentence {
  double weight = 0;  ///< sentences with the largest weights come first
  std::string text;
};

/// The sentences about one profile. Borrows the input and the figures.
class FindingList {
 public:
  FindingList(const ProfileInput& profile, const ProfileFigures& derived)
      : input(profile), figures(derived) {}

  void add(double weight, std::string text) { sentences_.push_back({weight, std::move(text)}); }
  /// The sentences, largest weight first.
  std::vector<Sentence> take();

  /// Whether the data comes from caches. With cold timing, inputs come from memory or a cache that is hardly faster.
  bool is_from_cache() const;
  bool is_memory_bound() const;
  /// Whether a kernel is memory-bound or compute-bound, so that faults of its code cost little time.
  bool is_near_a_limit() const;
  /// Whether arithmetic limits a kernel that moves each byte once.
  bool needs_more_arithmetic_than_memory() const;

  const ProfileInput& input;
  const ProfileFigures& figures;

 private:
  std::vector<Sentence> sentences_;
};

/// The rules for code of a processor, and for native code of a device.
void add_processor_findings(FindingList& list);
void add_device_findings(FindingList& list);
/// Advice on the width and coalescing of a device's accesses to global memory; empty: none.
std::string advice_on_accesses(const FindingList& list);
/// Whether a device's code has accesses to global memory.
bool accesses_global_memory(const FindingList& list);

namespace examine {

/// A number among the device's facts; 0: unknown.
double number_fact(const Value& facts, const char* name);

/// A number with three digits and its unit: "31.4 %", "12 blocks".
std::string number_text(double value, const char* unit);
/// "2.5 GB", "8 bytes"
std::string bytes_text(double bytes);
std::string percent_text(double share);
std::string time_text(double us);
/// "at line 14", "at lines 14 to 16" or "of 'function'".
std::string place_text(const CodeBlock& block);

}  // namespace examine

}  // namespace hone
