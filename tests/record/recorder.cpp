// Loading the recording driver.
#include "recorder.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hone/recorded_plan_reader.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

void* symbol(const char* library, const char* name) {
  const auto path = build_dir() / "libexec/record" / library;
  void* const loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::abort();
  }
  return found;
}

}  // namespace

void* driver_function(const char* name) { return symbol("libcuda.so.1", name); }
void* runtime_function(const char* name) { return symbol("libcudart.so.13", name); }

void in_child(const std::function<void()>& body) {
  driver_function("cuInit");  // loaded before the fork, as a zygote loads it
  std::fflush(nullptr);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

void begin(const std::string& device_json) {
  ASSERT_EQ(driver("hone_record_begin", device_json.c_str()), 1) << problem();
}

std::uint64_t allocate(std::size_t bytes) {
  unsigned long long address = 0;
  EXPECT_EQ(driver("cuMemAlloc_v2", &address, bytes), 0);
  return address;
}

void* load_kernel(const CubinText& text) {
  const std::string file = cubin_file(text);
  void *module = nullptr, *function = nullptr;
  const void* image = file.data();
  EXPECT_EQ(driver("cuModuleLoadData", &module, image), 0);
  EXPECT_EQ(driver("cuModuleGetFunction", &function, module, text.kernel.c_str()), 0);
  return function;
}

int launch(void* function, std::initializer_list<std::uint64_t> words, void* stream) {
  std::vector<std::uint64_t> values(words);
  std::vector<void*> parameters;
  for (std::uint64_t& value : values) parameters.push_back(&value);
  void** const none = nullptr;
  return driver("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, stream, parameters.data(),
                none);
}

std::string problem() { return driver<const char*>("hone_record_problem"); }

recorded::Plan finish() {
  const char* bytes = nullptr;
  std::uint64_t size = 0;
  if (driver("hone_record_finish", &bytes, &size) != 1) {
    ADD_FAILURE() << problem();
    return {};
  }
  try {
    return recorded::read_plan({bytes, size});
  } catch (const plugin::Failure& failure) {
    ADD_FAILURE() << failure.what();
    return {};
  }
}

}  // namespace hone::test
