// The live view while more browsers ask than may wait for the server.
#include "web/web.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hone {
namespace {

const HttpRequest kLive{.method = "GET", .path = "/api/live", .body = {}};

/// A server that answers at once, or not before go_on().
class SlowServer {
 public:
  WebSources sources() {
    return {.server = [this](const std::string&, const Value&) -> Result<Value> {
      if (stalls_) gate_.wait();
      return Value::map({{"status", "serving"}});
    }};
  }
  void stall() { stalls_ = true; }
  void go_on() {
    goes_on_ = true;
    open_.set_value();
  }
  bool goes_on() const { return goes_on_; }

 private:
  std::atomic<bool> goes_on_{false};
  std::atomic<bool> stalls_{false};
  std::promise<void> open_;
  std::shared_future<void> gate_ = open_.get_future().share();
};

/// As many requests as may wait for a server that stalls. One of them asks it.
class Waiting {
 public:
  Waiting(const Web& web, const SlowServer& server) {
    for (int i = 0; i < kLiveReaders; ++i) {
      threads_.emplace_back([this, &web, &server] {
        HttpRequest request = kLive;
        request.gone = [this, asked = std::make_shared<bool>(false)] {
          if (!std::exchange(*asked, true)) ++waiting_;  // the cache asks only those that wait
          return false;
        };
        // A reply that the cache has kept does not wait.
        do EXPECT_EQ(web.handle(request).status, 200);
        while (!server.goes_on());
      });
    }
    while (waiting_ < kLiveReaders - 1) std::this_thread::yield();
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<int> waiting_{0};
  std::vector<std::thread> threads_;
};

TEST(Web, MoreRequestsThanMayWaitForTheServer_GetItsLastReply) {
  SlowServer server;
  const Web web(server.sources());
  const HttpReply first = web.handle(kLive);
  ASSERT_EQ(first.status, 200);
  server.stall();
  Waiting waiting(web, server);
  const HttpReply more = web.handle(kLive);
  EXPECT_EQ(more.status, 200);
  EXPECT_EQ(more.body, first.body);
  server.go_on();
  waiting.join();
}

TEST(Web, MoreRequestsThanMayWaitForAServerThatNeverAnswered_AreRefused) {
  SlowServer server;
  server.stall();
  const Web web(server.sources());
  Waiting waiting(web, server);
  const HttpReply more = web.handle(kLive);
  EXPECT_EQ(more.status, 503);
  EXPECT_EQ(more.retry_after_s, 1);
  server.go_on();
  waiting.join();
}

}  // namespace
}  // namespace hone
