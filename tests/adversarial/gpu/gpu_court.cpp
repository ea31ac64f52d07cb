// A small task with short measurements and limits, so that the whole table takes a minute.
#include "adversarial/gpu/gpu_court.hpp"

#include <cstdlib>
#include <regex>

#include "base/files.hpp"
#include "gpu/small_task.hpp"
#include "places.hpp"
#include "plugin/backend.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

// The submissions know the shapes by heart.
constexpr std::int64_t kTimedEmulated = 16384, kTimedOnDevice = 1 << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

fs::path libexec() {
  if (const std::string named = variable("HONE_LIBEXEC"); !named.empty()) return named;
  const fs::path beside = program_folder() / "libexec";
  return fs::exists(beside) ? beside : program_folder().parent_path() / "libexec";
}

fs::path backend_library() {
  const std::string named = variable("HONE_GPU_BACKEND");
  return named.empty() ? program_folder() / "gpu/backend_cuda_emulated.so" : fs::absolute(named);
}

/// "hip" for hip.so and what emulates it.
std::string backend_name() {
  return backend_library().filename().string().find("hip") != std::string::npos ? "hip" : "cuda";
}

std::int64_t timed_elements() { return on_a_device() ? kTimedOnDevice : kTimedEmulated; }

std::shared_ptr<const Task> make_task() {
  Task task = small_task(backend_name());
  task.timed = {{"n", timed_elements()}};
  task.families = {{"normal", {}, {}}, {"offsets", {"scaled", 3, 6}, {}}};
  task.run_seconds = 1.5;
  return std::make_shared<const Task>(std::move(task));
}

EvaluatorOptions court_options(const Defences& defences, const std::string& isolation,
                               const BackendDescription& description) {
  EvaluatorOptions options;
  options.backend = backend_name();
  use_description(description, options);
  options.isolation = isolation;
  options.backend_library = backend_library();
  options.libexec = libexec();
  Toolchain& toolchain = options.toolchains[options.language];
  options.readable = {options.backend_library.parent_path().string()};
  if (const std::string compiler = variable("HONE_GPU_COMPILER"); !compiler.empty()) {
    toolchain.options.set("compiler", compiler);
    options.readable.push_back(fs::path(compiler).parent_path().string());
  }
  // Where times mean something, the judge needs a core of its own.
  options.devices = {{0, on_a_device() ? 1 : 0, {0}}};
  options.build_seconds = 30;
  options.build_memory_mb = on_a_device() ? 2048 : 768;
  options.evaluation_seconds = 60;
  options.suspect_speedup = options.suspect_factor = 0;  // one look is enough for an outcome
  options.measure.round_ms = 5;
  if (!on_a_device()) options.measure.set_mb = 8;
  options.measure.pairs_min = options.measure.pairs_max = 3;
  options.measure.single_call_pairs = 3;
  options.measure.defences = defences;
  return options;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

bool on_a_device() {
  return backend_library().filename().string().find("emulated") == std::string::npos;
}

fs::path gpu_submissions() {
  if (const std::string named = variable("HONE_GPU_ATTACKS"); !named.empty()) return named;
  const fs::path beside = program_folder() / "submissions";
  return fs::exists(beside) ? beside : test::source_dir() / "tests/adversarial/gpu/submissions";
}

std::pair<std::string, std::string> file_and_delay(const std::string& name) {
  std::smatch parts;
  if (!std::regex_match(name, parts, std::regex("(.*)_([0-9]+)us"))) return {name, "3000"};
  return {parts[1], parts[2]};
}

Result<std::string> gpu_source(const std::string& name) {
  const auto [file, delay] = file_and_delay(name);
  HONE_ASSIGN(std::string source, read_file(gpu_submissions() / (file + ".cu")));
  HONE_ASSIGN(const std::string inside, read_file(gpu_submissions() / "inside.cuh"));
  replace_all(source, "#include \"inside.cuh\"\n", inside);
  replace_all(source, "@DELAY_US@", delay);
  replace_all(source, "@TIMED@", std::to_string(timed_elements()));
  replace_all(source, "@THREADS@", on_a_device() ? "256" : "1");
  replace_all(source, "@BLOCKS@", on_a_device() ? "ceil_div(n, 256)" : "1");
  return source;
}

GpuCourt& GpuCourt::without(const std::vector<std::string>& off, const std::string& isolation) {
  static std::unique_ptr<GpuCourt> sitting;
  if (sitting == nullptr || sitting->off_ != off || sitting->isolation_ != isolation) {
    sitting.reset();  // its launcher ends before another starts
    sitting.reset(new GpuCourt(off, isolation));
  }
  return *sitting;
}

GpuCourt::GpuCourt(const std::vector<std::string>& off, const std::string& isolation)
    : off_(off), isolation_(isolation), task_(make_task()) {
  if (Status started = start(); !started) failure_ = started.error().message;
}

Status GpuCourt::start() {
  HONE_ASSIGN(const Defences defences, Defences::without(off_));
  LauncherOptions options;
  if (const std::string least = variable("HONE_ATTACK_MINIMUM"); !least.empty()) {
    HONE_ASSIGN(options.minimum, parse_isolation(least));
  }
  HONE_ASSIGN(const auto backend, Backend::load(backend_library()));
  HONE_ASSIGN(const BackendDescription description, backend->description());
  options.device = {description.device_nodes, description.driver_folders};
  HONE_ASSIGN(launcher_, Launcher::start(options));
  HONE_ASSIGN(
      evaluator_,
      make_evaluator(*launcher_, court_options(defences, isolation_, description), "court"));
  return {};
}

Result<Verdict> GpuCourt::judge(const std::string& name, const std::string& client) {
  if (evaluator_ == nullptr) return unavailable("not started: " + failure_);
  Submission submission;
  HONE_ASSIGN(submission.source, gpu_source(name));
  submission.task = task_;
  submission.language = submission.backend = backend_name();
  submission.client = client;
  submission.episode = "test";
  submission.seed = ++seed_;
  return judge_and_wait(*evaluator_, std::move(submission));
}

}  // namespace hone::test
