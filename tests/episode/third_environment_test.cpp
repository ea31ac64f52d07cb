// The environment of docs/environments-cpp.md, played through the whole service.
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "episode/service_fixture.hpp"
#include "places.hpp"

namespace hone {

std::unique_ptr<Environment> make_variants(std::map<std::string, std::string> sources);

}  // namespace hone

namespace hone::test {
namespace {

class ThirdEnvironmentTest : public ServiceTest {
 protected:
  void SetUp() override {
    auto catalog = Catalog::open({task_list("tasks", {small_task()})}, {});
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    Environments environments;
    environments.push_back(make_variants({{"fast", "int fast;"}, {"slow", "int slow;"}}));
    options_.now_s = [this] { return now_s.load(); };
    service = make_episode_service(options_, std::move(environments), *catalog, evaluator, rewards)
                  .value();
  }
  Value pick(const Value& opened, std::int64_t turn, const std::string& name) {
    Answer answer;
    service->step(me,
                  Value::map({{"episode", *opened.find("episode")},
                              {"turn", turn},
                              {"action", Value::map({{"pick", name}})}}),
                  0, {}, answer.take());
    return answer.body();
  }
};

TEST_F(ThirdEnvironmentTest, ActionsOfTheExample_PlayAnEpisode) {
  const Value opened = reset(Value::map({{"max_turns", 2}}));
  Value body = pick(opened, 1, "slow");
  EXPECT_EQ(submissions.at(0).source, "int slow;");
  EXPECT_EQ(at(body, {"observation", "feedback"}).as_string(), "correct");
  EXPECT_EQ(at(body, {"observation", "turns_left"}).as_int(), 1);
  body = pick(opened, 2, "middling");
  EXPECT_EQ(at(body, {"info", "verdict", "reason"}).as_string(), "no source is called 'middling'");
  EXPECT_TRUE(at(body, {"truncated"}).as_bool());
  Answer code;
  step(code, reset(), 1, "int a;");
  EXPECT_EQ(code.code(), Code::kInvalidArgument);
}

TEST(ThirdEnvironment, Source_IsTheDocumentsExample) {
  const auto text_of = [](const std::string& name) {
    std::ifstream file(test::source_dir() / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string source = text_of("tests/episode/variants.cpp");
  const std::size_t begin = source.find("// docs: begin\n") + 15;
  const std::string shown = source.substr(begin, source.find("// docs: end\n") - begin);
  ASSERT_GT(shown.size(), 1000u);
  EXPECT_NE(text_of("docs/environments-cpp.md").find(shown), std::string::npos);
}

}  // namespace
}  // namespace hone::test
