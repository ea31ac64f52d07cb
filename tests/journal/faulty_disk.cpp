// A VFS that wraps SQLite's own.
#include "journal/faulty_disk.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace hone::test {
namespace {

using Fault = FaultyDisk::Fault;

/// How to take one write back.
struct Undo {
  sqlite3_int64 at = 0;
  std::string before;             ///< bytes that were there
  sqlite3_int64 size_before = 0;  ///< of the file
};

struct State {
  std::mutex mutex;
  Fault fault = Fault::kNone;
  std::int64_t fail_at = 0, operations = 0;
  bool dead = false, full = false, failed = false;
  std::map<std::string, std::vector<Undo>> unsynced;
};
State& state() {
  static State one;
  return one;
}

struct File {
  sqlite3_file base;
  sqlite3_file* real;
  char name[512];
};
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }
std::string name(sqlite3_file* file) { return reinterpret_cast<File*>(file)->name; }

/// What becomes of the next operation. True: it happens.
enum class Fate { kHappens, kHalf, kFails, kFull };
Fate fate(bool grows) {
  State& s = state();
  ++s.operations;
  if (s.dead) return Fate::kFails;
  if (s.fault != Fault::kNone && s.operations == s.fail_at) {
    s.failed = true;
    if (s.fault == Fault::kFull) s.full = true;
    if (s.fault == Fault::kIoError) return Fate::kFails;
    if (s.fault == Fault::kPowerLoss || s.fault == Fault::kTornWrite) {
      s.dead = true;
      return s.fault == Fault::kTornWrite ? Fate::kHalf : Fate::kFails;
    }
  }
  return s.full && grows ? Fate::kFull : Fate::kHappens;
}

int close_file(sqlite3_file* file) {
  const int result = real(file)->pMethods->xClose(real(file));
  sqlite3_free(real(file));
  return result;
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), to, size, at);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

void remember(sqlite3_file* file, sqlite3_int64 at, sqlite3_int64 size) {
  Undo undo;
  undo.at = at;
  file_size(file, &undo.size_before);
  const sqlite3_int64 there = std::max<sqlite3_int64>(0, std::min(size, undo.size_before - at));
  undo.before.resize(static_cast<std::size_t>(there));
  if (there > 0) read_file(file, undo.before.data(), static_cast<int>(there), at);
  state().unsynced[name(file)].push_back(std::move(undo));
}

int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  std::lock_guard lock(state().mutex);
  sqlite3_int64 now = 0;
  file_size(file, &now);
  switch (fate(at + size > now)) {
    case Fate::kFails:
      return SQLITE_IOERR_WRITE;
    case Fate::kFull:
      return SQLITE_FULL;
    case Fate::kHalf:
      // Torn, and on the disk for good: it is not taken back.
      real(file)->pMethods->xWrite(real(file), from, size / 2, at);
      return SQLITE_IOERR_WRITE;
    case Fate::kHappens:
      break;
  }
  remember(file, at, size);
  return real(file)->pMethods->xWrite(real(file), from, size, at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  std::lock_guard lock(state().mutex);
  if (fate(false) != Fate::kHappens) return SQLITE_IOERR_TRUNCATE;
  sqlite3_int64 now = 0;
  file_size(file, &now);
  if (now > size) remember(file, size, now - size);
  return real(file)->pMethods->xTruncate(real(file), size);
}

/// The real disk need not sync: what it would lose is what restore() takes back.
int sync_file(sqlite3_file* file, int) {
  std::lock_guard lock(state().mutex);
  if (fate(false) != Fate::kHappens) return SQLITE_IOERR_FSYNC;
  const bool lies = state().fault == Fault::kLyingSync && state().operations >= state().fail_at;
  if (!lies) state().unsynced.erase(name(file));
  return SQLITE_OK;
}

int lock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); }
int unlock_file(sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
int check_lock(sqlite3_file* f, int* out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
int control(sqlite3_file* f, int op, void* arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
int sector_size(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int characteristics(sqlite3_file* f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f)) & ~SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
}
int shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
void shm_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }

const sqlite3_io_methods kMethods = {
    2,         close_file,  read_file,  write_file, truncate_file, sync_file,       file_size,
    lock_file, unlock_file, check_lock, control,    sector_size,   characteristics, shm_map,
    shm_lock,  shm_barrier, shm_unmap,  nullptr,    nullptr};

int open_file(sqlite3_vfs* vfs, sqlite3_filename path, sqlite3_file* file, int flags, int* out) {
  auto* base = static_cast<sqlite3_vfs*>(vfs->pAppData);
  auto* ours = reinterpret_cast<File*>(file);
  ours->base.pMethods = nullptr;
  ours->real = static_cast<sqlite3_file*>(sqlite3_malloc(base->szOsFile));
  std::memset(ours->real, 0, static_cast<std::size_t>(base->szOsFile));
  const int result = base->xOpen(base, path, ours->real, flags, out);
  if (result != SQLITE_OK) {
    sqlite3_free(ours->real);
    return result;
  }
  std::snprintf(ours->name, sizeof ours->name, "%s", path == nullptr ? "" : path);
  ours->base.pMethods = &kMethods;
  return SQLITE_OK;
}

sqlite3_vfs& faulty_vfs() {
  static sqlite3_vfs ours = [] {
    sqlite3_vfs* base = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *base;
    copy.zName = "hone-faulty";
    copy.pAppData = base;
    copy.szOsFile = sizeof(File);
    copy.pNext = nullptr;
    copy.xOpen = open_file;
    return copy;
  }();
  return ours;
}

}  // namespace

FaultyDisk::FaultyDisk() {
  mend();
  sqlite3_vfs_register(&faulty_vfs(), 0);
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&faulty_vfs()); }

void FaultyDisk::fail_at(std::int64_t operation, Fault fault) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.fault = fault;
  s.fail_at = operation;
  s.operations = 0;
  s.dead = s.full = s.failed = false;
}

void FaultyDisk::mend() {
  fail_at(0, Fault::kNone);
  std::lock_guard lock(state().mutex);
  state().unsynced.clear();
}

std::int64_t FaultyDisk::operations() const {
  std::lock_guard lock(state().mutex);
  return state().operations;
}

bool FaultyDisk::failed() const {
  std::lock_guard lock(state().mutex);
  return state().failed;
}

void FaultyDisk::restore() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (auto& [path, writes] : s.unsynced) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) continue;
    for (auto undo = writes.rbegin(); undo != writes.rend(); ++undo) {
      (void)!::pwrite(fd, undo->before.data(), undo->before.size(), undo->at);
      (void)!::ftruncate(fd, undo->size_before);
    }
    ::close(fd);
  }
  s.unsynced.clear();
}

}  // namespace hone::test
