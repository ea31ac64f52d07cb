// Writes each reference once.
#include "gateway/references.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "model/value.hpp"

namespace hone {

Result<std::unique_ptr<References>> References::open(std::filesystem::path folder) {
  struct stat about {};
  if (stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return failed_precondition(folder.string() + ": no such folder");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failed_precondition(folder.string() +
                               ": others may write into it, and what is in it is run; chmod go-w");
  }
  if (access(folder.c_str(), W_OK) != 0) return system_error(folder.string(), errno);
  return std::unique_ptr<References>(new References(std::move(folder)));
}

Result<std::string> References::put(const std::string& source, const std::string& entry) {
  const std::string text = to_json(Value::map({{"source", source}, {"entry", entry}}));
  const std::string id = sha256_hex(text);
  {
    MutexLock lock(mutex_);
    if (known_.contains(id)) return id;
  }
  HONE_TRY(write_file(folder_ / (id + ".json"), text));
  MutexLock lock(mutex_);
  if (known_.insert(id).second) order_.push_back(id);
  if (order_.size() > kKept) {
    std::error_code ignored;
    std::filesystem::remove(folder_ / (order_.front() + ".json"), ignored);
    known_.erase(order_.front());
    order_.pop_front();
  }
  return id;
}

}  // namespace hone
