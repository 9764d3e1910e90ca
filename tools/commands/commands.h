#pragma once

namespace transformer {

// Each is in the file of its name and returns the program's exit code. argv[0] is the command's
// name.
int average_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int bleu_command(int argc, char** argv);
int check_command(int argc, char** argv);
int compare_command(int argc, char** argv);
int completion_command(int argc, char** argv);
int config_command(int argc, char** argv);
int data_command(int argc, char** argv);
int evaluate_command(int argc, char** argv);
int inspect_command(int argc, char** argv);
int report_command(int argc, char** argv);
int score_command(int argc, char** argv);
int serve_command(int argc, char** argv);
int sweep_command(int argc, char** argv);
int table_command(int argc, char** argv);
int task_command(int argc, char** argv);
int train_command(int argc, char** argv);
int translate_command(int argc, char** argv);
int watch_command(int argc, char** argv);

// The program itself: argv[1] names the command. In main.cpp.
int run_program(int argc, char** argv);

}  // namespace transformer
