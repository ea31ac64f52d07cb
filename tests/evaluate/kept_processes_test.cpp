// Which submissions share a process with others of their client.
#include "evaluate/kept_processes.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

DeviceJob recorded_job(bool is_cooperative, bool has_operators = false) {
  auto plan = std::make_shared<RecordedPlan>();
  plan->is_cooperative = is_cooperative;
  plan->has_operators = has_operators;
  auto built = std::make_shared<Built>();
  built->plan = std::move(plan);
  DeviceJob job;
  job.mode = Mode::kRecordedModule;
  job.built = std::move(built);
  job.client = "a client";
  return job;
}

TEST(ProcessOwner, RecordedPlan_IsSharedByItsClient) {
  EXPECT_EQ(process_owner(recorded_job(false), {}, Value::map()), "plans of a client");
  EXPECT_EQ(process_owner(recorded_job(false, true), {}, Value::map()),
            "plans with torch of a client");
}

TEST(ProcessOwner, CooperativeLaunch_OfARecordedPlan_IsNotShared) {
  EXPECT_EQ(process_owner(recorded_job(true), {}, Value::map()), "");
}

TEST(ProcessOwner, PlanThatMayUseTheHeap_IsNotShared) {
  DeviceJob job = recorded_job(false);
  auto plan = std::make_shared<RecordedPlan>();
  plan->bytes = Pieces("an image that names malloc");
  auto built = std::make_shared<Built>();
  built->plan = std::move(plan);
  job.built = std::move(built);
  EXPECT_EQ(process_owner(job, {}, Value::map()), "");
}

}  // namespace
}  // namespace hone
