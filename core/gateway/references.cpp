// Writes each reference once.
#include "gateway/references.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "model/value.hpp"

namespace hone {

Result<std::unique_ptr<References>> References::open(std::filesystem::path folder) {
  struct stat about {};
  if (stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return failed_precondition(folder.string() + ": no such folder");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failed_precondition(
        folder.string() +
        ": other users may write to it, but its files are run as trusted code; run chmod go-w");
  }
  if (access(folder.c_str(), W_OK) != 0) return system_error(folder.string(), errno);
  return std::unique_ptr<References>(new References(std::move(folder)));
}

Result<std::string> References::put(const std::string& source, const std::string& entry) {
  if (source.size() > kSourceBytesMax) {
    return invalid_argument("original_model_src cannot be made a task: its source is longer than " +
                            std::to_string(kSourceBytesMax >> 10) + " KB");
  }
  const std::string text = to_json(Value::map({{"source", source}, {"entry", entry}}));
  const std::string id = sha256_hex(text);
  if (const auto why = refused(id)) return *why;
  {
    MutexLock lock(mutex_);
    if (known_.contains(id)) return id;
  }
  const std::filesystem::path path = folder_ / (id + ".json");
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  HONE_TRY(write_file(path, text));
  MutexLock lock(mutex_);
  if (!there) written_.insert(id);
  if (known_.insert(id).second) order_.push_back(id);
  if (order_.size() > kKept) {
    std::filesystem::remove(folder_ / (order_.front() + ".json"), ignored);
    known_.erase(order_.front());
    written_.erase(order_.front());
    order_.pop_front();
  }
  return id;
}

/// Rationale: what was there before this process may be what a journal's episodes are replayed with.
void References::refuse(const std::string& id, const Error& why, double seconds) {
  MutexLock lock(mutex_);
  if (refused_.insert_or_assign(id, Refusal{why, monotonic_s() + seconds}).second)
    refused_order_.push_back(id);
  if (refused_order_.size() > kRefusedKept) {
    refused_.erase(refused_order_.front());
    refused_order_.pop_front();
  }
  if (known_.erase(id) != 0) std::erase(order_, id);
  if (written_.erase(id) == 0) return;
  std::error_code ignored;
  std::filesystem::remove(folder_ / (id + ".json"), ignored);
}

std::optional<Error> References::refused(const std::string& id) {
  MutexLock lock(mutex_);
  const auto found = refused_.find(id);
  if (found == refused_.end() || monotonic_s() >= found->second.end_s) return std::nullopt;
  Error why = found->second.why;
  why.message += " (known from an earlier request)";
  return why;
}

}  // namespace hone
