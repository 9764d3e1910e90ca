#pragma once

namespace transformer {

// The topics of `transformer inspect`, each in the file of its name. argv[0] is the topic's name.
int inspect_attention_command(int argc, char** argv);
int inspect_complexity_command(int argc, char** argv);
int inspect_embedding_scale_command(int argc, char** argv);
int inspect_flops_command(int argc, char** argv);
int inspect_kv_cache_command(int argc, char** argv);
int inspect_label_smoothing_command(int argc, char** argv);
int inspect_masks_command(int argc, char** argv);
int inspect_parameters_command(int argc, char** argv);
int inspect_positions_command(int argc, char** argv);
int inspect_scaling_command(int argc, char** argv);
int inspect_schedule_command(int argc, char** argv);
int inspect_shapes_command(int argc, char** argv);
int inspect_signal_command(int argc, char** argv);

}  // namespace transformer
