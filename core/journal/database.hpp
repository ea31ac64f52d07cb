// Database and Statement: a wrapper of SQLite, so that only one file includes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace hone {

/// The journal's file or its write-ahead log is damaged.
inline Error damaged_journal(std::string message) {
  return {Code::kFailedPrecondition, std::move(message), ErrorCause::kDamagedJournal};
}
/// The error, with the journal's path before its message.
inline Error in_journal(const std::filesystem::path& path, const Error& error) {
  return error.in("journal " + path.string());
}
/// The same result; an error gets the prefix "journal PATH: ".
template <typename T>
Result<T> in_journal(const std::filesystem::path& path, Result<T> result) {
  if (!result) return in_journal(path, result.error());
  return result;
}

/// Bytes that are not text.
struct Blob {
  std::string_view bytes;
};
/// A parameter of a statement; borrowed for the call.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string_view, Blob>;

/// A prepared statement. One thread at a time, as its database.
///
///   HONE_ASSIGN(bool row, statement.start({std::int64_t{7}}));
///   while (row) { use(statement.integer(0)); HONE_ASSIGN(row, statement.next()); }
class Statement {
 public:
  /// Binds all parameters and steps to the first row. False: there is no row.
  Result<bool> start(const std::vector<SqlValue>& cells);
  Result<bool> next();
  /// Ends the statement before its last row.
  void stop();
  /// Runs a statement that returns no rows.
  Status run(const std::vector<SqlValue>& cells);

  std::int64_t integer(int column) const;
  double number(int column) const;  ///< NaN for NULL
  std::string bytes(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Status failure() const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// invalid_argument if the path names something other than a regular file, or if its folder does not
/// exist. The file itself may not exist yet.
Status expect_file_path(const std::filesystem::path& path);

/// A connection. An error has SQLite's message and a code: resource_exhausted: the disk is full; failed_precondition: the file is damaged, read-only or not a journal; unavailable: the file is locked or the disk fails. One thread at a time. Additional SQL functions:
/// hone_sum(…), the SHA-256 of all its arguments and their types, hone_sha256(x), and
/// hone_pack(reply, action, words) with hone_unpack(), which are NULL or as repeats.hpp's.
class Database {
 public:
  enum class Mode { kRead, kWrite };
  /// `vfs`: name of SQLite's file functions; empty: the system's. kRead also works in a folder that this process cannot
  /// write; failed_precondition if the file has a write-ahead log with content there.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Mode mode,
                                                const std::string& vfs = {});

  /// Runs one or several statements that return no rows.
  Status execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// The number that a query with one row and column returns, such as `PRAGMA name`.
  Result<std::int64_t> number(std::string_view sql);
  /// The error for content that does not match its checksum: the file is damaged. If this connection has no lock and a server has
  /// written the file since it was opened: unavailable.
  Error damage(const std::string& what) const;
  /// Number of rows that the last statement changed.
  std::int64_t changes() const;
  /// True after a failed sync: the contents of the disk are unknown.
  bool broken() const;
  /// From now on, a running statement fails with `cancelled` once `stop` returns true. SQLite calls `stop` every 1000 steps.
  void stop_when(std::function<bool()> stop);
  /// Copies the database in its present state to a new file, while others write.
  Status copy_to(const std::filesystem::path& path);

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  /// `name`: the path, or a URI of it. `flags`: SQLITE_OPEN_….
  static Result<std::unique_ptr<Database>> connect(const std::string& name, int flags,
                                                   const std::string& vfs);
  std::function<bool()> stop_;  ///< outlives handle_, which calls it
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace hone
