// Datasets and the host's services, through the Dataset wrapper.
#include "plugin/dataset.hpp"

#include <gtest/gtest.h>

#include "plugin/backend.hpp"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

using test::fixture;

/// A parser that knows one document.
Result<Value> parse_title(std::string_view text, std::string_view name) {
  if (text == "broken") return invalid_argument(std::string(name) + ":1: expected a map");
  Value value = Value::map({{"title", text}});
  if (text == "extra") value.set("titel", 1);
  return Value::map({{"value", value}, {"lines", Value::map({{"", 1}, {"/titel", 3}})}});
}

std::shared_ptr<HostServices> host_with_parser() {
  HostOptions options;
  options.parse_yaml = parse_title;
  options.workdir = "/somewhere";
  return std::make_shared<HostServices>("dataset_good", std::move(options));
}

Result<std::unique_ptr<Dataset>> open(const Value& config = Value::map()) {
  return Dataset::open(test::load(fixture("dataset_good")), "mine", config, host_with_parser());
}

TEST(Dataset, Tasks_AreListedAndReturned) {
  auto dataset = open();
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto entries = (*dataset)->list();
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ((*entries)[0].id, "copy");
  EXPECT_EQ((*entries)[0].backends, std::vector<std::string>{"cpu"});
  const auto task = (*dataset)->get("copy");
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task->dataset, "mine");
  EXPECT_EQ(task->entry, "copy");
}

TEST(Dataset, UnknownTask_SuggestsTheNearest) {
  auto dataset = open();
  const auto task = (*dataset)->get("copi");
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.error().code, Code::kNotFound);
  EXPECT_EQ(task.error().message,
            "dataset_good: get: no task is called 'copi'; did you mean 'copy'?");
  EXPECT_EQ((*dataset)->get(std::string("copy\0x", 6)).error().code, Code::kNotFound);
}

TEST(Dataset, InvalidTask_IsRefused) {
  auto dataset = open(Value::map({{"broken", true}}));
  const auto task = (*dataset)->get("copy");
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.error().code, Code::kInternal);
  EXPECT_EQ(task.error().message,
            "dataset_good: get: copy: task: entry: 'no identifier' is not a C identifier");
}

TEST(Dataset, YamlConfig_IsParsedByTheHost) {
  auto dataset = open(Value::map({{"yaml", "a title"}}));
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  EXPECT_EQ((*dataset)->list()->front().title, "a title");
  EXPECT_EQ(open(Value::map({{"yaml", "broken"}})).error().message,
            "dataset_good: open: config.yaml:1: expected a map");
  EXPECT_EQ(open(Value::map({{"yaml", "extra"}})).error().message,
            "dataset_good: open: config.yaml:3: unknown key 'titel'; did you mean 'title'?");
}

TEST(Dataset, HostWithoutAParser_Works) {
  const auto dataset = Dataset::open(test::load(fixture("dataset_good")), "mine",
                                     Value::map({{"yaml", "x"}}), test::services());
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, Code::kUnimplemented);
  EXPECT_EQ(dataset.error().message, "dataset_good: open: this host parses no yaml");
}

TEST(Dataset, InvalidList_IsRefused) {
  const auto message = [](const Value& written) {
    const auto entries = entries_from_value(written);
    return entries ? "" : entries.error().message;
  };
  const Value entry = Value::map({{"id", "a"}, {"title", "A"}, {"split", "train"}});
  EXPECT_EQ(message(Value::map()), "expected a list, found map");
  EXPECT_EQ(message(Value::array({entry, entry})), "item 1: id: 'a' occurs twice, expected once");
  Value unnamed = entry;
  unnamed.set("id", "");
  EXPECT_EQ(message(Value::array({unnamed})), "item 0: id: expected a name, found none");
}

TEST(HostServices, HostTable_GivesTimeFolderAndCancellation) {
  bool stop = false;
  HostOptions options;
  options.cancelled = [&stop] { return stop; };
  options.workdir = "/a/folder";
  const HostServices services("x", std::move(options));
  const hone_host* host = services.table();
  EXPECT_EQ(host->struct_size, sizeof(hone_host));
  EXPECT_STREQ(host->workdir(host->self), "/a/folder");
  EXPECT_EQ(host->cancelled(host->self), 0);
  stop = true;
  EXPECT_EQ(host->cancelled(host->self), 1);
  const std::uint64_t before = host->now_ns(host->self);
  EXPECT_GE(host->now_ns(host->self), before);
}

TEST(Backend, UnknownBackend_IsRefused) {
  const auto backend = Backend::open(test::load(fixture("good")), test::services());
  ASSERT_FALSE(backend.ok());
  EXPECT_EQ(backend.error().message, "good.so: offers no hone.backend/0");
}

}  // namespace
}  // namespace hone
