// Task ids, splits, held-out tasks and random draws.
#include "episode/catalog.hpp"

#include <set>

#include "episode/service_fixture.hpp"

namespace hone {
namespace {

using test::small_task;
using test::task_list;

std::shared_ptr<const Catalog> two_datasets(bool open_held_out = false) {
  auto catalog = Catalog::open(
      {task_list("a", {small_task("one"), small_task("both"), small_task("exam", "held_out")}),
       task_list("b", {small_task("both"), small_task("other", "test")})},
      {open_held_out});
  EXPECT_TRUE(catalog.ok());
  return *catalog;
}

TEST(Catalog, FullIdOrUniqueBareId_FindsTheTask) {
  const auto catalog = two_datasets();
  EXPECT_EQ((*catalog->find("a/one"))->dataset, "a");
  EXPECT_EQ((*catalog->find("one"))->dataset, "a");
  EXPECT_EQ((*catalog->find("b/both"))->dataset, "b");
  EXPECT_EQ(catalog->find("both").error().message,
            "the task id 'both' is in several datasets: 'a/both', 'b/both'");
}

TEST(Catalog, Task_IsLoadedOnce) {
  const auto catalog = two_datasets();
  EXPECT_EQ(catalog->find("one")->get(), catalog->find("a/one")->get());
}

TEST(Catalog, TaskForABackend_HasOnlyThatBackendsSettings) {
  Task task = small_task("one");
  task.backends["wide"] = task.backends.at("cpu");
  task.backends["wide"].timed = Dims{{"n", 4096}};
  const auto catalog = Catalog::open({task_list("a", {task})}, {});
  ASSERT_TRUE(catalog.ok());
  const auto wide = (*catalog)->find_for("wide", "one");
  ASSERT_TRUE(wide.ok()) << wide.error().message;
  EXPECT_EQ((*wide)->timed.at("n"), 4096);
  EXPECT_EQ((*wide)->backends.size(), 1u);
  EXPECT_NE((*(*catalog)->find_for("cpu", "one"))->timed.at("n"), 4096);
  EXPECT_EQ((*catalog)->find_for("wide", "a/one")->get(), wide->get());
  EXPECT_EQ((*catalog)->find_for("narrow", "one").error().message,
            "task one: no sources for backend 'narrow'; it has: cpu, wide");
}

TEST(Catalog, HeldOutTask_IsNotFound) {
  const auto closed = two_datasets();
  for (const char* id : {"a/exam", "exam", "a/exan"}) {
    const auto found = closed->find(id);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().code, Code::kNotFound);
    EXPECT_EQ(found.error().message,
              "no task is called '" + std::string(id) + "'; describe lists them");
  }
  EXPECT_EQ(closed->list("held_out").error().message,
            "unknown split 'held_out'; valid: train, test");
  EXPECT_EQ(closed->list("")->size(), 4u);
  const auto opened = two_datasets(true);
  EXPECT_TRUE(opened->find("exam").ok());
  EXPECT_EQ(opened->list("held_out")->size(), 1u);
}

TEST(Catalog, Draws_AreDeterministicAndReachAllTasks) {
  const auto catalog = two_datasets();
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    EXPECT_EQ(*catalog->draw(seed, "train", "cpu"), *catalog->draw(seed, "train", "cpu"));
    drawn.insert(*catalog->draw(seed, "train", "cpu"));
  }
  EXPECT_EQ(drawn, (std::set<std::string>{"a/one", "a/both", "b/both"}));
  EXPECT_EQ(catalog->draw(1, "train", "cuda").error().message,
            "no task of split 'train' has sources for backend 'cuda'");
}

TEST(Catalog, Draw_OnlyTasksTheEnvironmentAccepts) {
  const auto catalog = two_datasets();
  const auto draw = [&](std::uint64_t seed, const std::string& id) {
    return catalog->draw(seed, "train", "cpu", false,
                         [&id](const TaskEntry& entry) { return entry.id == id; });
  };
  for (std::uint64_t seed = 0; seed < 16; ++seed) EXPECT_EQ(*draw(seed, "one"), "a/one");
  EXPECT_EQ(draw(1, "exam").error().message,
            "no task of split 'train' has sources for backend 'cpu' and suits the environment");
}

TEST(Catalog, DuplicateName_IsRefused) {
  EXPECT_EQ(Catalog::open({task_list("a", {}), task_list("a", {})}, {}).error().message,
            "two datasets have the name 'a'");
  EXPECT_EQ(Catalog::open({task_list("a", {small_task(), small_task()})}, {}).error().message,
            "dataset a: list: found the task 'add_relu' twice");
}

TEST(Catalog, TaskWithAnotherSplitThanListed_IsNotServed) {
  TaskSource source = task_list("a", {small_task("one")});
  source.get = [](const std::string&) { return Result<Task>(small_task("one", "held_out")); };
  const auto catalog = Catalog::open({source}, {});
  EXPECT_EQ((*catalog)->find("one").error().message,
            "dataset a: the task 'one' is listed in split 'train' but its own split is 'held_out'");
}

/// A dataset that lists nothing, and has whatever begins with "a".
TaskSource unlisted(bool allowed, int* asked = nullptr) {
  TaskSource source = task_list("open", {});
  source.unlisted = allowed;
  source.get = [asked](const std::string& id) -> Result<Task> {
    if (asked != nullptr) ++*asked;
    if (id.starts_with("bad")) return invalid_argument(id + " cannot be made a task");
    if (!id.starts_with("a")) return not_found("no such task");
    Task task = small_task(id, id == "a_secret" ? "held_out" : "train");
    return task;
  };
  return source;
}

TEST(Catalog, UnlistedTasks_NeedTheConfiguration) {
  int asked = 0;
  const auto catalog =
      Catalog::open({unlisted(true, &asked), task_list("a", {small_task("one")})}, {});
  ASSERT_TRUE(catalog.ok());
  const auto found = (*catalog)->find("open/a1");
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ((*found)->dataset, "open");
  EXPECT_EQ((*catalog)->find("open/a1")->get(), found->get());
  EXPECT_EQ((*catalog)->find_for("cpu", "open/a1")->get(),
            (*catalog)->find_for("cpu", "open/a1")->get());
  EXPECT_EQ((*catalog)->entry("open/a1")->backends, std::vector<std::string>{"cpu"});
  EXPECT_EQ(asked, 1);
  EXPECT_EQ((*catalog)->list("")->size(), 1u);
  EXPECT_EQ((*catalog)->find("open/b").error().code, Code::kNotFound);
  EXPECT_EQ((*catalog)->find("a1").error().code, Code::kNotFound);
  EXPECT_EQ((*catalog)->find("open/bad").error().message,
            "dataset open: bad cannot be made a task");
  EXPECT_EQ((*catalog)->find("open/a_secret").error().code, Code::kNotFound);
  EXPECT_TRUE((*catalog)->find("open/a_secret", true).ok());

  const auto closed = Catalog::open({unlisted(false)}, {});
  EXPECT_EQ((*closed)->find("open/a1").error().code, Code::kNotFound);
}

TEST(Catalog, TooManyUnlistedTasks_OldestIsForgotten) {
  int asked = 0;
  const auto catalog = Catalog::open({unlisted(true, &asked)}, {});
  const auto first = *(*catalog)->find_for("cpu", "open/a");
  for (std::size_t i = 0; i < Catalog::kUnlistedKept; ++i)
    ASSERT_TRUE((*catalog)->find_for("cpu", "open/a" + std::to_string(i)).ok());
  EXPECT_EQ(asked, static_cast<int>(Catalog::kUnlistedKept) + 1);
  EXPECT_NE((*catalog)->find_for("cpu", "open/a")->get(), first.get());
  EXPECT_EQ(asked, static_cast<int>(Catalog::kUnlistedKept) + 2);
}

TEST(Catalog, UnknownTask_SuggestsTheNearest) {
  EXPECT_EQ(two_datasets()->find("a/ome").error().message,
            "no task is called 'a/ome'; did you mean 'a/one'?");
}

}  // namespace
}  // namespace hone
