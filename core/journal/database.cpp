// The one file that includes sqlite3.h.
#include "journal/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/unique_fd.hpp"
#include "journal/repeats.hpp"

namespace hone {
namespace {

constexpr int kBusyMs = 5000;

std::string file_of(sqlite3* handle) {
  const char* path = handle != nullptr ? sqlite3_db_filename(handle, "main") : nullptr;
  return path != nullptr && *path != 0 ? path : "FILE";
}

/// The path as one word of a command line.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./,:@%=";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// Name of an immutable connection's URI parameter: the version of the file when it was opened.
constexpr const char* kOpenedVersion = "hone_opened";

/// Rationale: an immutable connection has no lock, so what looks like damage may be a write of the file's server.
Error damage_of(sqlite3* handle, const std::string& what) {
  const char* path = handle != nullptr ? sqlite3_db_filename(handle, "main") : nullptr;
  const char* opened = path != nullptr ? sqlite3_uri_parameter(path, kOpenedVersion) : nullptr;
  if (opened != nullptr && file_version(path) != opened)
    return unavailable("its server wrote to it while it was read (" + what +
                       "); try again, or run this as a user who can write its folder");
  return damaged_journal("it is damaged (" + what + "); see: hone journal check --journal " +
                         shell_word(file_of(handle)));
}

Error failure_of(sqlite3* handle, int result) {
  const std::string text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(result);
  switch (result & 0xff) {
    case SQLITE_FULL:
      return resource_exhausted("the disk is full (" + text + ")");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return unavailable("another process has locked it (" + text + ")");
    case SQLITE_INTERRUPT:
      return Error{Code::kCancelled, "the query was cancelled"};
    case SQLITE_CORRUPT:
      return damage_of(handle, text);
    case SQLITE_NOTADB:
      return failed_precondition("found a file of another kind, expected a journal");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return failed_precondition("it cannot be written (" + text + ")");
    case SQLITE_CANTOPEN:
      return failed_precondition("it cannot be opened (" + text +
                                 "); check the permissions of the file and of its folder");
    case SQLITE_IOERR:
      return unavailable("the disk reports an error (" + text + ", code " + std::to_string(result) +
                         ")");
    default:
      return internal_error("sqlite: " + text + " (code " + std::to_string(result) + ")");
  }
}

/// The part of a cell that its checksum covers: type, length and bytes.
void add_cell(std::string& bytes, sqlite3_value* cell) {
  const int type = sqlite3_value_type(cell);
  std::string content;
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
    // Rationale: a column of type REAL stores -0.0 as 0.
    const double number = sqlite3_value_double(cell);
    const auto bits = type == SQLITE_INTEGER
                          ? sqlite3_value_int64(cell)
                          : std::bit_cast<std::int64_t>(number == 0 ? 0 : number);
    content.assign(reinterpret_cast<const char*>(&bits), sizeof bits);
  } else if (const void* from = sqlite3_value_blob(cell); from != nullptr) {
    content.assign(static_cast<const char*>(from),
                   static_cast<std::size_t>(sqlite3_value_bytes(cell)));
  }
  bytes += std::to_string(type) + ":" + std::to_string(content.size()) + ":" + content;
}

std::string_view bytes_of(sqlite3_value* cell) {
  const auto* from = static_cast<const char*>(sqlite3_value_blob(cell));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(cell));
  return from == nullptr ? std::string_view() : std::string_view(from, size);
}

/// hone_sum(…): SHA-256 of its arguments together. hone_sha256(x): of x alone.
void sum_cells(sqlite3_context* context, int count, sqlite3_value** cells) {
  std::string bytes;
  for (int i = 0; i < count; ++i) add_cell(bytes, cells[i]);
  const Sha256 sum = sha256(bytes);
  sqlite3_result_blob(context, sum.data(), static_cast<int>(sum.size()), SQLITE_TRANSIENT);
}
void hash_cell(sqlite3_context* context, int, sqlite3_value** cells) {
  const Sha256 sum = sha256(bytes_of(cells[0]));
  sqlite3_result_blob(context, sum.data(), static_cast<int>(sum.size()), SQLITE_TRANSIENT);
}

void answer_blob(sqlite3_context* context, std::string_view bytes) {
  sqlite3_result_blob64(context, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_TRANSIENT);
}
void pack_cell(sqlite3_context* context, int, sqlite3_value** cells) {
  answer_blob(context, without_repeats(bytes_of(cells[0]), bytes_of(cells[1]), bytes_of(cells[2])));
}
void unpack_cell(sqlite3_context* context, int, sqlite3_value** cells) {
  const auto whole = with_repeats(bytes_of(cells[0]), bytes_of(cells[1]), bytes_of(cells[2]));
  if (whole) answer_blob(context, *whole);
}

/// "file:…?immutable=1&…": SQLite then reads the file alone, without locks and without its log.
std::string immutable_uri(const std::filesystem::path& path) {
  std::string uri = "file://";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%')
      uri += "%25";
    else if (c == '?')
      uri += "%3f";
    else if (c == '#')
      uri += "%23";
    else
      uri += c;
  }
  return uri + "?immutable=1&" + kOpenedVersion + "=" + file_version(path);
}

/// Whether SQLite cannot create the shared-memory file that a reader of a WAL database needs.
bool lacks_shared_memory(sqlite3* handle) {
  const int result = sqlite3_exec(handle, "PRAGMA schema_version", nullptr, nullptr, nullptr);
  return (result & 0xff) == SQLITE_READONLY || (result & 0xff) == SQLITE_CANTOPEN;
}

/// The write-ahead log or the rollback journal of this file, if it has content; otherwise empty. Without it, the content
/// of the file would be that of an unfinished change, or lack the last ones.
std::filesystem::path filled_log(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, error);
  if (error) return {};
  for (const char* suffix : {"-wal", "-journal"}) {
    std::filesystem::path log = file;
    log += suffix;
    const std::uintmax_t size = std::filesystem::file_size(log, error);
    if (!error && size > 0) return log;
  }
  return {};
}

struct Function {
  const char* name;
  int arguments;
  void (*run)(sqlite3_context* context, int count, sqlite3_value** cells);
};
constexpr Function kFunctions[] = {{"hone_sum", -1, sum_cells},
                                   {"hone_sha256", 1, hash_cell},
                                   {"hone_pack", 3, pack_cell},
                                   {"hone_unpack", 3, unpack_cell}};

}  // namespace

Status expect_file_path(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::file_type found = fs::status(path, error).type();
  if (found == fs::file_type::directory || path.filename().empty()) {
    return invalid_argument("found a folder, expected a file; name one in it: " +
                            (path / "journal.db").lexically_normal().string());
  }
  if (found != fs::file_type::regular && found != fs::file_type::not_found &&
      found != fs::file_type::none) {
    return invalid_argument(
        "found something other than a file, expected a regular file; check the path");
  }
  const fs::file_type above = fs::status(folder, error).type();
  if (above == fs::file_type::not_found) {
    return invalid_argument("the folder " + folder.string() +
                            " does not exist; check the path, or create it: mkdir -p " +
                            folder.string());
  }
  return {};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Status Statement::failure() const {
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  const Error error = failure_of(handle, sqlite3_extended_errcode(handle));
  sqlite3_reset(statement_.get());
  return error;
}

Result<bool> Statement::start(const std::vector<SqlValue>& cells) {
  sqlite3_stmt* s = statement_.get();
  sqlite3_reset(s);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    int result = SQLITE_OK;
    if (const auto* integer = std::get_if<std::int64_t>(&cells[i])) {
      result = sqlite3_bind_int64(s, at, *integer);
    } else if (const auto* number = std::get_if<double>(&cells[i])) {
      result = sqlite3_bind_double(s, at, *number);
    } else if (const auto* text = std::get_if<std::string_view>(&cells[i])) {
      result =
          sqlite3_bind_text64(s, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else if (const auto* blob = std::get_if<Blob>(&cells[i])) {
      const char* from = blob->bytes.empty() ? "" : blob->bytes.data();
      result = sqlite3_bind_blob64(s, at, from, blob->bytes.size(), SQLITE_TRANSIENT);
    } else {
      result = sqlite3_bind_null(s, at);
    }
    if (result != SQLITE_OK) return failure().error();
  }
  return next();
}

Result<bool> Statement::next() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) return failure().error();
  sqlite3_reset(statement_.get());
  return false;
}

void Statement::stop() { sqlite3_reset(statement_.get()); }

Status Statement::run(const std::vector<SqlValue>& cells) {
  HONE_ASSIGN(bool row, start(cells));
  while (row) {
    HONE_ASSIGN(row, next());
  }
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  if (is_null(column)) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::bytes(int column) const {
  const void* from = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return from == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(from), static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path, Mode mode,
                                                 const std::string& vfs) {
  // Rationale: a WAL database has a shared-memory file, which readers may have to write, too.
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::kWrite ? SQLITE_OPEN_CREATE : 0);
  HONE_ASSIGN(std::unique_ptr<Database> database, connect(path.native(), flags, vfs));
  if (mode == Mode::kWrite || !lacks_shared_memory(database->handle_.get())) return database;
  if (const std::filesystem::path log = filled_log(path); !log.empty()) {
    return failed_precondition("its last changes are in " + log.filename().string() +
                               ", and reading them requires a folder that you can write; copy " +
                               path.string() + " and " + log.string() + " to such a folder");
  }
  // Rationale: without a log, all content is in the file itself. A server of another user could still write it: damage_of().
  return connect(immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs);
}

Result<std::unique_ptr<Database>> Database::connect(const std::string& name, int flags,
                                                    const std::string& vfs) {
  std::unique_ptr<Database> database(new Database());
  sqlite3* handle = nullptr;
  const int result =
      sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      vfs.empty() ? nullptr : vfs.c_str());
  database->handle_.reset(handle);
  if (result != SQLITE_OK) return failure_of(handle, result);
  sqlite3_busy_timeout(handle, kBusyMs);
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  for (const Function& one : kFunctions) {
    sqlite3_create_function_v2(handle, one.name, one.arguments, kFlags, nullptr, one.run, nullptr,
                               nullptr, nullptr);
  }
  // The schema of a damaged or foreign file must not run functions.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Status Database::execute(const std::string& sql) {
  const int result = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result == SQLITE_OK) return {};
  return failure_of(handle_.get(), result);
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int result = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (result != SQLITE_OK) return failure_of(handle_.get(), result);
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Result<std::int64_t> Database::number(std::string_view sql) {
  HONE_ASSIGN(Statement statement, prepare(sql));
  HONE_ASSIGN(const bool row, statement.start({}));
  if (!row) return internal_error("sqlite: no row for " + std::string(sql));
  return statement.integer(0);
}

Error Database::damage(const std::string& what) const { return damage_of(handle_.get(), what); }

std::int64_t Database::changes() const { return sqlite3_changes64(handle_.get()); }

bool Database::broken() const {
  const int code = sqlite3_extended_errcode(handle_.get());
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

void Database::stop_when(std::function<bool()> stop) {
  constexpr int kInstructions = 1000;  // of SQLite's virtual machine, between two calls of `stop`
  stop_ = std::move(stop);
  const auto call = [](void* function) {
    return (*static_cast<std::function<bool()>*>(function))() ? 1 : 0;
  };
  sqlite3_progress_handler(handle_.get(), kInstructions, call, &stop_);
}

Status Database::copy_to(const std::filesystem::path& path) {
  // Rationale: SQLite would create a file that all users can read, but it accepts an existing empty file.
  const UniqueFd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made && errno == EEXIST) return invalid_argument("the file exists; name a new file");
  if (!made) return system_error("create the file", errno);
  HONE_ASSIGN(Statement copy, prepare("VACUUM INTO ?1"));
  Status copied = copy.run({std::string_view(path.native())});
  if (!copied) ::unlink(path.c_str());
  return copied;
}

}  // namespace hone
