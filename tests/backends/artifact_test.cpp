// Artifacts that cannot be loaded: empty, damaged, or for another architecture.
#include <elf.h>

#include "backends/tested.hpp"

namespace hone::test {
namespace {

class BackendArtifact : public OnDevice {
 protected:
  static std::string good() {
    const Value result =
        built(request(in_dialect("KERNEL f(int* x, int n) { EACH(i, n) x[i] = 7; }\n"), {"f"}));
    return result.find("artifact")->as_bytes();
  }
  void expect_refused(const std::string& bytes, const char* what) {
    Said got;
    EXPECT_EQ(load_bytes(bytes, &got), nullptr) << what;
    EXPECT_NE(got.code, HONE_OK) << what;
    EXPECT_NE(got.words, "") << what;
  }
  /// What was refused must not have spoilt what follows.
  void expect_runs(const std::string& bytes) {
    Said got;
    hone_artifact* artifact = load_bytes(bytes, &got);
    ASSERT_EQ(got.code, HONE_OK) << got.words;
    hone_kernel* f = kernel(artifact, "f", {HONE_ARGUMENT_BUFFER, HONE_ARGUMENT_I32});
    ASSERT_NE(f, nullptr);
    ASSERT_EQ(launch(f, shape({0, 3})).words, "");
    ASSERT_EQ(wait().words, "");
    EXPECT_EQ(read<int>(0, 4), (std::vector<int>{7, 7, 7, 0}));
  }
};

TEST_P(BackendArtifact, Garbage_IsRefused) {
  expect_refused("", "nothing");
  expect_refused("garbage", "garbage");
  expect_refused(std::string(1 << 16, '\0'), "zeros");
  expect_refused(to_msgpack(Value::map()), "an empty map");
  expect_refused(to_msgpack(Value::map({{"image", Value::bytes("\x7f"
                                                               "ELF")},
                                        {"entries", Value::map()}})),
                 "an image cut short");
  expect_runs(good());
}

TEST_P(BackendArtifact, Truncated_IsRefused) {
  const std::string whole = good();
  ASSERT_GT(whole.size(), 64u);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    expect_refused(whole.substr(0, size), std::to_string(size).c_str());
  }
  expect_runs(whole);
}

TEST_P(BackendArtifact, ForAnotherArchitecture_IsRefused) {
  std::string other = good();
  const std::string whole = other;
  const std::size_t at = other.find(std::string(ELFMAG) + static_cast<char>(ELFCLASS64));
  if (at == std::string::npos) GTEST_SKIP() << "the artifact holds no ELF image";
  const Elf64_Half machine = EM_VAX;
  std::memcpy(&other[at + offsetof(Elf64_Ehdr, e_machine)], &machine, sizeof machine);
  expect_refused(other, "for a VAX");
  expect_runs(whole);
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendArtifact, testing::ValuesIn(tested()), tested_name);

}  // namespace
}  // namespace hone::test
