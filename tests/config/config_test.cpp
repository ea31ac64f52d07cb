// The configuration: defaults, strictness with file and line, --set, origins, and every file under
// configs/.
#include "config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "config/described_backends.hpp"
#include "places.hpp"

namespace hone {
namespace {

Result<LoadedConfig> parse(std::string_view text, const std::vector<std::string>& sets = {}) {
  return parse_config(text, "hone.yaml", "/etc/hone", sets, test::described_backends);
}

Result<LoadedConfig> load(const std::filesystem::path& path,
                          const std::vector<std::string>& sets = {}) {
  return load_config(path, sets, test::described_backends);
}

Config defaults() { return parse("")->config; }

std::string mistake_in(std::string_view text, const std::vector<std::string>& sets = {}) {
  auto loaded = parse(text, sets);
  EXPECT_FALSE(loaded);
  return loaded ? "" : loaded.error().message;
}

TEST(Config, EmptyFile_GivesTheDefaults) {
  auto loaded = parse("");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.server.endpoint, "tcp://127.0.0.1:5917");
  EXPECT_EQ(loaded->config.isolation.minimum, "filtered");
  for (const auto& [pointer, origin] : loaded->origins) EXPECT_EQ(origin, "default") << pointer;
}

TEST(Config, EachValue_HasItsOrigin) {
  auto loaded = parse("backend: cpu\nserver:\n  lease_s: 60\n", {"server.drain_s=5"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->origins.at("/backend"), "hone.yaml:1");
  EXPECT_EQ(loaded->origins.at("/server/lease_s"), "hone.yaml:3");
  EXPECT_EQ(loaded->origins.at("/server/drain_s"), "--set server.drain_s=5");
  EXPECT_EQ(loaded->origins.at("/server/endpoint"), "default");
  EXPECT_EQ(loaded->config.server.drain_s, 5);
}

TEST(Config, Mistake_NamesFileLineAndNearestKey) {
  EXPECT_EQ(mistake_in("backend: cpu\nservr: {}\n"),
            "hone.yaml:2: unknown key 'servr'; did you mean 'server'?");
  EXPECT_EQ(mistake_in("server:\n  leas_s: 3\n"),
            "hone.yaml:2: unknown key 'leas_s'; did you mean 'lease_s'?");
  EXPECT_EQ(mistake_in("server:\n  lease_s: soon\n"),
            "hone.yaml:2: lease_s: expected a number, found string");
  EXPECT_EQ(mistake_in("server:\n  limits: {frames: 2}\n"),
            "hone.yaml:2: frames: found 2, expected 4 to 1024");
  EXPECT_EQ(mistake_in("log: {level: verbose}").substr(0, 45),
            "hone.yaml:1: level: unknown value 'verbose'; ");
  EXPECT_EQ(mistake_in("isolation: {minimum: seperated}"),
            "hone.yaml:1: minimum: unknown value 'seperated'; did you mean 'separated'?");
  EXPECT_EQ(mistake_in("- 1"), "hone.yaml:1: expected a map, found array");
  EXPECT_EQ(mistake_in("server: 3"), "hone.yaml:1: server: expected a map, found int");
  EXPECT_EQ(mistake_in("cpu:\n  devices:\n  - judge_cpu: 0\n    cores: [0, x]\n"),
            "hone.yaml:4: cores: expected integers, found \"x\"");
}

TEST(Config, BackendSection_OwnKeys_AreReadAsDescribed) {
  const auto loaded = parse("backend: cuda\ncuda: {level: 3, mode: exact, flags: [-O3]}\n",
                            {"cuda.factor=2", "cuda.careful=true", "cuda.uses=7"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const BackendConfig& cuda = loaded->config.backends.at("cuda");
  EXPECT_EQ(*cuda.options.find("level"), Value(3));
  EXPECT_EQ(*cuda.options.find("mode"), Value("exact"));
  EXPECT_EQ(*cuda.options.find("flags"), Value::array({"-O3"}));
  EXPECT_EQ(*cuda.options.find("factor"), Value(2.0));
  EXPECT_EQ(*cuda.options.find("careful"), Value(true));
  EXPECT_EQ(*cuda.options.find("compiler"), Value("auto"));
  EXPECT_EQ(cuda.uses, 7);
  EXPECT_EQ(*loaded->config.backends.at("hip").options.find("level"), Value(1));
  EXPECT_EQ(loaded->origins.at("/cuda/level"), "hone.yaml:2");
  EXPECT_EQ(loaded->origins.at("/cuda/mode"), "hone.yaml:2");
}

TEST(Config, BackendSection_Mistake_NamesLineFoundAndExpected) {
  EXPECT_EQ(mistake_in("cuda:\n  levl: 3\n"),
            "hone.yaml:2: unknown key 'levl'; did you mean 'level'?");
  EXPECT_EQ(mistake_in("cuda:\n  level: 4\n"), "hone.yaml:2: level: found 4, expected 0 to 3");
  EXPECT_EQ(mistake_in("cuda:\n  mode: exat\n"),
            "hone.yaml:2: mode: unknown value 'exat'; did you mean 'exact'?");
  EXPECT_EQ(mistake_in("cuda:\n  careful: 1\n"),
            "hone.yaml:2: careful: expected true or false, found int");
  EXPECT_EQ(mistake_in("backend: cida\n"),
            "hone.yaml:1: backend: unknown value 'cida'; did you mean 'cuda'?");
}

TEST(Config, Devices_AreNumbersOrAll) {
  const auto devices = [](const std::string& text) {
    const auto loaded = parse("backend: cuda\ncuda: {devices: " + text + "}\n");
    EXPECT_TRUE(loaded) << loaded.error().message;
    const Value written = config_to_value(loaded->config);
    return *written.find("cuda")->find("devices");
  };
  EXPECT_EQ(devices("[2, 0]"), Value::array({2, 0}));
  EXPECT_EQ(devices("all"), Value("all"));
  EXPECT_EQ(mistake_in("cuda:\n  devices: every\n"),
            "hone.yaml:2: devices: found 'every', expected a list of integers, or all");
  EXPECT_EQ(mistake_in("cuda:\n  devices: []\n"),
            "hone.yaml:2: devices: expected at least one integer, found none");
}

TEST(Config, RefusedBackend_UnknownName_MessageHasReason) {
  const auto refuse = [](const Config& plugins) {
    EXPECT_EQ(plugins.plugin_paths, std::vector<std::string>{"/etc/hone/own.so"});
    EXPECT_TRUE(plugins.plugin_host.in_process);
    return FoundBackends{{}, {"own.so: describe: broken"}};
  };
  const std::string plugins = "plugins: {paths: [own.so], in_process: true}\n";
  EXPECT_EQ(parse_config("backend: own\n" + plugins, "hone.yaml", "/etc/hone", {}, refuse)
                .error()
                .message,
            "hone.yaml:1: backend: unknown value 'own'; valid: cpu; own.so: describe: broken");
  EXPECT_TRUE(parse_config(plugins, "hone.yaml", "/etc/hone", {}, refuse));
}

TEST(Config, Backend_NamedLikeASection_IsRefused) {
  const auto find = [](const Config&) {
    FoundBackends found;
    found.described.push_back(
        *read_backend_description(test::described_backend("server"), "server"));
    return found;
  };
  EXPECT_EQ(parse_config("backend: server", "hone.yaml", "/etc/hone", {}, find).error().message,
            "hone.yaml:1: backend: unknown value 'server'; valid: cpu; backend 'server': the "
            "configuration has a section 'server'; rename the backend");
}

TEST(Config, BackendOfHostCode_IsRefusedWithTheReason) {
  const auto find = [](const Config&) {
    Value described = test::described_backend("own");
    described.set("withholds", "freeze");
    FoundBackends found;
    for (const char* name : {"cpu", "own"})
      found.described.push_back(*read_backend_description(described, name));
    return found;
  };
  EXPECT_EQ(
      parse_config("backend: own", "hone.yaml", "/etc/hone", {}, find).error().message,
      "hone.yaml:1: backend: unknown value 'own'; valid: cpu; backend 'own': withholds: found "
      "'freeze', which is the contract of the backend 'cpu'; expected 'stream' or 'copy'");
  EXPECT_TRUE(parse_config("backend: cpu", "hone.yaml", "/etc/hone", {}, find));
}

TEST(Config, BackendHarness_OneMember_IsEnough) {
  Value described = test::described_backend("own");
  described.set("harness", Value::map({{"known_answer", "a kernel"}}));
  const auto description = read_backend_description(described, "own");
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->harness, "");
  EXPECT_EQ(description->known_answer, "a kernel");
}

TEST(Config, BackendDescription_Mistake_NamesTheMember) {
  const auto mistake = [](const char* parameter, const char* member, Value value) {
    Value described = test::described_backend("own");
    Value parameters = *described.find("parameters");
    Value one = *parameters.find("level");
    one.set(member, std::move(value));
    parameters.set(parameter, std::move(one));
    described.set("parameters", std::move(parameters));
    const auto read = read_backend_description(described, "own");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(mistake("level", "doc", "another text"), "");
  EXPECT_THAT(mistake("level", "type", "integer"), testing::HasSubstr("unknown value 'integer'"));
  EXPECT_THAT(mistake("level", "default", 9), testing::HasSubstr("within range, found 9"));
  EXPECT_THAT(mistake("level", "default", "1"), testing::HasSubstr("of type int, found \"1\""));
  EXPECT_THAT(mistake("level", "range", Value::array({3, 0})),
              testing::HasSubstr("expected [low, high], found [3,0]"));
  EXPECT_THAT(mistake("uses", "doc", "x"), testing::HasSubstr("hone reads the key 'uses'"));
  EXPECT_THAT(mistake("Level", "doc", "x"), testing::HasSubstr("expected lower-case letters"));
}

TEST(Config, Contradictions_AreRefused) {
  EXPECT_EQ(mistake_in("datasets: []"),
            "hone.yaml:1: datasets: the list is empty; expected at least one dataset");
  EXPECT_EQ(mistake_in("datasets:\n- {name: a}\n- {name: a}\n"),
            "hone.yaml:3: datasets: two datasets have the name 'a'; rename one");
  EXPECT_EQ(mistake_in("evaluate:\n  measure:\n    pairs_max: 5\n"),
            "hone.yaml:3: pairs_max: found 5, expected at least pairs_min, 7");
}

TEST(Config, CommandLine_OverridesTheFile) {
  auto loaded =
      parse("datasets:\n- {name: mine, config: {path: tasks}}\n",
            {"datasets.0.name=other", "cpu.c++.flags=[-O2]", "environment.stop_speedup=null"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.datasets[0].name, "other");
  EXPECT_EQ(loaded->config.cpu.cxx.flags, std::vector<std::string>{"-O2"});
  EXPECT_FALSE(loaded->config.environment.stop_speedup);
  EXPECT_EQ(mistake_in("", {"server.lease_s=soon"}),
            "--set server.lease_s=soon: lease_s: expected a number, found string");
  EXPECT_EQ(mistake_in("", {"server.leas_s=3"}),
            "--set server.leas_s=3: unknown key 'leas_s'; did you mean 'lease_s'?");
  EXPECT_EQ(mistake_in("", {"sever.lease_s=3"}),
            "--set sever.lease_s=3: unknown key 'sever'; did you mean 'server'?");
  EXPECT_EQ(loaded->place("/datasets/0/name"), "--set datasets.0.name=other");
  EXPECT_EQ(loaded->place("/datasets/0/config"), "hone.yaml:2");
  EXPECT_EQ(loaded->place("/server"), "");
  EXPECT_EQ(mistake_in("", {"server"}),
            "--set server: expected key=value, such as server.lease_s=60");
  EXPECT_EQ(mistake_in("datasets: [{name: a}]", {"datasets.4.name=b"}),
            "--set datasets.4.name=b: found '4', expected an index below 1");
  EXPECT_EQ(mistake_in("backend: cpu", {"backend.x=b"}),
            "--set backend.x=b: 'x' is inside a string");
}

TEST(Config, OverriddenValue_IsNotAttributedToTheFile) {
  const std::string file = "datasets:\n- name: mine\n  plugn: tasks\n";
  EXPECT_EQ(mistake_in(file, {}), "hone.yaml:3: unknown key 'plugn'; did you mean 'plugin'?");
  EXPECT_EQ(mistake_in(file, {"datasets=[{name: x, plugn: y}]"}),
            "--set datasets=[{name: x, plugn: y}]: unknown key 'plugn'; did you mean 'plugin'?");
  const auto loaded = parse(file, {"datasets.0.name=x", "datasets=[{name: other}]"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->place("/datasets/0/name"), "--set datasets=[{name: other}]");
}

TEST(Config, Paths_AreRelativeToTheFile) {
  auto loaded = parse("datasets: [{name: a, config: {path: ../tasks}}]\nplugins: {paths: [own]}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.datasets[0].config.find("path")->as_string(), "/etc/tasks");
  EXPECT_EQ(loaded->config.plugin_paths, std::vector<std::string>{"/etc/hone/own"});
  EXPECT_EQ(parse("")->config.datasets[0].config.find("path")->as_string(), "builtin");
  const std::string here = std::filesystem::current_path().string();
  loaded = parse("cpu: {python: bin/python}\ncuda: {python: bin/python}\n",
                 {"cuda.python=bin/python", "datasets=[{name: a, config: {path: tasks}}]",
                  "journal.path=run.db"});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->config.cpu.python, "/etc/hone/bin/python");
  EXPECT_EQ(loaded->config.backends.at("cuda").python, here + "/bin/python");
  EXPECT_EQ(loaded->config.datasets[0].config.find("path")->as_string(), here + "/tasks");
  EXPECT_EQ(loaded->config.journal.path, here + "/run.db");
}

TEST(Config, WrittenConfiguration_RoundTrips) {
  auto loaded =
      parse("cpu: {devices: [{judge_cpu: 1, cores: [2, 3]}]}\nenvironment: {stop_speedup: 2}\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Value written = config_to_value(loaded->config);
  auto again = parse(to_json(written));  // JSON is YAML
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(config_to_value(again->config), written);
  EXPECT_EQ(again->config.cpu.devices[0].cores, (std::vector<std::int64_t>{2, 3}));
}

TEST(Config, EveryKey_IsDocumented) {
  std::set<std::string> names;
  const Config keys_of = defaults();
  for (const ConfigKey& key : config_keys(keys_of)) {
    EXPECT_FALSE(key.doc.empty()) << key.name;
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
  }
  EXPECT_TRUE(names.count("server.limits.source_bytes"));
  EXPECT_TRUE(names.count("datasets[].config"));
  EXPECT_TRUE(names.count("cuda.level"));
  for (const ConfigKey& key : config_keys(keys_of)) {
    if (key.name == "server.limits.frame_bytes") {
      EXPECT_EQ(key.expected, "bytes, 1 KiB to 1 GiB");
    }
    if (key.name == "server.heartbeat_s") {
      EXPECT_EQ(key.expected, "number, 0.1 to 3600");
    }
  }
}

TEST(Config, EveryShippedFile_Loads) {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() / "configs")) {
    auto loaded = load(file.path());
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    ++files;
  }
  EXPECT_GE(files, 3u);
  auto laptop = load(test::source_dir() / "configs/laptop.yaml");
  ASSERT_TRUE(laptop);
  EXPECT_EQ(config_to_value(laptop->config), config_to_value(defaults()))
      << "laptop.yaml is the defaults";
}

TEST(Config, File_WithAByteOrderMark_IsRead) {
  const ScratchFolder folder = std::move(ScratchFolder::make()).value();
  const std::filesystem::path file = folder.path() / "hone.yaml";
  for (const std::string text : {"server:\n  lease_s: 60\n", "server:\r\n  lease_s: 60\r\n"}) {
    ASSERT_TRUE(write_file(file, "\xef\xbb\xbf" + text));
    const auto loaded = load(file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->config.server.lease_s, 60);
    EXPECT_EQ(loaded->origins.at("/server/lease_s"), file.string() + ":2");
  }
}

TEST(Config, PluginPath_DoesNotExist_IsRefusedWithItsPlace) {
  const ScratchFolder folder = std::move(ScratchFolder::make()).value();
  const std::filesystem::path file = folder.path() / "hone.yaml", here = folder.path();
  ASSERT_TRUE(write_file(here / "mine.py", ""));
  ASSERT_TRUE(write_file(file, "plugins:\n  paths: [mine.py, .]\n"));
  EXPECT_TRUE(load(file));
  ASSERT_TRUE(write_file(file, "plugins:\n  paths:\n  - mine.py\n  - mein.py\n"));
  EXPECT_EQ(load(file).error().message, file.string() +
                                            ":4: plugins.paths: " + (here / "mein.py").string() +
                                            ": no such file or folder");
  for (const auto& [key, path] :
       std::vector<std::pair<std::string, std::string>>{{"plugins.paths", "[/absent/a]"},
                                                        {"cpu.readable", "[/absent/a]"},
                                                        {"isolation.workdir", "/absent/a"}}) {
    const std::string set = key + "=" + path;
    EXPECT_EQ(load("", {set}).error().message,
              "--set " + set + ": " + key + ": /absent/a: no such file or folder");
  }
}

TEST(Config, MissingFile_IsAnError) {
  auto loaded = load("/nonexistent/hone.yaml");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::kNotFound);
  EXPECT_EQ(loaded.error().message.substr(0, 28), "open /nonexistent/hone.yaml:");
}

TEST(Config, UserPlugins_AreFoundRelativeToTheFile) {
  const auto loaded = parse_config(
      "reward:\n  name: mine/my_reward.py\n"
      "datasets:\n  - {name: ours, plugin: ours.so}\n"
      "plugins: {python: venv/bin/python, call_seconds: 2.5, memory_mb: 64, reload: true}\n",
      "hone.yaml", "/etc/hone");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Config& config = loaded->config;
  EXPECT_EQ(config.reward.name, "/etc/hone/mine/my_reward.py");
  EXPECT_EQ(config.datasets[0].plugin, "/etc/hone/ours.so");
  EXPECT_EQ(config.plugin_host.python, "/etc/hone/venv/bin/python");
  EXPECT_EQ(config.plugin_host.call_seconds, 2.5);
  EXPECT_TRUE(config.plugin_host.reload);
  EXPECT_FALSE(config.plugin_host.in_process);
  EXPECT_EQ(parse_config("reward: {name: kevin}", "hone.yaml", "/etc")->config.reward.name,
            "kevin");
}

TEST(Config, WebListen_MayBeAnInteger) {
  for (const char* text : {"web: {listen: 5919}", "web: {listen: '5919'}"}) {
    const auto loaded = parse(text);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_EQ(loaded->config.web.listen, "5919");
  }
  EXPECT_EQ(parse("", {"web.listen=5919"})->config.web.listen, "5919");
}

}  // namespace
}  // namespace hone
