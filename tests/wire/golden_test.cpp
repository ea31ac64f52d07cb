// The golden bytes of docs/protocol-bytes.md, read from the page itself, against the codec.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/files.hpp"
#include "places.hpp"
#include "wire/message.hpp"

namespace hone::wire {
namespace {

std::string unhex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// "```hex name=x" blocks by name: a frame per line, "\" continues one, "#" begins a comment.
std::map<std::string, Frames> golden_frames() {
  const auto page = read_file(test::source_dir() / "docs/protocol-bytes.md");
  EXPECT_TRUE(page.ok()) << page.error().message;
  std::map<std::string, Frames> blocks;
  std::istringstream lines(*page);
  std::string line, name, hex;
  const std::string fence = "```hex name=";
  while (std::getline(lines, line)) {
    if (line.rfind(fence, 0) == 0) {
      name = line.substr(fence.size());
    } else if (line == "```") {
      name.clear();
    } else if (!name.empty()) {
      hex += line.substr(0, line.find_first_of(" #"));
      if (line.back() == '\\') continue;
      blocks[name].push_back(unhex(hex));
      hex.clear();
    }
  }
  return blocks;
}

class Golden : public testing::Test {
 protected:
  Frames frames(const std::string& name) {
    const auto found = blocks_.find(name);
    EXPECT_NE(found, blocks_.end()) << "docs/protocol-bytes.md has no hex block " << name;
    return found != blocks_.end() ? found->second : Frames();
  }
  void expect_request(const std::string& name, const Request& request) {
    EXPECT_EQ(encode_request(request), frames(name)) << name;
    auto decoded = decode_request(incoming(frames(name)), {});
    ASSERT_TRUE(std::holds_alternative<Request>(decoded))
        << std::get<Refusal>(decoded).error.message;
    const Request& read = std::get<Request>(decoded);
    EXPECT_EQ(read.verb, request.verb);
    EXPECT_EQ(read.id, request.id);
    EXPECT_EQ(read.deadline_ms, request.deadline_ms);
    EXPECT_EQ(read.body, request.body);
    EXPECT_EQ(read.buffers, request.buffers);
  }
  void expect_reply(const std::string& name, ReplyKind kind, const Value& body) {
    EXPECT_EQ(encode_reply({kind, 7, "step", to_msgpack(body), {}}), frames(name)) << name;
    auto decoded = decode_reply(frames(name), {});
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(decoded->kind, kind);
    EXPECT_EQ(decoded->id, 7);
    EXPECT_EQ(decoded->verb, "step");
    EXPECT_EQ(*from_msgpack(decoded->body), body);
  }

 private:
  const std::map<std::string, Frames> blocks_ = golden_frames();
};

const char* const kEpisode = "4be1d6b0c2a39f58";

TEST_F(Golden, Hello_HasTheDocumentedBytes) {
  expect_request("hello-request",
                 {"hello",
                  0,
                  {},
                  Value::map({{"versions", Value::array({"hone/1"})}, {"client", "example/1.0"}}),
                  {}});
}

TEST_F(Golden, Step_HasTheDocumentedBytes) {
  expect_request("step-request", {"step",
                                  7,
                                  60000,
                                  Value::map({{"episode", kEpisode},
                                              {"turn", 1},
                                              {"action", Value::map({{"code", "int x;\n"}})}}),
                                  {}});
  expect_request(
      "step-request-with-buffer",
      {"step",
       7,
       {},
       Value::map(
           {{"episode", kEpisode}, {"turn", 1}, {"action", Value::map({{"code_buffer", 0}})}}),
       {"int x;\n"}});
}

TEST_F(Golden, StepReplies_HaveTheDocumentedBytes) {
  expect_reply("step-accepted", ReplyKind::kAccepted, Value::map());
  expect_reply("step-progress", ReplyKind::kProgress, Value::map({{"stage", "building"}}));
  expect_reply(
      "step-result", ReplyKind::kResult,
      Value::map({{"episode", kEpisode}, {"turn", 1}, {"reward", 1.5}, {"reward_valid", true}}));
  expect_reply("step-error", ReplyKind::kError,
               to_value(error_body(resource_exhausted("the queue of 1024 requests is full"), 200)));
}

}  // namespace
}  // namespace hone::wire
