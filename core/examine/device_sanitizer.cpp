// Reads the reports of compute-sanitizer.
#include "examine/device_sanitizer.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/utf8.hpp"
#include "examine/text_lines.hpp"

namespace hone {
namespace {

using examine::for_each_line;
using examine::take_number;
using examine::trimmed;

constexpr std::string_view kReportLine = "========= ";
constexpr std::string_view kCallEvent = "hone-call ", kBufferEvent = "hone-buffer ",
                           kErrorEvent = "hone-error ";
constexpr std::size_t kReportMax = std::size_t{1} << 20;  // read of each report
constexpr std::size_t kErrorMax = 300;

/// The hexadecimal number, with "0x", right after `what`; nullopt if there is none.
std::optional<std::uint64_t> address_after(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + what.size());
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t number = 0;
  constexpr int kHexadecimal = 16;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, kHexadecimal);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

/// The line of the last "in NAME:LINE" in the text; 0: no such place in this source.
std::int64_t line_in(std::string_view text, std::string_view source_name) {
  const std::string place = " in " + std::string(source_name) + ":";
  const std::size_t at = text.rfind(place);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + place.size());
  return std::max<std::int64_t>(take_number(text), 0);
}

/// "(40,0,0)" after `what`; empty if something else follows.
std::string triple_after(std::string_view text, std::string_view what) {
  constexpr std::size_t kTripleMax = 40;
  const std::size_t at = text.find(what);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + what.size());
  const std::size_t end = text.find(')');
  if (end == std::string_view::npos || end > kTripleMax || text[0] != '(') return "";
  const std::string_view inside = text.substr(1, end - 1);
  if (inside.find_first_not_of("0123456789,") != std::string_view::npos) return "";
  return std::string(text.substr(0, end + 1));
}

/// The kind of a report that hone does not know: letters only.
std::string other_kind(std::string_view header) {
  constexpr std::size_t kOtherKindMax = 40;
  std::string kind;
  for (const char c : header.substr(0, kOtherKindMax)) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      kind += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!kind.empty() && kind.back() != ' ') {
      kind += ' ';
    }
  }
  return std::string(trimmed(kind));
}

/// Where the buffers of a run were.
class Addresses {
 public:
  Addresses(std::string_view events, const DeviceCalls& program) {
    for_each_line(events, [&](std::string_view line) {
      if (line.starts_with(kCallEvent)) {
        line.remove_prefix(kCallEvent.size());
        const std::int64_t call = take_number(line);
        if (call >= 0) last_call_ = static_cast<std::size_t>(call);
        return;
      }
      if (!line.starts_with(kBufferEvent) || last_call_ >= program.buffers.size()) return;
      std::string_view rest = line.substr(kBufferEvent.size());
      const std::int64_t number = take_number(rest);
      const auto& buffers = program.buffers[last_call_];
      const auto address = address_after(rest, " ");
      if (number < 0 || static_cast<std::size_t>(number) >= buffers.size() || !address) return;
      found_[*address] = {last_call_, &buffers[static_cast<std::size_t>(number)]};
    });
  }

  struct Found {
    std::size_t call = 0;
    const CallBuffer* buffer = nullptr;
  };
  std::optional<Found> at(std::uint64_t address) const {
    const auto found = found_.find(address);
    return found == found_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The last call that began; beyond all calls if none did.
  std::size_t last_call() const { return last_call_; }

 private:
  std::map<std::uint64_t, Found> found_;
  std::size_t last_call_ = static_cast<std::size_t>(-1);
};

/// Reads one report, line by line. A block is a line without indentation and the indented lines after it.
class ReportReader {
 public:
  ReportReader(const Addresses& addresses, std::size_t call_count, std::string_view source_name)
      : addresses_(addresses), call_count_(call_count), source_name_(source_name) {}

  void read(std::string_view line) {
    if (!line.starts_with(kReportLine)) return;
    line.remove_prefix(kReportLine.size());
    if (line.starts_with("    ")) return read_detail(trimmed(line));
    finish();
    read_header(line);
  }
  std::vector<SanitizerFinding> take() {
    finish();
    return std::move(findings_);
  }

 private:
  enum class Block { kNone, kAccess, kRace, kOther };

  void read_header(std::string_view line) {
    constexpr std::string_view kNotes[] = {
        "COMPUTE-SANITIZER", "ERROR SUMMARY",      "RACECHECK SUMMARY", "LEAK SUMMARY",
        "Program hit",       "Target application", "Error: ",           "Internal "};
    constexpr std::string_view kInvalid = "Invalid __",
                               kRaces[] = {"Error: Race reported between ",
                                           "Warning: Race reported between "};
    for (const std::string_view race : kRaces) {
      if (line.starts_with(race)) return begin_race(line.substr(race.size()));
    }
    const bool is_note = std::any_of(std::begin(kNotes), std::end(kNotes),
                                     [&](std::string_view note) { return line.starts_with(note); });
    if (is_note || trimmed(line).empty()) return;
    block_ = Block::kOther;
    finding_.kind = other_kind(line);
    if (line.starts_with(kInvalid)) begin_access(line.substr(kInvalid.size()));
    if (line.starts_with("Trace/breakpoint trap")) {
      finding_.kind = "trap";
      text_ = "the kernel stopped itself, by a trap or a failed assertion";
    }
  }

  /// "global__ write of size 4 bytes"
  void begin_access(std::string_view rest) {
    const auto word = [&rest](std::initializer_list<std::string_view> known) -> std::string {
      for (const std::string_view one : known) {
        if (!rest.starts_with(one)) continue;
        rest.remove_prefix(one.size());
        return std::string(trimmed(one));
      }
      return "";
    };
    space_ = word({"global", "shared", "local", "distributed shared"});
    word({"__ "});
    access_ = word({"read ", "write ", "atomic "});
    const std::int64_t bytes = examine::number_before(rest, " bytes");
    if (space_.empty() || access_.empty() || bytes < 0) return;
    bytes_ = static_cast<std::uint64_t>(bytes);
    block_ = Block::kAccess;
  }

  /// "Write access at race+0x320 in k.cu:27"
  void begin_race(std::string_view rest) {
    block_ = Block::kRace;
    finding_.kind = "race in shared memory";
    add_racing(rest);
  }
  void add_racing(std::string_view text) {
    constexpr std::size_t kAccessesMax = 4;
    const bool writes = text.starts_with("Write"), reads = text.starts_with("Read");
    if (racing_ >= kAccessesMax) return;
    const std::int64_t line = line_in(text, source_name_);
    if (finding_.line == 0) finding_.line = line;
    const std::string access = std::string(writes  ? "a write"
                                           : reads ? "a read"
                                                   : "an atomic operation") +
                               (line > 0 ? " in line " + std::to_string(line) : "");
    constexpr std::int64_t kHazardsMax = std::int64_t{1} << 40;
    const std::int64_t hazards = examine::number_before(text, " hazard");
    if (text.ends_with("]") && hazards > 0)
      hazards_ = std::min(hazards_ + std::min(hazards, kHazardsMax), kHazardsMax);
    // The first access is one side of all pairs.
    if (racing_ > 1 && text_.find(" and " + access) != std::string::npos) return;
    text_ += (racing_++ == 0 ? "" : " and ") + access;
  }

  void read_detail(std::string_view line) {
    if (block_ == Block::kNone) return;
    if (block_ == Block::kRace) {
      if (line.starts_with("and ")) add_racing(line.substr(4));
      return;
    }
    // The first place in the source is the access itself, or the function that calls the access of a header.
    if (finding_.line == 0) finding_.line = line_in(line, source_name_);
    if (line.starts_with("by thread ")) {
      thread_ = triple_after(line, "by thread ");
      group_ = triple_after(line, ") in block ");
    }
    if (const auto address = address_after(line, "Access to ")) address_ = address;
    if (line.find(" is misaligned") != std::string_view::npos) is_misaligned_ = true;
    if (const auto start = address_after(line, "nearest allocation at ")) nearest_ = start;
  }

  std::string access_text() const {
    std::string text =
        access_ + " of " + std::to_string(bytes_) + " bytes in " + space_ + " memory";
    if (nearest_ && address_) text += place_text(*nearest_, *address_);
    return text;
  }
  std::string place_text(std::uint64_t start, std::uint64_t address) const {
    const auto found = addresses_.at(start);
    // Rationale: an access that is far from each tensor is no overrun of the nearest one.
    constexpr std::uint64_t kFar = std::uint64_t{1} << 30;
    if (!found) return ", outside of all tensors";
    const CallBuffer& buffer = *found->buffer;
    const std::uint64_t end = start + buffer.bytes;
    const std::string name = buffer.name + " (" + std::to_string(buffer.bytes) + " bytes)";
    if (address >= start && address < end)
      return ", at byte " + std::to_string(address - start) + " of " + name;
    const std::uint64_t distance = address < start ? start - address : address - end;
    if (distance > kFar) return ", outside of all tensors";
    return ", " + std::to_string(distance) + " bytes " + (address < start ? "before " : "after ") +
           name;
  }

  void finish() {
    const Block block = std::exchange(block_, Block::kNone);
    if (block != Block::kNone && !finding_.kind.empty()) {
      if (block == Block::kAccess) {
        finding_.kind = (is_misaligned_ ? "misaligned " : "out-of-bounds ") + access_;
        finding_.message = access_text();
      } else if (block == Block::kRace) {
        finding_.message = text_ + ", by different threads without a barrier between them" +
                           (hazards_ > 0 ? " (" + std::to_string(hazards_) + " hazards)" : "");
      } else {
        finding_.message = text_.empty() ? "reported by the sanitizer" : text_;
      }
      if (!thread_.empty() && !group_.empty())
        finding_.message += ", by thread " + thread_ + " of block " + group_;
      finding_.call = call_of(block);
      findings_.push_back(std::move(finding_));
    }
    finding_ = {};
    text_ = space_ = access_ = thread_ = group_ = "";
    bytes_ = 0;
    racing_ = 0;
    hazards_ = 0;
    is_misaligned_ = false;
    address_ = nearest_ = std::nullopt;
  }

  /// An error ends the run, so it is in the last call. A race does not, so it may be in any call.
  std::size_t call_of(Block block) const {
    if (nearest_) {
      if (const auto found = addresses_.at(*nearest_)) return found->call;
    }
    return block == Block::kRace && call_count_ > 1 ? call_count_ : addresses_.last_call();
  }

  const Addresses& addresses_;
  const std::size_t call_count_;
  const std::string_view source_name_;
  std::vector<SanitizerFinding> findings_;
  Block block_ = Block::kNone;
  SanitizerFinding finding_;  ///< of the current block
  std::string text_, space_, access_, thread_, group_;
  std::uint64_t bytes_ = 0;
  std::size_t racing_ = 0;
  std::int64_t hazards_ = 0;
  bool is_misaligned_ = false;
  std::optional<std::uint64_t> address_, nearest_;
};

}  // namespace

bool is_complete_report(std::string_view report) {
  return report.find("\n========= ERROR SUMMARY: ") != std::string_view::npos ||
         report.find("\n========= RACECHECK SUMMARY: ") != std::string_view::npos;
}

/// Rationale: the rest of a line, and indented lines, have names that the submission chooses.
std::string device_sanitizer_problem(const DeviceSanitizerRun& run) {
  bool is_refused = false, is_not_started = run.report.empty() && run.events.empty();
  for_each_line(run.report, [&](std::string_view line) {
    if (!line.starts_with(kReportLine)) return;
    line.remove_prefix(kReportLine.size());
    constexpr std::string_view kError = "Error: ";
    if (line.starts_with(kError)) line.remove_prefix(kError.size());
    is_refused = is_refused || line.starts_with("Device not supported");
    is_not_started = is_not_started || line.starts_with("Error launching target app");
  });
  if (is_refused) return "compute-sanitizer does not support this device";
  if (is_not_started)
    return "compute-sanitizer could not start a program in its sandbox; check that the "
           "installation is complete";
  return "";
}

std::string device_sanitizer_error(const DeviceSanitizerRun& run) {
  std::string error;
  for_each_line(run.events, [&](std::string_view line) {
    if (line.starts_with(kErrorEvent))
      error = printable_ascii(line.substr(kErrorEvent.size()), kErrorMax);
  });
  return error;
}

std::vector<SanitizerFinding> device_sanitizer_findings(const std::vector<DeviceSanitizerRun>& runs,
                                                        const DeviceCalls& program,
                                                        std::string_view source_name,
                                                        std::size_t count_max) {
  std::vector<SanitizerFinding> kept;
  for (const DeviceSanitizerRun& run : runs) {
    const Addresses addresses(run.events, program);
    ReportReader reader(addresses, program.calls.size(), source_name);
    for_each_line(std::string_view(run.report).substr(0, kReportMax),
                  [&](std::string_view line) { reader.read(line); });
    for (SanitizerFinding& finding : reader.take()) {
      const bool is_known =
          std::any_of(kept.begin(), kept.end(), [&](const SanitizerFinding& other) {
            return other.kind == finding.kind && other.line == finding.line;
          });
      if (!is_known && kept.size() < count_max) kept.push_back(std::move(finding));
    }
  }
  return kept;
}

}  // namespace hone
