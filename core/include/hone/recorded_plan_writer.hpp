// Writes a recorded plan as a file: kMagic, then one MessagePack map. recorded_plan_reader.hpp
// reads it and checks the range of each member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone::recorded {

/// Appends a plan to a file's bytes directly. Rationale: an image may have 64 MiB, so a copy would be expensive.
class PlanWriter {
 public:
  explicit PlanWriter(std::string& out) : pack_(out) {}

  void write(const Plan& plan) {
    pack_.map(10);
    number("version", kVersion);
    text("architecture", plan.architecture);
    list("images", plan.images, [&](const Image& image) {
      pack_.map(2);
      text("library", image.library);
      bytes("bytes", image.bytes);
    });
    list("kernels", plan.kernels, [&](const Kernel& kernel) { write(kernel); });
    list("memories", plan.memories, [&](const Memory& memory) { write(memory); });
    number("streams", plan.streams);
    number("events", plan.events);
    list("tuned", plan.tuned, [&](const Tuned& tuned) { write(tuned); });
    list("setup", plan.setup, [&](const Step& step) { write(step); });
    list("run", plan.run, [&](const Step& step) { write(step); });
  }

 private:
  void integer(std::uint64_t value) { pack_.integer(static_cast<std::int64_t>(value)); }
  void number(std::string_view key, std::int64_t value) {
    pack_.text(key);
    pack_.integer(value);
  }
  void size(std::string_view key, std::uint64_t value) {
    number(key, static_cast<std::int64_t>(value));
  }
  void flag(std::string_view key, bool value) {
    pack_.text(key);
    pack_.pack(value);
  }
  void text(std::string_view key, std::string_view value) {
    pack_.text(key);
    pack_.text(value);
  }
  void bytes(std::string_view key, std::string_view value) {
    pack_.text(key);
    pack_.bytes(value);
  }
  template <typename Items, typename Fn>
  void list(std::string_view key, const Items& items, Fn&& write_item) {
    pack_.text(key);
    pack_.array(items.size());
    for (const auto& item : items) write_item(item);
  }
  template <typename Items>
  void numbers(std::string_view key, const Items& items, std::size_t count) {
    pack_.text(key);
    pack_.array(count);
    for (std::size_t i = 0; i < count; ++i) pack_.integer(static_cast<std::int64_t>(items[i]));
  }
  void place(std::string_view key, const Place& place) {
    pack_.text(key);
    pack_.array(2);
    integer(place.memory);
    integer(place.offset);
  }
  void addresses(const std::vector<Relocation>& relocations) {
    list("addresses", relocations, [&](const Relocation& relocation) {
      pack_.array(3);
      integer(relocation.at);
      integer(relocation.place.memory);
      integer(relocation.place.offset);
    });
  }

  void write(const Tuned& tuned) {
    pack_.map(3);
    text("key", tuned.key);
    list("configurations", tuned.configurations,
         [&](const std::string& parameters) { pack_.text(parameters); });
    list("left_out", tuned.left_out, [&](const Tuned::LeftOut& one) {
      pack_.map(2);
      text("configuration", one.configuration);
      text("reason", one.reason);
    });
  }

  void write(const Kernel& kernel) {
    pack_.map(5);
    number("image", kernel.image);
    text("name", kernel.name);
    number("shared_bytes_max", kernel.shared_bytes_max);
    number("carveout", kernel.carveout);
    flag("nonportable_clusters", kernel.nonportable_clusters);
  }

  void write(const Memory& memory) {
    const bool task = memory.kind == MemoryKind::kTask;
    pack_.map(task ? 3 : 4);
    text("kind", task ? "task" : memory.kind == MemoryKind::kGlobal ? "global" : "private");
    size("bytes", memory.bytes);
    if (task) return number("argument", memory.argument);
    if (memory.kind == MemoryKind::kGlobal) {
      number("image", memory.image);
      return text("name", memory.name);
    }
    number("first", memory.first);
    number("last", memory.last);
  }

  void write(const Step& step) {
    std::visit([&](const auto& work) { write(work, step); }, step.work);
  }
  /// Begins a step's map, which has `members` members in addition to the common ones.
  void begin(std::string_view what, const Step& step, std::size_t members) {
    pack_.map(members + (step.tuned != 0 ? 4 : 2));
    text("do", what);
    number("stream", step.stream);
    if (step.tuned == 0) return;
    number("tuned", std::int64_t{step.tuned} - 1);
    number("configuration", step.configuration);
  }

  void write(const Launch& launch, const Step& step) {
    begin("launch", step, 10);
    number("kernel", launch.kernel);
    numbers("grid", launch.grid, 3);
    numbers("block", launch.block, 3);
    numbers("cluster", launch.cluster, 3);
    number("shared_bytes", launch.shared_bytes);
    flag("cooperative", launch.cooperative);
    flag("overlaps", launch.overlaps);
    bytes("parameters", launch.parameters);
    addresses(launch.addresses);
    list("tensor_maps", launch.tensor_maps, [&](const TensorMap& map) { write(map); });
  }
  void write(const TensorMap& map) {
    pack_.map(12);
    number("at", map.at);
    number("type", map.type);
    number("rank", map.rank);
    place("place", map.place);
    numbers("sizes", map.sizes, map.rank);
    numbers("strides", map.strides, map.rank > 0 ? map.rank - 1 : 0);
    numbers("box", map.box, map.rank);
    numbers("element_strides", map.element_strides, map.rank);
    number("interleave", map.interleave);
    number("swizzle", map.swizzle);
    number("promotion", map.promotion);
    number("fill", map.fill);
  }
  void write(const Copy& copy, const Step& step) {
    begin("copy", step, 6);
    place("to", copy.to);
    place("from", copy.from);
    size("bytes", copy.bytes);
    size("rows", copy.rows);
    size("to_pitch", copy.to_pitch);
    size("from_pitch", copy.from_pitch);
  }
  void write(const Write& write, const Step& step) {
    begin("write", step, 3);
    place("to", write.to);
    bytes("bytes", write.bytes);
    addresses(write.addresses);
  }
  void write(const Fill& fill, const Step& step) {
    begin("fill", step, 6);
    place("to", fill.to);
    number("width", fill.width);
    number("value", fill.value);
    size("count", fill.count);
    size("rows", fill.rows);
    size("pitch", fill.pitch);
  }
  void write(const Operator& call, const Step& step) {
    begin("operator", step, 6);
    text("name", call.name);
    pack_.text("arguments");
    pack_.pack(call.arguments);
    pack_.text("keywords");
    pack_.pack(call.keywords);
    pack_.text("settings");
    pack_.pack(call.settings.is_nil() ? plugin::Value::map() : call.settings);
    list("tensors", call.tensors, [&](const Tensor& tensor) {
      pack_.map(4);
      place("place", tensor.place);
      text("dtype", tensor.dtype);
      numbers("sizes", tensor.sizes, tensor.sizes.size());
      numbers("strides", tensor.strides, tensor.strides.size());
    });
    numbers("results", call.results, call.results.size());
  }
  void write(const Record& record, const Step& step) {
    begin("record", step, 1);
    number("event", record.event);
  }
  void write(const Wait& wait, const Step& step) {
    begin("wait", step, 1);
    number("event", wait.event);
  }

  plugin::Packer pack_;
};

/// The file of a plan. The plan is not checked; read_plan() does that.
inline std::string write_plan(const Plan& plan) {
  std::size_t size = std::size_t{1} << 16;
  for (const Image& image : plan.images) size += image.bytes.size();
  std::string file;
  file.reserve(size);
  file += kMagic;
  PlanWriter(file).write(plan);
  return file;
}

}  // namespace hone::recorded
