// Shared by the fuzz targets: the function that each defines, and checks whose failure is a finding.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone::fuzz {

/// Theory of operation. A target is one .cpp that defines `one`: it hands the input to hone as a
/// stranger would and checks what must hold of any input. libFuzzer calls it with inputs that it
/// makes (preset asan, scripts/fuzz); replay.cpp calls it with the files of the corpus (every
/// preset), so that seeds and former findings are tests of each build.
void one(std::string_view input);

/// Ends the process, and so reports the input, where a property does not hold.
void check(bool holds, std::string_view property);

/// What every refusal keeps: a code, and a message that is there, is short and begins with `place`.
void check_error(const Error& error, std::string_view place = {});

/// Equal, with NaN equal to NaN.
bool same(const Value& a, const Value& b);
/// Whether a float in it is NaN or infinite: JSON has neither.
bool has_nonfinite(const Value& value);
/// Whether every text in it, keys too, is UTF-8.
bool has_utf8_only(const Value& value);
bool is_utf8(std::string_view text);
/// Containers around the innermost one, itself included.
std::size_t depth_of(const Value& value);
/// Values in it, itself included.
std::size_t count_of(const Value& value);

/// A folder of this process, gone when it ends.
const std::filesystem::path& scratch();
/// Replaces a file of our own.
void put_file(const std::filesystem::path& path, std::string_view bytes);

/// Takes numbers and pieces from the front of an input; what is missing is 0 or short.
class Input {
 public:
  explicit Input(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  /// Of at most 8 bytes, the lowest first.
  std::uint64_t number(std::size_t bytes);
  std::string_view piece(std::size_t size);
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace hone::fuzz
