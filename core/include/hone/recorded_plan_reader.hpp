// Reads the file of a recorded plan. The writer is untrusted, so every member, index, offset, size
// and lifetime is checked here. A mistake is a Failure that names the step, the found and the
// expected value: "recorded plan/run/12 (copy): from: found 16 bytes at 56 of memory 3, which has
// 64 bytes".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/recorded_plan_fields.hpp"

namespace hone::recorded {

inline constexpr unsigned kDepthMax = 32;  ///< nested lists and maps of a file

class PlanReader {
 public:
  explicit PlanReader(std::string_view file) : root_(parse(file)) {}

  /// May be called only once, because it moves the images out of the parsed file.
  Plan read() {
    Reader r(root_, "recorded plan");
    if (const std::int64_t version = r.integer("version", 0, fields::kMax); version != kVersion) {
      r.mistake("version", "expected " + fields::text(kVersion) + ", found " +
                               fields::text(version) + "; record the module again");
    }
    plan_.architecture = fields::name(r, "architecture", 32);
    steps_ = static_cast<std::int64_t>(r.array("run").size());
    fields::each(r, "images", kImagesMax, [&](const Value& item, const std::string& path) {
      plan_.images.push_back(image(r.item(path, item)));
    });
    fields::each(r, "kernels", kKernelsMax, [&](const Value& item, const std::string& path) {
      plan_.kernels.push_back(kernel(r.item(path, item)));
    });
    fields::each(r, "memories", kMemoriesMax, [&](const Value& item, const std::string& path) {
      plan_.memories.push_back(memory(r.item(path, item)));
    });
    plan_.streams = fields::number(r, "streams", 1, kStreamsMax);
    plan_.events = fields::number(r, "events", 0, kEventsMax);
    fields::each(r, "tuned", kTunedMax, [&](const Value& item, const std::string& path) {
      plan_.tuned.push_back(tuned(r.item(path, item)));
    });
    read_phase(r, "setup", plan_.setup);
    read_phase(r, "run", plan_.run);
    r.finish();
    return std::move(plan_);
  }

 private:
  using Reader = plugin::Reader;
  using Value = plugin::Value;

  static Value parse(std::string_view file) {
    if (file.substr(0, kMagic.size()) != kMagic) {
      plugin::invalid_argument("recorded plan: the file does not begin with '" +
                               std::string(kMagic.substr(0, kMagic.size() - 1)) + "'");
    }
    try {
      return plugin::Unpacker(file.substr(kMagic.size()), kDepthMax, kValuesMax).whole();
    } catch (const plugin::Failure& failure) {
      plugin::fail(failure.code(), std::string("recorded plan: ") + failure.what());
    }
  }

  // ---- places -----------------------------------------------------------------------------------

  /// A place with `extent` bytes behind it, in memory that the current step may use.
  Place checked_place(const Reader& r, std::string_view key, std::int64_t memory_index,
                      std::int64_t offset, std::uint64_t extent) const {
    const std::uint32_t at = fields::checked_index(r, key, memory_index, plan_.memories.size());
    const Memory& memory = plan_.memories[at];
    const auto begin = static_cast<std::uint64_t>(offset);
    if (offset < 0 || begin > memory.bytes || extent > memory.bytes - begin) {
      r.mistake(key, "found " + fields::text(extent) + " bytes at " + fields::text(offset) +
                         " of memory " + fields::text(at) + ", which has " +
                         fields::text(memory.bytes) + " bytes");
    }
    if (in_setup_ && memory.kind == MemoryKind::kTask) {
      r.mistake(key, "found memory " + fields::text(at) +
                         ", a tensor of the task, which no step of the setup may use");
    }
    const bool lives = in_setup_ ? memory.first == 0 && memory.last == last_step()
                                 : memory.first <= step_ && step_ <= memory.last;
    if (memory.kind == MemoryKind::kPrivate && !lives) {
      r.mistake(key, "found memory " + fields::text(at) + ", which is needed from step " +
                         fields::text(memory.first) + " to step " + fields::text(memory.last) +
                         " of the run");
    }
    return {at, begin};
  }
  Place place(Reader& r, std::string_view key, std::uint64_t extent) const {
    const Value::Array& pair = r.array(key);
    if (pair.size() != 2 || !pair[0].is_int() || !pair[1].is_int()) {
      r.mistake(key, "expected a memory's number and an offset");
    }
    return checked_place(r, key, pair[0].as_int(), pair[1].as_int(), extent);
  }
  std::vector<Relocation> addresses(Reader& r, std::size_t data_bytes) const {
    std::vector<Relocation> result;
    fields::each(
        r, "addresses", kParameterBytesMax * 64, [&](const Value& item, const std::string& path) {
          const bool triple = item.is_array() && item.as_array().size() == 3;
          if (!triple || !item.as_array()[0].is_int() || !item.as_array()[1].is_int() ||
              !item.as_array()[2].is_int()) {
            r.mistake(path, "expected an offset, a memory's number and an offset in it");
          }
          const std::int64_t at = item.as_array()[0].as_int();
          fields::check_position(r, path, at, 8, 8, data_bytes);
          if (!result.empty() && at < std::int64_t{result.back().at} + 8) {
            r.mistake(path, "expected ascending offsets, found " + fields::text(at) + " after " +
                                fields::text(result.back().at));
          }
          result.push_back(
              {static_cast<std::uint32_t>(at), checked_place(r, path, item.as_array()[1].as_int(),
                                                             item.as_array()[2].as_int(), 0)});
        });
    return result;
  }
  // ---- parts of a plan --------------------------------------------------------------------------

  static Image image(Reader r) {
    Image image;
    image.library = r.text("library");
    if (!image.library.empty()) image.library = fields::name(r, "library", kLibraryBytesMax);
    image.bytes = fields::bytes(r, "bytes", kImageBytesMax);
    fields::check_size(r, "bytes", image.bytes.size(), 1, kImageBytesMax);
    r.finish();
    return image;
  }
  Kernel kernel(Reader r) const {
    Kernel kernel;
    kernel.image = fields::index(r, "image", plan_.images.size());
    kernel.name = fields::name(r, "name");
    kernel.shared_bytes_max = fields::number(r, "shared_bytes_max", 0, kSharedBytesMax);
    kernel.carveout = static_cast<std::int32_t>(r.integer("carveout", -1, 100));
    kernel.nonportable_clusters = r.flag("nonportable_clusters");
    r.finish();
    return kernel;
  }

  std::uint32_t last_step() const {
    return steps_ > 0 ? static_cast<std::uint32_t>(std::min(steps_, kStepsMax) - 1) : 0;
  }
  Memory memory(Reader r) {
    Memory memory;
    const std::string kind = r.choice("kind", {"task", "private", "global"});
    memory.bytes = fields::size(r, "bytes", kind == "global" ? 1 : 0);
    if (kind == "task") {
      memory.kind = MemoryKind::kTask;
      memory.argument = fields::number(r, "argument", 0, kMemoriesMax - 1);
      if (!arguments_.insert(memory.argument).second) {
        r.mistake("argument", "two memories have number " + fields::text(memory.argument));
      }
    } else if (kind == "global") {
      memory.kind = MemoryKind::kGlobal;
      memory.image = fields::index(r, "image", plan_.images.size());
      memory.name = fields::name(r, "name");
    } else {
      memory.first = fields::number(r, "first", 0, last_step());
      memory.last = fields::number(r, "last", memory.first, last_step());
    }
    r.finish();
    return memory;
  }

  void read_phase(Reader& r, std::string_view phase, std::vector<Step>& steps) {
    in_setup_ = phase == "setup";
    recorded_.assign(plan_.events, false);
    step_ = 0;
    fields::each(r, phase, kStepsMax, [&](const Value& item, const std::string& path) {
      const Value* what = item.find("do");
      const bool named = what != nullptr && what->is_string() && what->as_string().size() < 16;
      steps.push_back(step(r.item(path + (named ? " (" + what->as_string() + ")" : ""), item)));
      ++step_;
    });
  }

  Step step(Reader r) {
    Step step;
    step.stream = fields::number(r, "stream", 0, std::int64_t{plan_.streams} - 1);
    const std::string what =
        r.choice("do", {"launch", "copy", "write", "fill", "operator", "record", "wait"});
    if (what == "launch") {
      step.work = launch(r);
    } else if (what == "copy") {
      step.work = copy(r);
    } else if (what == "write") {
      step.work = write(r);
    } else if (what == "fill") {
      step.work = fill(r);
    } else if (what == "operator") {
      step.work = operator_call(r);
    } else if (what == "record") {
      const std::uint32_t event = fields::index(r, "event", plan_.events);
      recorded_[event] = true;
      step.work = Record{event};
    } else {
      const std::uint32_t event = fields::index(r, "event", plan_.events);
      if (!recorded_[event]) {
        r.mistake("event", "event " + fields::text(event) + " is waited for before it is recorded");
      }
      step.work = Wait{event};
    }
    if (r.has("tuned")) read_configuration(r, step);
    r.finish();
    return step;
  }
  static Tuned tuned(Reader r) {
    Tuned tuned;
    tuned.key = fields::words(r, "key", r.value("key"), kConfigurationBytesMax);
    const Value::Array& configurations = r.array("configurations");
    fields::check_size(r, "configurations", configurations.size(), 2, kConfigurationsMax);
    for (const Value& item : configurations) {
      tuned.configurations.push_back(
          fields::words(r, "configurations", item, kConfigurationBytesMax));
    }
    fields::each(r, "left_out", kConfigurationsMax,
                 [&](const Value& item, const std::string& path) {
                   Reader one = r.item(path, item);
                   const auto words = [&](std::string_view key) {
                     return fields::words(one, key, one.value(key), kConfigurationBytesMax);
                   };
                   tuned.left_out.push_back({words("configuration"), words("reason")});
                   one.finish();
                 });
    r.finish();
    return tuned;
  }
  void read_configuration(Reader& r, Step& step) const {
    const bool is_order =
        std::holds_alternative<Record>(step.work) || std::holds_alternative<Wait>(step.work);
    if (in_setup_ || is_order || std::holds_alternative<Operator>(step.work)) {
      r.mistake("tuned",
                "only launches, copies, writes and fills of the run may belong to a "
                "configuration of an autotuned kernel");
    }
    step.tuned = fields::index(r, "tuned", plan_.tuned.size()) + 1;
    step.configuration =
        fields::index(r, "configuration", plan_.tuned[step.tuned - 1].configurations.size());
  }

  Launch launch(Reader& r) const {
    Launch launch;
    launch.kernel = fields::index(r, "kernel", plan_.kernels.size());
    launch.grid = fields::array<std::uint32_t, 3>(r, "grid", 3, 1, kGridMax);
    launch.block = fields::array<std::uint32_t, 3>(r, "block", 3, 1, kBlockThreadsMax);
    launch.cluster = fields::array<std::uint32_t, 3>(r, "cluster", 3, 0, kClusterMax);
    check_shape(r, launch);
    const std::int64_t shared_max =
        std::max<std::int64_t>(kSharedUngranted, plan_.kernels[launch.kernel].shared_bytes_max);
    launch.shared_bytes = fields::number(r, "shared_bytes", 0, shared_max);
    launch.cooperative = r.flag("cooperative");
    launch.overlaps = r.flag("overlaps");
    launch.parameters = fields::bytes(r, "parameters", kParameterBytesMax);
    launch.addresses = addresses(r, launch.parameters.size());
    fields::each(
        r, "tensor_maps", kParameterBytesMax / kTensorMapBytes,
        [&](const Value& item, const std::string& path) {
          launch.tensor_maps.push_back(tensor_map(r.item(path, item), launch.parameters.size()));
        });
    check_overlaps(r, launch);
    return launch;
  }
  /// Refuses shapes that no device accepts. A backend also checks the limits of its device.
  static void check_shape(const Reader& r, const Launch& launch) {
    for (std::size_t i = 1; i < 3; ++i) {
      if (launch.grid[i] > kGridMaxYZ) {
        r.mistake("grid", "expected at most " + fields::text(kGridMaxYZ) +
                              " behind the first number, found " + fields::text(launch.grid[i]));
      }
    }
    const std::uint64_t threads =
        std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > kBlockThreadsMax) {
      r.mistake("block", "expected at most " + fields::text(kBlockThreadsMax) + " threads, found " +
                             fields::text(threads));
    }
    const auto& [x, y, z] = launch.cluster;
    if (x == 0 && y == 0 && z == 0) return;
    const std::uint64_t blocks = std::uint64_t{x} * y * z;
    if (blocks == 0 || blocks > kClusterMax) {
      r.mistake("cluster", "expected 1 to " + fields::text(kClusterMax) + " blocks, found " +
                               fields::text(blocks));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.grid[i] % launch.cluster[i] == 0) continue;
      r.mistake("cluster", "expected a divisor of the grid's " + fields::text(launch.grid[i]) +
                               ", found " + fields::text(launch.cluster[i]));
    }
  }
  /// Checks that no two addresses or tensor maps of a launch share bytes of its parameters.
  static void check_overlaps(const Reader& r, const Launch& launch) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (const Relocation& one : launch.addresses) taken.emplace_back(one.at, 8);
    for (const TensorMap& one : launch.tensor_maps) taken.emplace_back(one.at, kTensorMapBytes);
    std::sort(taken.begin(), taken.end());
    for (std::size_t i = 1; i < taken.size(); ++i) {
      if (taken[i - 1].first + taken[i - 1].second <= taken[i].first) continue;
      r.mistake("tensor_maps", "what stands at " + fields::text(taken[i].first) +
                                   " overlaps what stands at " + fields::text(taken[i - 1].first));
    }
  }
  TensorMap tensor_map(Reader r, std::size_t data_bytes) const {
    TensorMap map;
    const std::int64_t at = r.integer("at", 0, fields::kMax);
    fields::check_position(r, "at", at, kTensorMapBytes, kTensorMapAlign, data_bytes);
    map.at = static_cast<std::uint32_t>(at);
    map.type = fields::number(r, "type", 0, 63);
    map.rank = fields::number(r, "rank", 1, kTensorMapDims);
    map.place = place(r, "place", 0);
    const std::size_t rank = map.rank;
    map.sizes =
        fields::array<std::uint64_t, kTensorMapDims>(r, "sizes", rank, 1, fields::kMax32 + 1);
    map.strides =
        fields::array<std::uint64_t, kTensorMapDims>(r, "strides", rank - 1, 0, kMemoryBytesMax);
    map.box = fields::array<std::uint32_t, kTensorMapDims>(r, "box", rank, 1, 256);
    map.element_strides =
        fields::array<std::uint32_t, kTensorMapDims>(r, "element_strides", rank, 1, 8);
    map.interleave = fields::number(r, "interleave", 0, 15);
    map.swizzle = fields::number(r, "swizzle", 0, 15);
    map.promotion = fields::number(r, "promotion", 0, 15);
    map.fill = fields::number(r, "fill", 0, 15);
    r.finish();
    return map;
  }

  Copy copy(Reader& r) const {
    Copy copy;
    copy.bytes = fields::size(r, "bytes");
    copy.rows = fields::size(r, "rows");
    copy.to_pitch = fields::size(r, "to_pitch");
    copy.from_pitch = fields::size(r, "from_pitch");
    copy.to = place(r, "to", fields::extent(r, "to_pitch", copy.bytes, copy.rows, copy.to_pitch));
    copy.from =
        place(r, "from", fields::extent(r, "from_pitch", copy.bytes, copy.rows, copy.from_pitch));
    return copy;
  }
  Write write(Reader& r) const {
    Write write;
    write.bytes = fields::bytes(r, "bytes", fields::kMax32);
    write.to = place(r, "to", write.bytes.size());
    write.addresses = addresses(r, write.bytes.size());
    return write;
  }
  Fill fill(Reader& r) const {
    Fill fill;
    fill.width = fields::number(r, "width", 1, 4);
    if (fill.width == 3) r.mistake("width", "expected 1, 2 or 4, found 3");
    fill.value = fields::number(r, "value", 0, (std::int64_t{1} << (8 * fill.width)) - 1);
    fill.count = fields::size(r, "count", 0, kMemoryBytesMax / fill.width);
    fill.rows = fields::size(r, "rows");
    fill.pitch = fields::size(r, "pitch");
    fill.to =
        place(r, "to", fields::extent(r, "pitch", fill.count * fill.width, fill.rows, fill.pitch));
    if (fill.to.offset % fill.width != 0 || (fill.rows > 1 && fill.pitch % fill.width != 0)) {
      r.mistake("to",
                "expected an offset and a pitch that are multiples of " + fields::text(fill.width));
    }
    return fill;
  }

  Operator operator_call(Reader& r) const {
    Operator call;
    call.name = fields::name(r, "name", 256);
    fields::each(r, "tensors", kTensorsMax, [&](const Value& item, const std::string& path) {
      call.tensors.push_back(tensor(r.item(path, item)));
    });
    r.array("arguments");
    r.map("keywords");
    call.arguments = r.value("arguments");
    call.keywords = r.value("keywords");
    for (const auto& [key, value] : r.map("settings")) {
      if (!value.is_bool()) r.mistake("settings/" + key.substr(0, 128), "expected true or false");
    }
    call.settings = r.value("settings");
    fields::check_argument(r, "arguments", call.arguments, call.tensors.size());
    for (const auto& [key, value] : call.keywords.as_map()) {
      fields::check_argument(r, "keywords/" + key.substr(0, 128), value, call.tensors.size());
    }
    const std::size_t count = call.tensors.size();
    for (const std::int64_t at : fields::numbers(r, "results", 0, count, 0, fields::kMax)) {
      call.results.push_back(fields::checked_index(r, "results", at, count));
    }
    return call;
  }
  Tensor tensor(Reader r) const {
    Tensor tensor;
    tensor.dtype = r.text("dtype");
    const std::uint64_t element = dtype_bytes(tensor.dtype);
    if (element == 0) {
      r.mistake("dtype",
                "found '" + tensor.dtype.substr(0, 64) + "', expected the name of a torch dtype");
    }
    tensor.sizes = fields::numbers(r, "sizes", 0, kTensorDimsMax, 0, kMemoryBytesMax);
    const std::size_t dims = tensor.sizes.size();
    tensor.strides = fields::numbers(r, "strides", dims, dims, 0, kMemoryBytesMax);
    const std::uint64_t bytes = fields::view_bytes(r, tensor, element);
    tensor.place = place(r, "place", bytes);
    if (bytes > 0 && tensor.place.offset % element != 0) {
      r.mistake("place", "expected an offset that is a multiple of " + fields::text(element) +
                             ", found " + fields::text(tensor.place.offset));
    }
    r.finish();
    return tensor;
  }

  Value root_;
  Plan plan_;
  std::int64_t steps_ = 0;  ///< of the run
  std::set<std::uint32_t> arguments_;
  // Of the phase that is being read:
  bool in_setup_ = false;
  std::uint32_t step_ = 0;
  std::vector<bool> recorded_;  ///< events
};

/// The plan in a file. Throws a Failure with HONE_INVALID_ARGUMENT if the file is not a valid plan.
inline Plan read_plan(std::string_view file) { return PlanReader(file).read(); }

}  // namespace hone::recorded
