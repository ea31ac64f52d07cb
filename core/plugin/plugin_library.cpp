// Loads a library and checks its entry; the only file that calls dlopen.
#include "plugin/plugin_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "hone/backend.h"
#include "hone/dataset.h"
#include "hone/reward.h"

namespace hone {
namespace {

constexpr std::size_t kTextMax = 64;

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

/// The linker's message without the path, which the caller adds. dlerror() returns a message only once.
std::string linker_message(const std::filesystem::path& path) {
  const char* text = dlerror();
  std::string message = text != nullptr ? text : "unknown error of the dynamic linker";
  const std::string prefix = path.string() + ": ";
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  return message;
}

Result<std::string> entry_text(const char* text, std::string_view what) {
  if (text == nullptr) return invalid_argument("entry's " + std::string(what) + " is null");
  const std::size_t size = strnlen(text, kTextMax + 1);
  if (size == 0) return invalid_argument("entry's " + std::string(what) + " is empty");
  if (size > kTextMax) {
    return invalid_argument("entry's " + std::string(what) + " is longer than " +
                            std::to_string(kTextMax) + " bytes");
  }
  return std::string(text, size);
}

/// The symbol must be data, and at least as large as the entry claims.
Status check_symbol(const void* symbol, std::uint32_t struct_size) {
  Dl_info info{};
  const ElfW(Sym)* elf = nullptr;
  if (dladdr1(symbol, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&elf)),
              RTLD_DL_SYMENT) == 0 ||
      elf == nullptr) {
    return {};
  }
  if (ELF64_ST_TYPE(elf->st_info) == STT_FUNC) {
    return invalid_argument("hone_plugin_entry is a function, expected data");
  }
  if (elf->st_size < struct_size) {
    return invalid_argument("entry claims " + std::to_string(struct_size) + " bytes, found " +
                            std::to_string(elf->st_size));
  }
  return {};
}

Status check_numbers(const hone_plugin& entry) {
  constexpr std::size_t kNumbersEnd = offsetof(hone_plugin, abi_minor) + sizeof(entry.abi_minor);
  if (entry.struct_size < kNumbersEnd) {
    return invalid_argument("entry of " + std::to_string(entry.struct_size) +
                            " bytes, expected at least " + std::to_string(sizeof(hone_plugin)));
  }
  // Compares the major versions first, because another major version may have another layout.
  if (entry.abi_major != HONE_ABI_MAJOR || entry.abi_minor > HONE_ABI_MINOR) {
    return invalid_argument("plugin ABI " + version_text(entry.abi_major, entry.abi_minor) +
                            ", host ABI " + version_text(HONE_ABI_MAJOR, HONE_ABI_MINOR));
  }
  if (entry.struct_size < sizeof(hone_plugin)) {
    return invalid_argument("entry of " + std::to_string(entry.struct_size) +
                            " bytes, expected at least " + std::to_string(sizeof(hone_plugin)));
  }
  return check_symbol(&entry, entry.struct_size);
}

Status check_name(const std::string& name) {
  const bool valid = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (valid) return {};
  return invalid_argument("entry's name is '" + name + "', expected [a-z0-9_]+");
}

}  // namespace

const std::vector<std::string>& known_factories() {
  static const std::vector<std::string> ids{HONE_REWARD_FACTORY_ID, HONE_DATASET_FACTORY_ID,
                                            HONE_BACKEND_FACTORY_ID};
  return ids;
}

Result<void*> load_library(const std::filesystem::path& path) {
  // Rationale: for a name without a slash, dlopen searches the library path and could load another file.
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  const std::string file = absolute.filename().string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(absolute, ignored)) {
    return not_found(file + ": no such file: " + absolute.string());
  }
  dlerror();
  void* handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return invalid_argument(file + ": cannot load: " + linker_message(absolute));
  }
  return handle;
}

Result<PluginLibrary> PluginLibrary::load(const std::filesystem::path& path) {
  HONE_ASSIGN(void* handle, load_library(path));
  PluginLibrary library;
  library.path_ = std::filesystem::absolute(path).lexically_normal();
  const std::string file = library.file();
  library.entry_ = static_cast<const hone_plugin*>(dlsym(handle, "hone_plugin_entry"));
  if (library.entry_ == nullptr) {
    return invalid_argument(file + ": exports no hone_plugin_entry, so it is not a hone plugin");
  }
  const hone_plugin& entry = *library.entry_;
  if (Status checked = check_numbers(entry); !checked) return checked.error().in(file);
  auto name = entry_text(entry.name, "name");
  if (!name) return name.error().in(file);
  if (Status checked = check_name(*name); !checked) return checked.error().in(file);
  auto version = entry_text(entry.version, "version");
  if (!version) return version.error().in(file);
  if (entry.get_factory == nullptr) {
    return invalid_argument(file + ": entry's get_factory is null");
  }
  library.name_ = std::move(*name);
  library.version_ = std::move(*version);
  return library;
}

Result<const void*> PluginLibrary::factory(std::string_view id) const {
  const std::string text(id);
  const void* table = nullptr;
  try {
    table = entry_->get_factory(text.c_str());
  } catch (...) {  // a plugin's exception must not end the host
    return internal_error(file() + ": get_factory threw an exception across the ABI");
  }
  if (table == nullptr) return not_found(file() + ": offers no " + text);
  return table;
}

std::vector<std::string> PluginLibrary::factories() const {
  std::vector<std::string> offered;
  for (const std::string& id : known_factories()) {
    if (factory(id)) offered.push_back(id);
  }
  return offered;
}

}  // namespace hone
