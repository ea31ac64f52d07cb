// The enums of a judge's messages: each value has a name that comes back, and other names are refused.
#include "judge/messages.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hone/backend.h"
#include "judge/blame.hpp"
#include "judge/checking/trials.hpp"

namespace hone {
namespace {

/// Expects that each value up to `last` comes back from its name, and that no two share one.
template <typename Enum, typename Name, typename Parse>
void expect_names(Enum last, const Name& name_of, const Parse& parse) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string name(name_of(static_cast<Enum>(i)));
    const auto parsed = parse(name);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, static_cast<Enum>(i)) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse(*names.begin() + "s"));
}

TEST(JudgeMessages, Names_AreUniqueAndComeBack) {
  expect_names(Ending::kNotLaunchable, ending_name, parse_ending);
  expect_names(Culprit::kKeptProcess, culprit_name, parse_culprit);
  expect_names(Place::kKnownAnswer, place_name, parse_place);
}

TEST(JudgeMessages, UnknownName_IsRefusedWithWhatWasExpected) {
  Value value = judgement_to_value({});
  value.set("culprit", "the submission");
  const auto refused = judgement_from_value(value);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "culprit: found 'the submission', expected one of none, submission, baseline, "
            "reference, kept process");
}

TEST(JudgeMessages, Judgement_ArrivesAsItWasSent) {
  const Where where{Place::kCheck, "a hidden shape", true};
  const Judgement sent{Ending::kException,    Culprit::kReference, where, "a message", {},
                       ExtensionKind::kDevice};
  const auto arrived = judgement_from_value(judgement_to_value(sent));
  ASSERT_TRUE(arrived) << arrived.error().message;
  EXPECT_EQ(arrived->ending, sent.ending);
  EXPECT_EQ(arrived->culprit, sent.culprit);
  EXPECT_EQ(arrived->where.place, where.place);
  EXPECT_EQ(arrived->where.shape, where.shape);
  EXPECT_EQ(arrived->where.hidden, where.hidden);
  EXPECT_EQ(arrived->message, sent.message);
  EXPECT_EQ(arrived->hindered, sent.hindered);
}

TEST(JudgeMessages, HinderedExtension_FollowsTheFlagsAndNotTheMessage) {
  for (const ExtensionKind kind : {ExtensionKind::kHost, ExtensionKind::kDevice})
    EXPECT_EQ(*parse_extension_kind(extension_kind_name(kind)), kind);
  EXPECT_FALSE(parse_extension_kind("gpu"));
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

TEST(JudgeMessages, WhereText_NamesThePlaceAndItsShape) {
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
