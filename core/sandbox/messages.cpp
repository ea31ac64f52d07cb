// Messages: packing and unpacking, field by field in the order of the structs.
#include "sandbox/messages.hpp"

namespace hone {
namespace {

void put_ints(PacketWriter& to, const std::vector<int>& values) {
  to.number(static_cast<std::int64_t>(values.size()));
  for (const int value : values) to.number(value);
}

std::vector<int> get_ints(PacketReader& from) {
  std::vector<int> values;
  const std::int64_t count = from.number();
  for (std::int64_t i = 0; i < count && from.ok(); ++i) {
    values.push_back(static_cast<int>(from.number()));
  }
  return values;
}

bool get_bool(PacketReader& from) { return from.number() != 0; }

}  // namespace

void put(PacketWriter& to, const LauncherOptions& options) {
  to.number(static_cast<int>(options.minimum)).number(static_cast<int>(options.maximum));
  to.text(options.freezer).text(options.workdir.string());
  to.number(options.slots).number(options.first_uid);
}

LauncherOptions get_options(PacketReader& from) {
  LauncherOptions options;
  options.minimum = static_cast<IsolationLevel>(from.number());
  options.maximum = static_cast<IsolationLevel>(from.number());
  options.freezer = from.text();
  options.workdir = from.text();
  options.slots = static_cast<int>(from.number());
  options.first_uid = static_cast<std::uint32_t>(from.number());
  return options;
}

void put(PacketWriter& to, const Ready& ready) {
  const Capabilities& c = ready.capabilities;
  for (const bool flag : {c.root, c.seccomp, c.user_namespace, c.mount_namespace, c.pid_namespace,
                          c.network_namespace, c.slot_users, c.cgroup_freeze, c.cgroup_memory,
                          c.cgroup_pids, c.ptrace, c.ptrace_users}) {
    to.number(flag ? 1 : 0);
  }
  to.number(c.landlock_abi).text(c.cgroup_v2_root).text(c.cgroup_v1_memory_root);
  to.text(c.cgroup_v1_pids_root).text(c.kernel).texts(c.notes);
  to.number(static_cast<int>(ready.level)).text(ready.freezer);
  to.number(static_cast<int>(ready.refused_code)).text(ready.refused);
}

Ready get_ready(PacketReader& from) {
  Ready ready;
  Capabilities& c = ready.capabilities;
  for (bool* flag : {&c.root, &c.seccomp, &c.user_namespace, &c.mount_namespace, &c.pid_namespace,
                     &c.network_namespace, &c.slot_users, &c.cgroup_freeze, &c.cgroup_memory,
                     &c.cgroup_pids, &c.ptrace, &c.ptrace_users}) {
    *flag = get_bool(from);
  }
  c.landlock_abi = static_cast<int>(from.number());
  c.cgroup_v2_root = from.text();
  c.cgroup_v1_memory_root = from.text();
  c.cgroup_v1_pids_root = from.text();
  c.kernel = from.text();
  c.notes = from.texts();
  ready.level = static_cast<IsolationLevel>(from.number());
  ready.freezer = from.text();
  ready.refused_code = static_cast<Code>(from.number());
  ready.refused = from.text();
  return ready;
}

void put(PacketWriter& to, const SpawnRequest& request) {
  to.number(static_cast<int>(request.jail)).text(request.label).text(request.program.string());
  to.texts(request.arguments);
  put_ints(to, request.cpus);
  const ProcessLimits& limits = request.limits;
  to.number(limits.memory_bytes).real(limits.cpu_seconds).number(limits.file_bytes);
  to.number(limits.processes).texts(request.readable);
}

SpawnRequest get_request(PacketReader& from) {
  SpawnRequest request;
  request.jail = static_cast<Jail>(from.number());
  request.label = from.text();
  request.program = from.text();
  request.arguments = from.texts();
  request.cpus = get_ints(from);
  request.limits.memory_bytes = from.number();
  request.limits.cpu_seconds = from.real();
  request.limits.file_bytes = from.number();
  request.limits.processes = static_cast<int>(from.number());
  request.readable = from.texts();
  return request;
}

void put(PacketWriter& to, const ProcessExit& exit) {
  to.number(exit.exit_code).number(exit.signal).number(exit.out_of_memory ? 1 : 0);
  to.real(exit.cpu_seconds).number(exit.peak_bytes).text(exit.output);
}

ProcessExit get_exit(PacketReader& from) {
  ProcessExit exit;
  exit.exit_code = static_cast<int>(from.number());
  exit.signal = static_cast<int>(from.number());
  exit.out_of_memory = get_bool(from);
  exit.cpu_seconds = from.real();
  exit.peak_bytes = from.number();
  exit.output = from.text();
  return exit;
}

}  // namespace hone
