// HostProcess: one running plugin host, with one request at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "plugin_host/protocol.hpp"
#include "plugin_host/starter.hpp"

namespace hone {

/// Receives the plugin's log lines and printed lines.
using HostLog = std::function<void(LogLevel level, std::string_view line)>;

/// When the process ends, its children are ended as well. [one thread at a time]
///
///   HONE_ASSIGN(auto process, HostProcess::start(starter, language, arguments, log));
///   const Result<Value> answer = process->ask({.name = "hello"}, "my_reward.py: hello", 10);
///   if (!process->alive()) …                     // the answer says how it ended
class HostProcess {
 public:
  /// `arguments`: of hone-plugin-host, with argv[0].
  static Result<std::unique_ptr<HostProcess>> start(HostStarter& starter, HostLanguage language,
                                                    const std::vector<std::string>& arguments,
                                                    HostLog log);
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// The plugin's answer, which may be an error. If the process crashed, sent an invalid answer, or took
  /// longer than `limit_s`, it is ended and alive() is false. Time without a processor does not count, up to
  /// nine times the limit. The error begins with `who`: "my_reward: score: its plugin host was killed by
  /// SIGSEGV during the call". If the process ended by itself, the error's cause is plugin_ended.
  Result<Value> ask(const HostCall& call, std::string who, double limit_s);

  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

 private:
  HostProcess(HostLanguage language, HostLog log) : language_(language), log_(std::move(log)) {}
  Result<Value> wait_for_answer(double limit_s);
  Result<HostMessage> receive(double left_s);
  Error ended_by_itself();
  Error late(double limit_s);
  Error gone(const std::string& how) const;
  int stop();
  void drain_output();
  void say_lines(bool all);

  const HostLanguage language_;
  const HostLog log_;
  std::string who_;        // the caller, in messages
  std::string limit_key_;  // configuration key of the current call's time limit
  pid_t pid_ = -1;
  UniqueFd socket_, output_, pidfd_;
  std::string printed_;            // an incomplete line
  std::string last_line_;          // last line printed in this call, for messages; may be truncated
  std::size_t printed_bytes_ = 0;  // in this call
  std::size_t dropped_bytes_ = 0;
};

}  // namespace hone
