// Shared by the journal's tests: a temporary folder, records, and writes that wait for their result.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "journal/journal.hpp"

namespace hone::test {

EpisodeRecord episode_record(std::uint64_t id, const std::string& client = "trainer");
TurnRecord turn_record(std::uint64_t episode, std::int64_t turn, bool ended = false,
                       const std::string& action = {});

CallRecord call_record(std::uint64_t episode, std::int64_t turn, std::int64_t call);

class JournalTest : public testing::Test {
 protected:
  JournalTest();
  ~JournalTest() override;

  Result<std::unique_ptr<Journal>> open(JournalOptions options = {});
  std::unique_ptr<Journal> opened(JournalOptions options = {});

  /// Adds and waits for the answer.
  template <typename Record>
  static Status add(Journal& journal, Record record) {
    std::promise<Status> promise;
    journal.add(std::move(record), [&](const Status& done) { promise.set_value(done); });
    return promise.get_future().get();
  }
  static Status release(Journal& journal, std::uint64_t episode, RecordState state);
  static Status sync(Journal& journal);
  /// Deletes a released episode. No journal may be open.
  void retire_one() const;

  /// Makes of the journal, which is closed, what an earlier version would have left.
  void make_older(std::int64_t version);

  std::filesystem::path folder_, path_;
};

}  // namespace hone::test
