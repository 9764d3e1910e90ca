#include "transformer/train/schedule.h"

#include <cmath>

#include "tests/catch.h"

using namespace transformer;

TEST_CASE("schedule: noam peaks at warmup_steps with (d_model * warmup)^-0.5") {
  for (const int64_t d_model : {64, 512}) {
    for (const int64_t warmup : {1, 100, 4000}) {
      const double peak = noam_rate(d_model, warmup, 1.0, warmup);
      REQUIRE(peak == Approx(1 / std::sqrt(static_cast<double>(d_model * warmup))).epsilon(1e-12));
      REQUIRE(noam_rate(d_model, warmup, 1.0, warmup + 1) < peak);
      if (warmup > 1) REQUIRE(noam_rate(d_model, warmup, 1.0, warmup - 1) < peak);
    }
  }
  REQUIRE(noam_rate(512, 4000, 1.0, 4000) == Approx(6.9877e-4).epsilon(1e-4));  // the paper's base
  REQUIRE(noam_rate(512, 4000, 2.0, 1000) == Approx(2 * 6.9877e-4 / 4).epsilon(1e-4));
  REQUIRE(noam_rate(512, 4000, 1.0, 16000) == Approx(6.9877e-4 / 2).epsilon(1e-4));
}

TEST_CASE("schedule: without warm-up noam starts at d_model^-0.5") {
  REQUIRE(noam_rate(64, 0, 1.0, 1) == Approx(0.125));
  REQUIRE(noam_rate(64, 0, 1.0, 4) == Approx(0.0625));
}

TEST_CASE("schedule: the others rise linearly to learning_rate, then keep their shape") {
  TrainingConfig training;
  training.learning_rate = 0.5;
  training.warmup_steps = 10;
  training.train_steps = 110;
  for (const auto kind :
       {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::inverse_sqrt}) {
    training.schedule = kind;
    REQUIRE(learning_rate(training, 64, 1) == Approx(0.05));
    REQUIRE(learning_rate(training, 64, 10) == Approx(0.5));
  }
  training.schedule = ScheduleKind::constant;
  REQUIRE(learning_rate(training, 64, 100) == 0.5);
  training.schedule = ScheduleKind::cosine;
  REQUIRE(learning_rate(training, 64, 60) == Approx(0.25));
  REQUIRE(learning_rate(training, 64, 110) == Approx(0.0).margin(1e-12));
  training.schedule = ScheduleKind::inverse_sqrt;
  REQUIRE(learning_rate(training, 64, 40) == Approx(0.25));
}
