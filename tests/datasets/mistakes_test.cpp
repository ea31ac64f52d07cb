// The dataset plugin with folders made by the test: the example of docs/tasks.md, mistakes in it, order and
// splits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "datasets/folder.hpp"
#include "datasets/open_tasks.hpp"
#include "datasets/workbench.hpp"
#include "places.hpp"

namespace hone {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

/// The text of the fenced block that follows "`name`:" in docs/tasks.md.
std::string example(const std::string& name) {
  const std::string page = read_file(test::source_dir() / "docs/tasks.md").value();
  const std::size_t heading = page.find("`" + name + "`:");
  EXPECT_NE(heading, std::string::npos) << name;
  const std::size_t begin = page.find('\n', page.find("```", heading)) + 1;
  return page.substr(begin, page.find("```", begin) - begin);
}

class ExampleTask : public testing::Test {
 protected:
  void SetUp() override { add("scale"); }

  /// Writes the example of the docs as a task of this name.
  void add(const std::string& id) {
    std::filesystem::create_directory(folder_.path() / id);
    for (const char* file : {"task.yaml", "reference.cpp", "baseline.cpp"}) {
      write(id + "/" + file, example(std::string("scale/") + file));
    }
  }
  void write(const std::string& file, const std::string& text) {
    const Status written = write_file(folder_.path() / file, text);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  /// Replaces text in the example's task.yaml.
  void change(const std::string& from, const std::string& to) {
    std::string text = example("scale/task.yaml");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("scale/task.yaml", text.replace(at, from.size(), to));
  }
  /// What opening the folder says.
  std::string refusal() const {
    const auto opened = open_tasks(folder_.path());
    return opened.ok() ? "accepted" : opened.error().message;
  }

  Folder folder_;
};

TEST_F(ExampleTask, TaskOfTheDocs_IsReadAndPasses) {
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto task = dataset.value()->get("scale");
  ASSERT_TRUE(task.ok()) << task.error().message;
  const BackendSources& sources = task.value().backends.at("cpu");
  const auto answers =
      workbench::build(task.value(), sources.reference, {"reference", "exact"}, folder_.path());
  const auto baseline = workbench::build(task.value(), sources.baseline, {"scale"}, folder_.path());
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  for (const workbench::Case& one : workbench::cases(task.value(), false, 1)) {
    const workbench::Call exact(task.value(), one, true), got(task.value(), one, false);
    exact.run(workbench::load(answers.value(), "exact"));
    got.run(workbench::load(answers.value(), "reference"));
    EXPECT_LE(workbench::worst_share(task.value(), got, exact), 0.5) << one.name();
    got.run(workbench::load(baseline.value(), "scale"));
    EXPECT_LE(workbench::worst_share(task.value(), got, exact), 1) << one.name();
  }
}

TEST_F(ExampleTask, ValidTask_IsListedWithItsFacts) {
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto list = dataset.value()->list();
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_EQ(list.value().size(), 1u);
  const TaskEntry& entry = list.value()[0];
  EXPECT_EQ(entry.id, "scale");
  EXPECT_EQ(entry.title, "Scale a vector");
  EXPECT_EQ(entry.split, "train");
  EXPECT_THAT(entry.tags, testing::ElementsAre("elementwise"));
  EXPECT_THAT(entry.backends, testing::ElementsAre("cpu"));
}

TEST_F(ExampleTask, OtherBackend_HasItsOwnShapes) {
  change("baseline: baseline.cpp}",
         "baseline: baseline.cpp}\n"
         "  wide:\n"
         "    languages: [w]\n"
         "    reference: reference.cpp\n"
         "    baseline: baseline.cpp\n"
         "    shown: [{n: 64}]\n"
         "    hidden: [{n: [1, 5]}]\n"
         "    timed: {n: 4096}\n"
         "    tolerance: {rtol: 1.0e-3, reason: fewer bits}\n"
         "    alignment: 16\n"
         "  wider: {languages: [v], like: wide}");
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto task = dataset.value()->get("scale");
  ASSERT_TRUE(task.ok()) << task.error().message;
  EXPECT_EQ(task_for_backend(*task, "cpu")->timed.at("n"), 2097152);
  for (const char* backend : {"wide", "wider"}) {
    const auto seen = task_for_backend(*task, backend);
    ASSERT_TRUE(seen.ok()) << backend;
    EXPECT_EQ(seen->shown.at(0).at("n"), 64);
    EXPECT_EQ(seen->hidden.at(0).ranges.at("n").second, 5);
    EXPECT_EQ(seen->timed.at("n"), 4096);
    EXPECT_EQ(seen->tolerance.rtol, 1e-3);
    EXPECT_EQ(seen->alignment, 16);
    EXPECT_EQ(seen->backends.at(backend).reference.text, example("scale/reference.cpp"));
  }
  EXPECT_THAT(task->backends.at("wider").languages, testing::ElementsAre("v"));
}

TEST_F(ExampleTask, UnknownTask_SuggestsTheNearest) {
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto task = dataset.value()->get("scail");
  ASSERT_FALSE(task.ok());
  EXPECT_EQ(task.error().code, Code::kNotFound);
  EXPECT_THAT(task.error().message, HasSubstr("did you mean 'scale'?"));
}

struct Mistake {
  const char* from;
  const char* to;
  const char* message;
};

TEST_F(ExampleTask, Mistake_IsReportedWithFileAndLine) {
  const Mistake mistakes[] = {
      {"role: out", "rol: out", "task.yaml:10: unknown key 'rol'; did you mean 'role'?"},
      {"entry: scale", "entry: scale\nentri: scale",
       "task.yaml:7: unknown key 'entri'; did you mean 'entry'?"},
      {"flops: n", "slowdown_max: 1.5", "task.yaml:25: slowdown_max: expected 0 or at least 2"},
      {"flops: n", "flops: 0.5", "task.yaml:25: flops: "},
      {"flops: n", "flops: 2 * m",
       "task.yaml:25: flops: expression '2 * m', column 6: unknown name 'm'; "},
      {"flops: n", "flops: n - 20",
       "task.yaml:25: flops: expected at least 0 for each shape, found -"},
      {"role: out, shape: [n]", "role: out, shape: [n +]",
       "task.yaml:10: shape: expression 'n +', column 4: unexpected end"},
      {"{name: n, value: n}", "{name: n, value: n / 0}",
       "task.yaml:12: value: expression 'n / 0', column 6: division by zero"},
      {"role: out", "role: oot", "task.yaml:10: role: unknown value 'oot'; did you mean 'out'?"},
      {"role: out", "role: out, may_change: true",
       "task.yaml:10: may_change: found on a tensor of role out, expected role in"},
      {"dtype: f32", "dtype: float", "task.yaml:13: dtype: unknown value 'float'"},
      {"title: Scale a vector", "title: 3", "task.yaml:2: title: expected a string, found int"},
      {"entry: scale", "entry: 2scale",
       "task.yaml:6: entry: expected a C identifier of at most 64 characters, found '2scale'"},
      {"[x, out, n, a]", "[x, out, n, b]", "task.yaml:14: arguments: unknown argument 'b'"},
      {"[x, out, n, a]", "[x, out, n]",
       "task.yaml:14: arguments: expected 'a' once, found it 0 times"},
      {"kind: scaled", "kind: scalde",
       "task.yaml:17: kind: unknown value 'scalde'; did you mean 'scaled'?"},
      {"fill: {kind", "tensors: {z: {}}, fill: {kind", "task.yaml:17: z: unknown tensor 'z'"},
      {"timed: {n: 2097152}", "timed: {m: 2097152}", "task.yaml:21: n: missing"},
      {"timed: {n: 2097152}", "timed: {n: 2.5}",
       "task.yaml:21: n: expected an integer, found float"},
      {"{n: [1, 33]}", "{n: [33, 1]}",
       "task.yaml:20: n: expected 0 ≤ low ≤ high ≤ 2^32, found [33, 1]"},
      {"rtol: 2.4e-7", "rtol: -1", "task.yaml:23: rtol: expected 0 to 1, found -1"},
      {"reason:", "raeson:", "task.yaml:24: unknown key 'raeson'; did you mean 'reason'?"},
      {"range: [0.5, 2.5]", "range: [2.5, 0.5]",
       "task.yaml:13: range: expected [low, high] with low below high"},
      {"{name: n, value: n}", "{name: n}",
       "task.yaml:12: range: expected either a value or a range, found neither"},
      {"baseline: baseline.cpp", "baseline: base.cpp",
       "task.yaml:27: baseline: expected the file "},
      {"baseline: baseline.cpp", "baseline: ../baseline.cpp",
       "task.yaml:27: baseline: expected the name of a file in the task's folder, found "
       "'../baseline.cpp'"},
      {"title:", "id: ../x\ntitle:", "task.yaml:2: id: expected 1 to 64 of a-z, 0-9"},
      {"title:", "alignment: 48\ntitle:",
       "task.yaml:2: alignment: expected a power of two, found 48"},
      {"tags: [elementwise]", "tags: [elementwise", "task.yaml:"},
      {"dtype: f32", "dtype: bf16",
       "task.yaml:13: dtype: expected a type that is passed by value, found bf16"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp, timed: {m: 1}}",
       "task.yaml:27: n: missing"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp, shown: []}",
       "task.yaml:27: shown: expected at least one"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp, hidden: [{n: [2, 1]}]}",
       "task.yaml:27: n: expected 0 ≤ low ≤ high ≤ 2^32, found [2, 1]"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp, tolerance: {rtol: 1}}",
       "task.yaml:27: reason: missing"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp, alignment: 3}",
       "task.yaml:27: alignment: expected a power of two, found 3"},
      {"baseline: baseline.cpp}", "baseline: baseline.cpp}\n  wide: {languages: [w], like: gpu}",
       "task.yaml:28: like: unknown backend above 'gpu'; did you mean 'cpu'?"},
      {"baseline: baseline.cpp}",
       "baseline: baseline.cpp}\n  wide: {languages: [w], like: cpu, timed: {n: 1}}",
       "task.yaml:28: unknown key 'timed'"},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.to);
    change(mistake.from, mistake.to);
    EXPECT_THAT(refusal(), HasSubstr(std::string("/scale/") + mistake.message));
  }
}

TEST_F(ExampleTask, NegativeSize_IsRefusedByTheHost) {
  change("{name: out, role: out, shape: [n]}", "{name: out, role: out, shape: [n - 20]}");
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto task = dataset.value()->get("scale");
  ASSERT_FALSE(task.ok());
  EXPECT_THAT(task.error().message, HasSubstr("tensor out"));
}

TEST_F(ExampleTask, Files_WithByteOrderMarks_AreReadWithoutThem) {
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string file : {"task.yaml", "reference.cpp", "baseline.cpp"}) {
    write("scale/" + file, mark + example("scale/" + file));
  }
  write("dataset.yaml", mark + "order: [scale]\n");
  const auto opened = open_tasks(folder_.path());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(opened.value()->get("scale")->backends.at("cpu").reference.text,
            example("scale/reference.cpp"));
}

TEST_F(ExampleTask, Files_OfUtf16_AreRefusedByName) {
  for (const std::string file : {"task.yaml", "reference.cpp", "baseline.cpp"}) {
    const std::string good = example("scale/" + file);
    write("scale/" + file, "\xff\xfe" + good);
    EXPECT_THAT(refusal(), HasSubstr(file + ": found UTF-16 text, expected UTF-8"));
    write("scale/" + file, good);
  }
}

TEST_F(ExampleTask, Folder_MustExistAndHoldTasks) {
  const auto missing = open_tasks(folder_.path() / "none");
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("expected a folder of tasks, found none"));
  Folder empty;
  const auto nothing = open_tasks(empty.path());
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.error().message, EndsWith("expected a folder per task, found none"));
  std::filesystem::create_directory(folder_.path() / "bare");
  EXPECT_THAT(refusal(), HasSubstr("bare/task.yaml, found none"));
}

TEST_F(ExampleTask, HeldOutSplit_InTheTaskOrTheDataset) {
  add("other");
  change("title:", "split: held_out\ntitle:");
  write("dataset.yaml", "order: [scale]\nsplits:\n  held_out: [other]\n");
  const auto dataset = open_tasks(folder_.path());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  const auto list = dataset.value()->list();
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_EQ(list.value().size(), 2u);
  EXPECT_EQ(list.value()[0].id, "scale");
  EXPECT_EQ(list.value()[1].id, "other");
  for (const TaskEntry& entry : list.value()) EXPECT_EQ(entry.split, "held_out") << entry.id;
  EXPECT_EQ(dataset.value()->get("other").value().split, "held_out");
}

TEST_F(ExampleTask, DatasetFileWithAMistake_IsRefusedWithItsLine) {
  write("dataset.yaml", "splits:\n  held_out: [scael]\n");
  EXPECT_THAT(refusal(),
              HasSubstr("dataset.yaml:2: held_out: unknown task 'scael'; did you mean 'scale'?"));
  write("dataset.yaml", "order: [scale]\nsplit: {}\n");
  EXPECT_THAT(refusal(), HasSubstr("dataset.yaml:2: unknown key 'split'; did you mean 'splits'?"));
  write("dataset.yaml", "order: [scale, scale]\n");
  EXPECT_THAT(refusal(), HasSubstr("dataset.yaml:1: order: 'scale' stands twice"));
}

TEST_F(ExampleTask, Id_MustBeUnique) {
  add("twin");
  change("title:", "id: twin\ntitle:");
  EXPECT_THAT(refusal(), HasSubstr("twin/task.yaml: id: 'twin' is another task's already"));
}

}  // namespace
}  // namespace hone
