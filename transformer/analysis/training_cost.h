#pragma once

// Training cost as Table 2 of the paper has it, and time from it.

#include <array>
#include <optional>

namespace transformer {

// The paper's method (section 6.1): training time × devices × the rate that each is estimated to
// sustain. Base: 12 hours × 8 P100 × 9.5 TFLOP/s = 3.3e18.
double cost_by_time(double seconds, double devices, double flops_per_second);

// The time that so many operations take where each device does `utilisation` of its rate.
double training_seconds(double flops, double devices, double flops_per_second, double utilisation);

// What footnote 5 takes a device to sustain in single precision, FLOP/s.
struct PaperDevice {
  const char* name;
  double flops_per_second;
};
inline constexpr std::array kPaperDevices = {PaperDevice{"K80", 2.8e12}, PaperDevice{"K40", 3.7e12},
                                             PaperDevice{"M40", 6.0e12},
                                             PaperDevice{"P100", 9.5e12}};

// A row of Table 2: FLOPs of training for newstest2014 English-German and English-French.
struct PaperCost {
  const char* model;
  std::optional<double> german;
  std::optional<double> french;
};
inline constexpr std::array kPaperCosts = {
    PaperCost{"Deep-Att + PosUnk", std::nullopt, 1.0e20},
    PaperCost{"GNMT + RL", 2.3e19, 1.4e20},
    PaperCost{"ConvS2S", 9.6e18, 1.5e20},
    PaperCost{"MoE", 2.0e19, 1.2e20},
    PaperCost{"Deep-Att + PosUnk Ensemble", std::nullopt, 8.0e20},
    PaperCost{"GNMT + RL Ensemble", 1.8e20, 1.1e21},
    PaperCost{"ConvS2S Ensemble", 7.7e19, 1.2e21},
    PaperCost{"Transformer (base model)", 3.3e18, 3.3e18},
    PaperCost{"Transformer (big)", 2.3e19, 2.3e19}};

// What the paper says of its own two (section 5.2), all on 8 P100.
struct PaperTraining {
  const char* model;
  double hours;
};
inline constexpr double kPaperTrainingDevices = 8;
inline constexpr double kPaperTrainingRate = 9.5e12;
inline constexpr std::array kPaperTrainings = {PaperTraining{"base", 12},
                                               PaperTraining{"big", 3.5 * 24}};

}  // namespace transformer
