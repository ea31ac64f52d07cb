// Finds the backends under test, and writes sources in their languages.
#include "backends/tested.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include "base/files.hpp"
#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

constexpr char kHostPrelude[] =
    "#define KERNEL extern \"C\" void\n"
    "#define EACH(i, n) for (long long i = 0; i < (n); ++i)\n"
    "#define TRAP __builtin_trap()\n";
constexpr char kDevicePrelude[] =
    "#define KERNEL extern \"C\" __global__ void\n"
    "#define EACH(i, n) for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; "
    "i < (n); i += (long long)gridDim.x * blockDim.x)\n"
    "#define TRAP __trap()\n";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Dialect make_dialect(const Tested& which) {
  const auto said = backend_of(which).describe(Value::map());
  if (!said) throw std::runtime_error(said.error().message);
  Dialect dialect;
  dialect.language = said->find("languages")->as_array().at(0).as_string();
  const bool host = dialect.language == "c++" || dialect.language == "c";
  dialect.prelude = host ? kHostPrelude : kDevicePrelude;
  // The CPU's outputs are computed in the same way for each tested backend.
  const bool named = named_by_environment() && which.library == tested().front().library;
  if (const std::string file = environment("HONE_TESTED_PRELUDE"); named && !file.empty()) {
    auto text = read_file(file);
    if (!text) throw std::runtime_error(text.error().message);
    dialect.prelude = std::move(text).value();
  }
  dialect.lines =
      static_cast<int>(std::count(dialect.prelude.begin(), dialect.prelude.end(), '\n'));
  std::string compiler = named ? environment("HONE_TESTED_COMPILER") : "";
  if (compiler.empty() && host) compiler = "/usr/bin/g++";
  Value flags = Value::array();
  if (host) flags = Value::array({"-O1", "-std=c++20"});
  dialect.options = Value::map({{"compiler", compiler},
                                {"flags", std::move(flags)},
                                {"include", Value::array()},
                                {"threads", 1}});
  return dialect;
}

}  // namespace

bool named_by_environment() { return std::getenv("HONE_TESTED_BACKEND") != nullptr; }

std::vector<Tested> tested() {
  if (!named_by_environment()) {
    const std::string emulated = test::build_dir() / "tests/gpu/";
    return {{"cpu", "x86-64", test::build_dir() / "plugins/backends/cpu.so"},
            {"cuda", "sm_90a", emulated + "backend_cuda_emulated.so"},
            {"hip", "gfx900", emulated + "backend_hip_emulated.so"}};
  }
  Tested one;
  std::istringstream words(environment("HONE_TESTED_BACKEND"));
  words >> one.name >> one.architecture >> std::ws;
  std::getline(words, one.library);
  // Builds change the folder.
  if (one.library.find('/') != std::string::npos) one.library = fs::absolute(one.library).string();
  return {one};
}

const Backend& backend_of(const Tested& which) {
  static std::map<std::string, std::unique_ptr<Backend>> loaded;
  std::unique_ptr<Backend>& mine = loaded[which.library];
  if (mine == nullptr) {
    auto backend = Backend::load(which.library);
    if (!backend) throw std::runtime_error(backend.error().message);
    mine = std::move(backend).value();
  }
  return *mine;
}

const Dialect& dialect_of(const Tested& which) {
  static std::map<std::string, Dialect> known;
  const auto found = known.find(which.library);
  return found != known.end() ? found->second
                              : known.emplace(which.library, make_dialect(which)).first->second;
}

const Tested*& current() {
  static const Tested* running = nullptr;
  return running;
}

Value request_of(const Tested& which, const std::string& text,
                 const std::vector<std::string>& entries, double seconds) {
  const Dialect& dialect = dialect_of(which);
  Value names = Value::array();
  for (const std::string& entry : entries) names.push(entry);
  Value options = dialect.options;
  options.set("architecture", which.architecture);
  options.set("seconds", seconds);
  options.set("version", true);
  return Value::map(
      {{"sources", Value::array({Value::map({{"name", kSourceName}, {"text", text}})})},
       {"language", dialect.language},
       {"entries", std::move(names)},
       {"options", std::move(options)}});
}

Value request(const std::string& text, const std::vector<std::string>& entries, double seconds) {
  return request_of(*current(), text, entries, seconds);
}

Result<Value> try_build(const Backend& with, const Value& asked) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  auto result = with.build(asked);
  fs::current_path(before);
  return result;
}

Value built(const Value& asked) {
  auto result = try_build(backend(), asked);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return Value::map();
  }
  return std::move(result).value();
}

int file_of(const std::string& bytes) {
  const int fd = memfd_create("artifact", MFD_CLOEXEC);
  EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return fd;
}

void OnDevice::SetUp() {
  OnBackend::SetUp();
  HONE_OKAY(open_device(backend().host(), 0, &device_, error));
  HONE_OKAY(create_buffer(device_, kBytes, &buffer_, error));
}

void OnDevice::TearDown() {
  for (hone_artifact* artifact : artifacts_) table().unload(artifact);
  for (hone_buffer* buffer : buffers_) table().release_buffer(buffer);
  table().release_buffer(buffer_);
  table().close_device(device_);
}

hone_artifact* OnDevice::load_plain(const std::string& text,
                                    const std::vector<std::string>& entries) {
  const Value result = built(request(text, entries));
  EXPECT_EQ(text_of(result, "diagnostics"), "");
  host_code_ = flag_of(result, "untrusted_host_code");
  const Value* bytes = result.find("artifact");
  if (bytes == nullptr || bytes->as_bytes().empty()) {
    ADD_FAILURE() << "no artifact";
    return nullptr;
  }
  Said got;
  hone_artifact* artifact = load_bytes(bytes->as_bytes(), &got);
  EXPECT_EQ(got.code, HONE_OK) << got.words;
  return artifact;
}

hone_artifact* OnDevice::load_bytes(const std::string& bytes, Said* got) {
  const int fd = file_of(bytes);
  hone_artifact* artifact = nullptr;
  *got = HONE_SAID(load(device_, fd, &artifact, error));
  close(fd);
  if (artifact != nullptr) artifacts_.push_back(artifact);
  return artifact;
}

void OnDevice::unload(hone_artifact* artifact) {
  artifacts_.erase(std::remove(artifacts_.begin(), artifacts_.end(), artifact), artifacts_.end());
  table().unload(artifact);
}

hone_kernel* OnDevice::kernel(hone_artifact* artifact, const char* entry,
                              const std::vector<std::uint32_t>& kinds) {
  hone_kernel* found = nullptr;
  if (artifact == nullptr) return found;
  const Said got = HONE_SAID(get_kernel(artifact, entry, kinds.data(),
                                        static_cast<std::uint32_t>(kinds.size()), &found, error));
  EXPECT_EQ(got.code, HONE_OK) << got.words;
  return found;
}

Said OnDevice::get_kernel(hone_artifact* artifact, const char* entry,
                          const std::vector<std::uint32_t>& kinds) {
  hone_kernel* found = nullptr;
  return HONE_SAID(get_kernel(artifact, entry, kinds.data(),
                              static_cast<std::uint32_t>(kinds.size()), &found, error));
}

hone_launch OnDevice::shape(const std::vector<std::uint64_t>& values, unsigned grid,
                            unsigned block) {
  hone_launch launch{};
  launch.struct_size = sizeof launch;
  launch.count = static_cast<std::uint32_t>(values.size());
  launch.values = values.data();
  for (int i = 0; i < 3; ++i) launch.grid[i] = launch.block[i] = 1;
  launch.grid[0] = grid;
  launch.block[0] = block;
  return launch;
}

hone_buffer* OnDevice::another_buffer(std::uint64_t bytes) {
  hone_buffer* buffer = nullptr;
  const Said got = HONE_SAID(create_buffer(device_, bytes, &buffer, error));
  EXPECT_EQ(got.code, HONE_OK) << got.words;
  if (buffer != nullptr) buffers_.push_back(buffer);
  return buffer;
}

Value OnDevice::facts() const {
  auto facts = backend().facts(device_);
  if (facts) return std::move(facts).value();
  ADD_FAILURE() << facts.error().message;
  return Value::map();
}

std::int64_t OnDevice::limit(const char* name) const {
  const Value all = facts();
  const Value* limits = all.find("limits");
  const Value* found = limits != nullptr ? limits->find(name) : nullptr;
  return found != nullptr && found->is_int() ? found->as_int() : 0;
}

bool OnDevice::starts_blocks() const { return limit("block_threads") > 0; }

}  // namespace hone::test
