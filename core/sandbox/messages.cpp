// Messages: packing and unpacking, field by field in the order of the structs.
#include "sandbox/messages.hpp"

#include <limits>

namespace hone {
namespace {

void put_ints(PacketWriter& to, const std::vector<int>& values) {
  to.number(static_cast<std::int64_t>(values.size()));
  for (const int value : values) to.number(value);
}

int get_int(PacketReader& from) {
  return static_cast<int>(
      from.number_in(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

// Rationale: enumerators index tables of names, so a value out of range would read beyond the end.
template <typename Enum>
Enum get_enum(PacketReader& from, Enum last) {
  return static_cast<Enum>(from.number_in(0, static_cast<std::int64_t>(last)));
}

std::vector<int> get_ints(PacketReader& from) {
  std::vector<int> values;
  for (std::int64_t left = from.count(); from.ok() && left > 0; --left) {
    values.push_back(get_int(from));
  }
  return values;
}

bool get_bool(PacketReader& from) { return from.number_in(0, 1) != 0; }

}  // namespace

void put(PacketWriter& to, const LauncherOptions& options) {
  to.number(static_cast<int>(options.minimum)).number(static_cast<int>(options.maximum));
  to.text(options.freezer).text(options.workdir.string());
  to.number(options.slots).number(options.first_uid).text(options.root.string());
  to.texts(options.device.nodes).texts(options.device.folders);
}

LauncherOptions get_options(PacketReader& from) {
  LauncherOptions options;
  options.minimum = get_enum(from, IsolationLevel::kPrivate);
  options.maximum = get_enum(from, IsolationLevel::kPrivate);
  options.freezer = from.text();
  options.workdir = from.text();
  options.slots = get_int(from);
  options.first_uid =
      static_cast<std::uint32_t>(from.number_in(0, std::numeric_limits<std::uint32_t>::max()));
  options.root = from.text();
  options.device = {from.texts(), from.texts()};
  return options;
}

void put(PacketWriter& to, const Ready& ready) {
  const Capabilities& c = ready.capabilities;
  for (const bool flag : {c.root, c.seccomp, c.user_namespace, c.mount_namespace, c.pid_namespace,
                          c.network_namespace, c.slot_users, c.cgroup_freeze, c.cgroup_memory,
                          c.cgroup_pids, c.pidfd, c.ptrace, c.ptrace_users}) {
    to.number(flag ? 1 : 0);
  }
  to.number(c.landlock_abi).text(c.cgroup_v2_root).text(c.cgroup_v1_memory_root);
  to.text(c.cgroup_v1_pids_root).text(c.kernel).texts(c.notes);
  to.number(static_cast<int>(ready.level)).text(ready.freezer).text(ready.no_slot_users_reason);
  to.number(static_cast<int>(ready.refused_code)).text(ready.refused);
}

Ready get_ready(PacketReader& from) {
  Ready ready;
  Capabilities& c = ready.capabilities;
  for (bool* flag : {&c.root, &c.seccomp, &c.user_namespace, &c.mount_namespace, &c.pid_namespace,
                     &c.network_namespace, &c.slot_users, &c.cgroup_freeze, &c.cgroup_memory,
                     &c.cgroup_pids, &c.pidfd, &c.ptrace, &c.ptrace_users}) {
    *flag = get_bool(from);
  }
  c.landlock_abi = get_int(from);
  c.cgroup_v2_root = from.text();
  c.cgroup_v1_memory_root = from.text();
  c.cgroup_v1_pids_root = from.text();
  c.kernel = from.text();
  c.notes = from.texts();
  ready.level = get_enum(from, IsolationLevel::kPrivate);
  ready.freezer = from.text();
  ready.no_slot_users_reason = from.text();
  ready.refused_code = get_enum(from, Code::kInternal);
  ready.refused = from.text();
  return ready;
}

void put(PacketWriter& to, const SpawnRequest& request) {
  to.number(static_cast<int>(request.jail)).text(request.label).text(request.program.string());
  to.texts(request.arguments);
  put_ints(to, request.cpus);
  const ProcessLimits& limits = request.limits;
  to.number(limits.memory_bytes).real(limits.cpu_seconds).number(limits.file_bytes);
  to.number(limits.processes).texts(request.readable).number(request.device ? 1 : 0);
  to.number(request.scratch_bytes).texts(request.hidden_nodes);
}

SpawnRequest get_request(PacketReader& from) {
  SpawnRequest request;
  request.jail = get_enum(from, Jail::kCandidate);
  request.label = from.text();
  request.program = from.text();
  request.arguments = from.texts();
  request.cpus = get_ints(from);
  request.limits.memory_bytes = from.number();
  request.limits.cpu_seconds = from.real();
  request.limits.file_bytes = from.number();
  request.limits.processes = get_int(from);
  request.readable = from.texts();
  request.device = get_bool(from);
  request.scratch_bytes = from.number();
  request.hidden_nodes = from.texts();
  return request;
}

void put(PacketWriter& to, const ProcessExit& exit, std::size_t output_bytes) {
  to.number(exit.exit_code).number(exit.signal).number(exit.out_of_memory ? 1 : 0);
  to.number(exit.killed_by_machine ? 1 : 0);
  to.real(exit.cpu_seconds).number(exit.peak_bytes);
  to.number(static_cast<std::int64_t>(output_bytes));
}

ProcessExit get_exit(PacketReader& from) {
  ProcessExit exit;
  exit.exit_code = get_int(from);
  exit.signal = get_int(from);
  exit.out_of_memory = get_bool(from);
  exit.killed_by_machine = get_bool(from);
  exit.cpu_seconds = from.real();
  exit.peak_bytes = from.number();
  exit.output = from.text();
  return exit;
}

}  // namespace hone
