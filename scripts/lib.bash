# Shared by the scripts: the repository's folder, required packages, messages, and progress.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
  bold=$'\033[1m' dim=$'\033[2m' red=$'\033[31m' green=$'\033[32m' plain=$'\033[0m'
else
  bold='' dim='' red='' green='' plain=''
fi

say() { printf '%s\n' "$*" >&2; }
fail() {
  printf '%s%s: %s%s\n' "$red" "$(basename "$0")" "$1" "$plain" >&2
  [[ $# -lt 2 ]] || printf '  %s\n' "$2" >&2
  exit "${3:-2}"
}

# Prints the comment block at the top of the script, without its first line's "#!".
usage() { sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"; }

# package | what it is for
build_packages() {
  cat <<'LIST'
g++|builds hone, and the C++ submissions that it judges
gcc|builds C submissions
cmake|configures the build
ninja-build|runs the build
pkg-config|finds libraries
libzmq3-dev|ZeroMQ: the protocol's transport
cppzmq-dev|ZeroMQ in C++
libmsgpack-cxx-dev|MessagePack: the protocol's encoding
libyaml-cpp-dev|configuration and tasks
libspdlog-dev|the log
libsodium-dev|hashes and secret randomness
libsqlite3-dev|the journal
nlohmann-json3-dev|JSON output
libcli11-dev|the command line
libseccomp-dev|system-call filters of the jails
libffi-dev|calls of kernels whose signature a task gives
libcpp-httplib-dev|HTTP: the gateway for other systems' clients
LIST
}
test_packages() {
  cat <<'LIST'
libgtest-dev|GoogleTest
libgmock-dev|GoogleTest's matchers
python3|tests of the repository and of the clients
python3-dev|builds the Python client
python3-venv|an environment for the client tests
ccache|builds the same file once
LIST
}
tool_packages() {
  cat <<'LIST'
clang-14|the second compiler that must build hone
libclang-rt-14-dev|its sanitizers, and libFuzzer
clang-tidy-14|the rules of .clang-tidy
clang-format-14|the format of C++ files
LIST
}

browser_packages() {
  echo 'chromium|shows the web page to its tests'
}

hip_packages() {
  cat <<'LIST'
hipcc|HIP's headers and tools
libamdhip64-dev|HIP's runtime with hiprtc: builds for gfx90a and gfx908
libhiprtc-builtins5|the headers that hiprtc has in memory
rocm-device-libs|AMD's device libraries
clang-19|builds HIP for gfx942
clang-tools-19|puts it into a library for the host
lld-19|links it
libthrust-dev|complex numbers, for torch's headers in HIP
LIST
}

# uv makes virtual environments faster than pip, and stores a package once for all of them.
uv_version=0.13.9
uv() { # uv ARGUMENTS...
  local home=$root/build/uv
  make_environment "$home" "$uv_version $root" install_uv "$home" || return
  [[ -v uv_settings ]] || mapfile -t uv_settings < <(registries_of_pip "$home/bin/pip")
  env "${uv_settings[@]}" "$home/bin/uv" "$@"
}
install_uv() { # install_uv FOLDER
  python3 -m venv --clear "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check "uv==$uv_version"
}
# uv ignores pip's settings. Prints pip's settings of registries as uv's variables, without those that are set already.
registries_of_pip() { # registries_of_pip PIP
  "$1" config list 2> /dev/null | python3 -c '
import ast, os, sys
names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS",
         "constraint": "UV_CONSTRAINT", "cert": "SSL_CERT_FILE", "no-index": "UV_NO_INDEX",
         "trusted-host": "UV_INSECURE_HOST", "proxy": "HTTPS_PROXY"}
found = {}
# Variables of the environment win over files.
for line in sorted(sys.stdin, key=lambda line: line.startswith(":env:")):
    key, _, value = line.strip().partition("=")
    name = names.get(key.rpartition(".")[2])
    if name:
        words = ast.literal_eval(value).split()
        found[name] = ("," if name == "UV_FIND_LINKS" else " ").join(words)
# Like pip, uv then takes the best version from all registries.
found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
print(*(f"{name}={value}" for name, value in found.items() if name not in os.environ), sep="\n")'
}

# Fills FOLDER by COMMAND, unless FOLDER/stamp already has the text STAMP. Concurrent calls wait for a lock. An interrupted call is
# repeated, because the stamp is written last. errexit has no effect in COMMAND, so it must return its failures.
make_environment() { # make_environment FOLDER STAMP COMMAND...
  local folder=$1 stamp=$2 lock status=0
  shift 2
  mkdir -p "$(dirname "$folder")"
  exec {lock}> "$folder.lock"
  flock "$lock"
  if [[ $(cat "$folder/stamp" 2> /dev/null) != "$stamp" ]]; then
    rm -f "$folder/stamp"
    "$@" && echo "$stamp" > "$folder/stamp" || status=$?
  fi
  exec {lock}>&-
  return "$status"
}

# The wheel of the Python client, compiled once for each version of its sources and of Python. Prints its path.
client_wheel() { # client_wheel PYTHON
  local python=$1 folder sources
  sources=$(find "$root/clients" "$root/core/include" -type f -not -name '*.pyc' -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  folder=$root/build/client-wheels/$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  make_environment "$folder" "$sources $("$python" --version)" build_client_wheel "$python" "$folder" >&2 || return
  echo "$folder"/*.whl
}
build_client_wheel() { # build_client_wheel PYTHON FOLDER
  local python=$1 folder=$2
  rm -rf "$folder"
  # The build tools have a fixed folder, because ccache needs the same paths.
  uv venv --quiet --python "$python" "$folder/tools" &&
    uv pip install --quiet --python "$folder/tools/bin/python" scikit-build-core pybind11 &&
    CMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache) CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 \
      uv build --quiet --wheel --no-build-isolation --python "$folder/tools/bin/python" --out-dir "$folder" \
      -C build-dir="$folder/build" "$root/clients/python"
}
# Installs the client into an environment that lacks this version of it.
install_client() { # install_client ENVIRONMENT PYTHON
  local venv=$1 wheel
  wheel=$(client_wheel "$2") || return
  [[ $(cat "$venv/client" 2> /dev/null) != "$(sha256sum "$wheel")" ]] || return 0
  rm -f "$venv/client"
  uv pip install --quiet --python "$venv/bin/python" --no-deps --reinstall "$wheel" && sha256sum "$wheel" > "$venv/client"
}

# What runs PyTorch modules: the versions that hone is tested with.
modules_environment=$root/build/python
modules_packages() {
  printf '%s\n' torch==2.13.0 triton==3.9.0 numpy
  if ${level4:-false}; then echo transformers; fi
}
has_modules_environment() {
  [[ -x $modules_environment/bin/python && ! -e $modules_environment/incomplete ]] &&
    LEVEL4=${level4:-false} "$modules_environment/bin/python" -c '
import importlib.metadata as m, os, sys
if os.environ["LEVEL4"] == "true": m.version("transformers")
sys.exit(not (m.version("torch").split("+")[0] == "2.13.0" and m.version("triton") == "3.9.0" and m.version("numpy")))' \
      2> /dev/null
}

# make_modules_environment CHECK_ONLY YES
make_modules_environment() {
  local python=$modules_environment/bin/python log=$root/build/logs/setup-python.log
  local use="to use it: --set plugins.python=$python --set cpu.python=$python"
  local packages
  if has_modules_environment; then
    say "build/python has $(modules_packages | cut -d= -f1 | tr '\n' ' ')in the wanted versions; $use"
    return
  fi
  mapfile -t packages < <(modules_packages)
  say "${bold}missing:${plain} build/python, a virtual environment with ${packages[*]}: 2 GB on disk, and 6 more where torch" \
    "brings the libraries of a GPU"
  if $1; then
    say "to make it: scripts/setup --python"
    exit 1
  fi
  if ! $2 && [[ -t 0 && -t 2 ]]; then
    local answer
    read -r -p "download and install them there? [Y/n] " answer || answer=n
    [[ -z $answer || $answer == [Yy]* ]] || fail "nothing was installed" "" 1
  fi
  # --seed installs pip, for users who add packages. Byte code is made now, because candidates cannot write it.
  mkdir -p "$modules_environment"
  touch "$modules_environment/incomplete"
  run_logged "$log" uv venv --seed --allow-existing --python python3 "$modules_environment" ||
    fail "no virtual environment could be made (log: build/logs/setup-python.log)" "apt-get install python3-venv" 3
  run_logged "$log" uv pip install --python "$modules_environment/bin/python" --compile-bytecode "${packages[@]}" || {
    tail -n 5 "$log" >&2
    fail "the packages cannot be installed (log: build/logs/setup-python.log)" \
      "remove the cause that the log names, then run it again" 3
  }
  rm "$modules_environment/incomplete"
  say "${green}made build/python${plain}; $use"
}

# Runs a command with its output in a log; on a terminal shows the log's last line while it runs.
# run_logged LOG COMMAND...
run_logged() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  if [[ -t 2 ]]; then
    "$@" > "$log" 2>&1 &
    local pid=$!
    while kill -0 "$pid" 2> /dev/null; do
      printf '\r\033[K%s%.*s%s' "$dim" "$((${COLUMNS:-100} - 1))" "$(tail -n 1 "$log" | tr -d '\r\033')" "$plain" >&2
      sleep 0.5
    done
    wait "$pid" || status=$?
    printf '\r\033[K' >&2
  else
    "$@" > "$log" 2>&1 || status=$?
  fi
  return "$status"
}

# Configures and builds a preset, or one target of it; on failure shows what the compiler said.
build_preset() { # build_preset PRESET [TARGET]
  local preset=$1 target=${2:-all} log=$root/build/logs/build-$1.log
  say "${bold}building $preset${plain} ${dim}(log: build/logs/build-$preset.log)${plain}"
  # A subshell, so that a preset is found wherever the script was started.
  if ! run_logged "$log" bash -c "cd '$root' && cmake --preset '$preset' && cmake --build --preset '$preset' --target '$target'"; then
    grep -E 'error|FAILED|Error|warning:' -A 3 "$log" | head -n 60 >&2 || tail -n 30 "$log" >&2
    return 1
  fi
}
