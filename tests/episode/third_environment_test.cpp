// A third environment, as docs/environments.md shows it, played through the whole service.
#include <fstream>
#include <sstream>

#include "base/utf8.hpp"
#include "common/turns.hpp"
#include "episode/service_fixture.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

// docs: begin
/// variants: an action picks one of a few sources by name.
class Variants final : public Environment {
 public:
  struct Chosen final : Settings {
    TurnRules rules;
  };
  explicit Variants(std::map<std::string, std::string> sources) : sources_(std::move(sources)) {}

  std::string name() const override { return "variants"; }
  Value describe() const override {
    return Value::map({{"name", name()},
                       {"max_turns", TurnRules().max_turns},
                       {"actions", Value::array({Value::map({{"pick", "str: a name"}})})},
                       {"options", describe_turn_rules({})}});
  }
  std::shared_ptr<const Settings> read_options(Fields& options, const Task&,
                                               const std::string&) const override {
    auto chosen = std::make_shared<Chosen>();
    chosen->rules = read_turn_rules(options, {});
    return chosen;
  }
  std::int64_t turns_max(const Settings& settings) const override {
    return static_cast<const Chosen&>(settings).rules.max_turns;
  }
  Value first_observation(const EpisodeView& view) const override {
    return observation(view, nullptr, "Pick a source.");
  }
  Result<Prepared> prepare(const EpisodeView&, const Value& action) const override {
    Fields f(action, "step: action");
    const std::string pick = f.text("pick", 64);
    HONE_TRY(f.finish());  // the caller's mistake: the turn stays open
    const auto found = sources_.find(pick);
    if (found != sources_.end()) return Prepared(Candidate{"c++", found->second});
    Verdict verdict;  // the player's mistake: a turn, and a reward
    verdict.outcome = Outcome::kNoCode;
    verdict.stage = "response";
    verdict.reason = "no source is called '" + valid_utf8(pick) + "'";
    return Prepared(std::move(verdict));
  }
  Stop stop(const EpisodeView& view, const TurnResult& result) const override {
    return decide_stop(rules(view), view.turns.size(), view.seconds_used, result);
  }
  Value observe(const EpisodeView& view, const Value&, const TurnResult& result) const override {
    return observation(view, &result,
                       result.verdict ? std::string(outcome_name(result.verdict->outcome))
                                      : "not judged: " + result.fault);
  }

 private:
  static const TurnRules& rules(const EpisodeView& view) {
    return static_cast<const Chosen&>(view.settings).rules;
  }
  static Value observation(const EpisodeView& view, const TurnResult* result, std::string words) {
    Value seen = Value::map(
        {{"messages", Value::array({Value::map({{"role", "user"}, {"content", words}})})},
         {"feedback", std::move(words)}});
    add_turns(seen, view, rules(view), result);
    return seen;
  }
  const std::map<std::string, std::string> sources_;
};
// docs: end

class ThirdEnvironmentTest : public ServiceTest {
 protected:
  void SetUp() override {
    auto catalog = Catalog::open({task_list("tasks", {small_task()})}, {});
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    Environments environments;
    environments.push_back(std::make_unique<Variants>(
        std::map<std::string, std::string>{{"fast", "int fast;"}, {"slow", "int slow;"}}));
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

TEST_F(ThirdEnvironmentTest, PlaysAnEpisode) {
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

TEST(ThirdEnvironment, IsWhatTheDocumentShows) {
  const auto text_of = [](const std::string& name) {
    std::ifstream file(test::source_dir() / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string source = text_of("tests/episode/third_environment_test.cpp");
  const std::size_t begin = source.find("// docs: begin\n") + 15;
  const std::string shown = source.substr(begin, source.find("// docs: end\n") - begin);
  ASSERT_GT(shown.size(), 1000u);
  EXPECT_NE(text_of("docs/environments.md").find(shown), std::string::npos);
}

}  // namespace
}  // namespace hone::test
