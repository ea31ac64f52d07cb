// Places and causes in a judgement, and their texts.
#include "judge/blame.hpp"

#include <gtest/gtest.h>

#include "hone/backend.h"
#include "judge/session.hpp"

namespace hone {
namespace {

TEST(Blame, HinderedExtension_FollowsTheFlagsAndNotTheMessage) {
  Round round{Ending::kException, 0, "Hindered (host): no g++"};
  EXPECT_FALSE(blame(round, Culprit::kSubmission, {Place::kCheck}).hindered);
  round.message = "it has no compiler";
  round.flags = HONE_PYTHON_HINDERED_HOST;
  EXPECT_EQ(blame(round, Culprit::kSubmission, {Place::kCheck}).hindered, ExtensionKind::kHost);
  round.flags = HONE_PYTHON_HINDERED_DEVICE;
  EXPECT_EQ(blame(round, Culprit::kSubmission, {Place::kLoading}).hindered, ExtensionKind::kDevice);
  round.flags = HONE_PYTHON_WARNS;
  EXPECT_FALSE(blame(round, Culprit::kBaseline, {Place::kLoading}).hindered);
}

TEST(Blame, WhereText_NamesThePlaceAndItsShape) {
  EXPECT_EQ(where_text({}), "");
  EXPECT_EQ(where_text({Place::kLoading}), "loading");
  EXPECT_EQ(where_text({Place::kMeasurement}), "a measurement");
  Trial trial;
  EXPECT_EQ(where_text(place_of(Place::kCheck, trial)), "a check of the only shape");
  trial.dims = {{"n", 1000}};
  EXPECT_EQ(where_text(place_of(Place::kCheck, trial)), "a check of shape n=1000");
  EXPECT_EQ(where_text(place_of(Place::kAnswer, trial)), "the reference's answer for shape n=1000");
  trial.hidden = true;
  EXPECT_EQ(where_text(place_of(Place::kCheck, trial)), "a check of a hidden shape");
  EXPECT_TRUE(place_of(Place::kCheck, trial).hidden);
}

}  // namespace
}  // namespace hone
