// Random requests, from a printed seed, never crash the service, and each is answered once.
#include <cstdlib>
#include <random>

#include "episode/service_fixture.hpp"
#include "wire/requests.hpp"

namespace hone::test {
namespace {

class RandomTest : public ServiceTest {
 protected:
  RandomTest() {
    const char* given = std::getenv("HONE_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : random_u64();
    std::printf("HONE_SEED=%llu\n", static_cast<unsigned long long>(seed));
    random_.seed(seed);
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  std::string noise() {
    static const std::vector<std::string> kParts = {
        "```",       "```cpp\n", "~~~\n", "<think>",  "</think>",           "<code>",   "</code>",
        "add_relu(", "\n",       "\r\n",  "````",     std::string(1, '\0'), "\xff\xfe", "é",
        "{{x}}",     "error: ",  "=1003", "<answer>", "</answer>"};
    std::string text;
    for (std::size_t i = below(30); i > 0; --i) text += kParts[below(kParts.size())];
    return text;
  }

  Value any(int depth = 0) {
    switch (below(depth > 3 ? 6 : 8)) {
      case 0:
        return {};
      case 1:
        return Value(below(2) == 0);
      case 2:
        return Value(static_cast<std::int64_t>(random_()));
      case 3:
        return Value(std::nan(""));
      case 4:
        return Value(noise());
      case 5:
        return Value::bytes(noise());
      case 6: {
        Value list = Value::array();
        for (std::size_t i = below(4); i > 0; --i) list.push(any(depth + 1));
        return list;
      }
      default:
        return map({"code", "response", "language", "options", "x"}, depth + 1);
    }
  }

  Value map(const std::vector<std::string>& keys, int depth = 0) {
    Value value = Value::map();
    for (const std::string& key : keys) {
      if (below(3) == 0) value.set(key, any(depth));
    }
    return value;
  }

  Value plausible_action() {
    return Value::map(
        {{below(2) == 0 ? "code" : "response", noise() + "```cpp\nvoid add_relu();\n```"}});
  }

  Verdict any_verdict() {
    Verdict verdict = outcome(kOutcomes[below(std::size(kOutcomes))].outcome, noise());
    verdict.diagnostics = noise() + noise();
    verdict.signal = below(2) == 0 ? "SIGSEGV" : noise();
    if (below(2) == 0) {
      verdict.mismatch =
          Mismatch{noise(), below(2) == 0 ? "hidden" : noise(), noise(), {1}, 1.0, {}, 0, 1, 2, 1};
    }
    if (verdict.correct()) verdict.speedup = ScriptedEvaluator::correct(1.1).speedup;
    return verdict;
  }

  std::mt19937_64 random_;
};

TEST_F(RandomTest, RandomRequests_NeverCrashTheService) {
  std::vector<Value> opened;
  std::vector<std::int64_t> turns;  // to take next, as far as is known
  std::deque<Answer> answers;
  for (int i = 0; i < 3000; ++i) {
    script = {below(8) == 0 ? Result<Verdict>(internal_error(noise()))
                            : Result<Verdict>(any_verdict())};
    if (opened.empty() || below(10) == 0) {
      opened.push_back(reset(Value::map({{"max_turns", 1 + static_cast<int>(below(6))},
                                         {"feedback_tokens", 64 + static_cast<int>(below(100))}})));
    }
    // The newest few, so that most are still open: a dead episode exercises little.
    const std::size_t chosen = opened.size() - 1 - below(std::min<std::size_t>(opened.size(), 4));
    const Value& episode = opened[chosen];
    Answer& answer = answers.emplace_back();
    Value body = Value::map({{"episode", at(episode, {"episode"})}});
    switch (below(8)) {
      case 0:
        service->step(me, any(), 0, {}, answer.take());
        break;
      case 1:
        service->reset(me, map({"task", "split", "seed", "group", "key", "options"}),
                       answer.take());
        break;
      case 2:
        (void)close(me, below(4) == 0 ? body : any()).ok();
        (void)service->resume(me, any()).ok();
        (void)service->cancel(me, any()).ok();
        (void)service->describe(me, any()).ok();
        if (const auto ping = wire::read_request<wire::PingRequest>(any()))
          service->renew(me, ping->episodes);
        answer.count = 1;
        break;
      case 3:
        body.set("turn", static_cast<std::int64_t>(below(8))).set("action", any());
        service->step(me, body, 0, {}, answer.take());
        break;
      case 4:
        (void)service->resume(me, body.set("token", at(episode, {"token"}))).ok();
        answer.count = 1;
        break;
      default:
        turns.resize(opened.size(), 1);
        body.set("turn", turns[chosen]).set("action", plausible_action());
        service->step(me, body, 0, {}, answer.take());
        if (answer.bytes) ++turns[chosen];
    }
    now_s = now_s + static_cast<double>(below(20));
    if (below(50) == 0) service->reap();
  }
  for (const Answer& answer : answers) EXPECT_EQ(answer.count, 1);
  EXPECT_EQ(service->pending(), 0u);
  EXPECT_GT(at(service->stats(), {"steps", "done"}).as_int(), 100);
}

}  // namespace
}  // namespace hone::test
