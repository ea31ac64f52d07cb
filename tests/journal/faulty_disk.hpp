// FaultyDisk: SQLite's file functions on a disk that loses unsynced data, fails, or fills up, at a chosen
// operation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hone::test {

/// One at a time in a process. Everything that is written goes through to the file system; at the
/// k-th operation the disk fails. After "power loss", restore() takes back every write since the
/// file's last sync, as a disk's lost cache would.
class FaultyDisk {
 public:
  enum class Fault {
    kNone,
    kPowerLoss,  ///< this operation and all later ones fail; restore() forgets unsynced writes
    kTornWrite,  ///< the same, but the first half of the last write stays
    kFull,       ///< writes that make a file grow fail, from here on, until mend()
    kIoError,    ///< this operation alone fails
    kLyingSync,  ///< from here on a sync says it is done and is not; restore() takes all back
  };

  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// SQLite's name of it.
  std::string vfs() const { return "hone-faulty"; }
  /// At the `operation`-th write, sync or truncation from now on, counted from 1.
  void fail_at(std::int64_t operation, Fault fault);
  void mend();
  std::int64_t operations() const;  ///< since fail_at()
  bool failed() const;
  /// After a power loss, with all files closed: the disk as it was at each file's last sync.
  void restore();
};

}  // namespace hone::test
