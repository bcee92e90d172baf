// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/wire/agent_options.h"
#include "tests/support/scripted_agent.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

// What a sidecar meets in place of a JVM that means harm: it maps a libjvm.so, answers on the
// attach socket, and its "agent" speaks the real protocol over the real socket, in the real region,
// to break whoever reads. Each session does another thing, chosen by the seed and its number.
//
//   hostile_jvm LIBJVM [SEED [ATTACK]]     ATTACK: a name of kAttacks; that one in each session
namespace {

using namespace std::chrono_literals;
using jprof::base::UniqueFd;
using jprof::testing::RegionBuilder;
using jprof::testing::RegionShape;
using jprof::testing::ScriptedAgent;
using Agent = ScriptedAgent::Session;
using Random = std::mt19937_64;
namespace wire = jprof::wire;

const std::vector<std::string> kTexts = {
    "\033[2J\033]0;owned\007",
    "</script><script>alert(1)</script>",
    "../../../../tmp/evil",
    "\xff\xfe\x80\xed\xa0\x80",
    std::string("a\0b", 3),
    "\"\\\n\r\t';,{}[]",
    "\u202egnp.exe",
    std::string(60000, 'x'),
    "",
};

// A file of ours in /tmp.
std::string planted(const char* name) {
  return "/tmp/hostile_jvm-" + std::to_string(::getpid()) + "-" + name;
}

template <typename T>
const T& one_of(const std::vector<T>& all, Random& random) {
  return all[random() % all.size()];
}

std::uint64_t strange_number(Random& random) {
  const std::uint64_t near = random() % 3 - 1;
  return random() % 3 == 0 ? random() : (std::uint64_t{1} << (random() % 64)) + near;
}

std::uint32_t any_stack(RegionBuilder& region, Random& random, std::size_t depth = 3) {
  std::vector<wire::Frame> frames;
  for (std::size_t i = 0; i < depth; ++i) {
    frames.push_back(random() % 4 == 0
                         ? wire::make_frame(static_cast<wire::FrameKind>(random() % 16), random())
                         : wire::make_java_frame(
                               wire::FrameKind::kC1, random() % 9,
                               region.add_name(one_of(kTexts, random), one_of(kTexts, random))));
  }
  return region.add_stack(frames);
}

void some_samples(Agent& agent, Random& random, int count) {
  RegionBuilder& region = agent.region();
  for (int i = 0; i < count; ++i) {
    region.add_sample({.stack = any_stack(region, random)});
  }
}

// Listens until the sidecar has gone or asks for the end.
void until_told(Agent& agent) {
  while (!agent.stop_seen() && !agent.hung_up()) {
    agent.hear(1000ms);
  }
}

void random_bytes(Agent& agent, Random& random) {
  some_samples(agent, random, 50);
  agent.send_started();
  agent.hear(5000ms);
  const std::span<std::byte> bytes = agent.region().bytes();
  const std::size_t reach = random() % 2 == 0 ? 4096 : bytes.size();
  while (!agent.peer_is_gone()) {
    for (int i = 0; i < 500; ++i) {
      bytes[random() % reach] = static_cast<std::byte>(random());
    }
    std::this_thread::sleep_for(1ms);
  }
}

void insane_header(Agent& agent, Random& random) {
  some_samples(agent, random, 5);
  if (random() % 2 == 0) {
    agent.send_started();
  }
  wire::RegionHeader& header = agent.region().header();
  auto* words = reinterpret_cast<std::uint64_t*>(&header);
  for (int i = 0; i < 20; ++i) {
    words[random() % (sizeof(header) / sizeof(*words))] = strange_number(random);
  }
  agent.send_started();
  until_told(agent);
}

void strange_samples(Agent& agent, Random& random) {
  agent.send_started();
  for (int i = 0; i < 500; ++i) {
    agent.region().add_sample({.time_ns = strange_number(random),
                               .weight = strange_number(random),
                               .thread = static_cast<std::uint32_t>(strange_number(random)),
                               .tid = static_cast<std::uint32_t>(random()),
                               .stack = static_cast<std::uint32_t>(strange_number(random))});
  }
  for (std::uint64_t& counter : agent.region().header().counters) {
    counter = strange_number(random);
  }
  until_told(agent);
  agent.send_stopped(static_cast<wire::StopReason>(random() % 20));
}

// As many different names and stacks as the sidecar takes: its memory is what is aimed at.
void ever_new(Agent& agent, Random& random) {
  agent.send_started();
  RegionBuilder& region = agent.region();
  for (std::uint64_t n = random(); !agent.stop_seen() && !agent.hung_up(); ++n) {
    const std::uint32_t name = region.add_name(std::to_string(n), std::string(4000, 'n'));
    const std::array frames{wire::make_java_frame(wire::FrameKind::kC1, n % 1000, name)};
    if (name == 0 || !region.add_sample({.stack = region.add_stack(frames)})) {
      region.flip();
      agent.hear(10ms);
    }
  }
  agent.send_stopped(wire::StopReason::kDeadline);
}

// Files of ours that are none, where the sidecar looks for symbols.
void strange_modules(Agent& agent, Random& random) {
  const std::vector<std::string> paths = {
      planted("huge"),  planted("pipe"), planted("loop"),     planted("noise"), "/dev/zero",
      "/proc/self/mem", "/tmp",          "/proc/1/root/etc/", "relative",       "\033[2J"};
  RegionBuilder& region = agent.region();
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint64_t base = 0x10000 * (i + 1);
    region.set_module(i, base, random() % 4 == 0 ? strange_number(random) : base + 0x10000,
                      strange_number(random), one_of(paths, random),
                      random() % 2 == 0 ? "" : std::string(20, static_cast<char>(random())));
  }
  for (int i = 0; i < 200; ++i) {
    const std::array frames{
        wire::make_frame(wire::FrameKind::kNative, 0x10000 * (random() % 18) + random() % 0x10000)};
    region.add_sample({.stack = region.add_stack(frames)});
  }
  agent.send_started();
  until_told(agent);
  agent.send_stopped(wire::StopReason::kAsked);
}

void strange_names(Agent& agent, Random& random) {
  agent.send_started();
  for (std::uint32_t i = 0; i < 32; ++i) {
    agent.region().set_thread(i, i + 1, one_of(kTexts, random), strange_number(random));
  }
  while (!agent.stop_seen() && !agent.hung_up()) {
    some_samples(agent, random, 20);
    agent.region().flip();
    agent.hear(20ms);
  }
  agent.send_stopped(wire::StopReason::kAsked);
}

void strange_messages(Agent& agent, Random& random) {
  some_samples(agent, random, 3);
  if (random() % 2 == 0) {
    agent.send_started();
  }
  for (int i = 0; i < 10; ++i) {
    std::array<std::uint32_t, 128> message{};
    for (std::uint32_t& word : message) {
      word = static_cast<std::uint32_t>(strange_number(random));
    }
    message[0] = static_cast<std::uint32_t>(random() % 9);
    message[1] = random() % 2 == 0 ? sizeof(message) : message[1];
    agent.send_raw(message.data(), random() % (sizeof(message) + 1));
  }
  if (random() % 2 == 0) {
    until_told(agent);
  }
}

void flood(Agent& agent, Random& random) {
  some_samples(agent, random, 3);
  agent.send_started();
  while (!agent.hung_up()) {
    agent.send_started();
    agent.hear(0ms);
  }
}

void refuse(Agent& agent, Random& random) {
  agent.send_failed(static_cast<wire::AgentStatus>(random() % 20), one_of(kTexts, random).c_str());
}

void vanish(Agent& agent, Random& random) {
  if (random() % 2 == 0) {
    some_samples(agent, random, 10);
    agent.send_started();
    agent.hear(std::chrono::milliseconds(random() % 50));
  }
}

// Goes on when it was asked to end.
void deaf(Agent& agent, Random& random) {
  agent.send_started();
  while (!agent.peer_is_gone()) {
    some_samples(agent, random, 5);
    agent.region().flip();
    std::this_thread::sleep_for(5ms);
    if (agent.stop_seen() && random() % 100 == 0) {
      return;
    }
    agent.hear(5ms);
  }
}

constexpr std::uint32_t kOverlaps = 8192;

// Stacks as deep as the arena allows, or as deep as was asked, all of the same bytes: each word of
// the arena is at once the head of a record and a frame of many others. A few hundred KiB stand for
// gigabytes of stacks, no two of them equal, as often as the sidecar reads.
void overlap(Agent& agent, Random& random) {
  RegionBuilder& region = agent.region();
  const std::array<wire::Frame, 1> any{};
  const std::uint32_t first = region.add_stack(any); // where the arena of this generation begins
  const wire::RegionHeader& header = region.header();
  const auto stacks = std::find_if(
      std::begin(header.sections), std::end(header.sections), [](const wire::Section& section) {
        return section.kind == static_cast<std::uint32_t>(wire::SectionKind::kStacks0);
      });
  const std::uint64_t words = stacks->bytes / sizeof(std::uint64_t);
  // The last of them ends within the arena, too: one that does not is refused unread.
  const std::uint64_t deepest = std::min<std::uint64_t>(words - kOverlaps - 2, 0xffff);
  for (std::uint64_t word = first; word < words; ++word) {
    const std::uint64_t kind = 1 + random() % 4; // interpreted, C1, C2, inlined
    const std::uint64_t depth = random() % 2 == 0 ? deepest : 2000;
    const std::uint64_t value = kind << 60U | depth << 32U | std::uint64_t{1};
    std::memcpy(region.bytes().data() + stacks->offset + word * 8, &value, sizeof(value));
  }
  region.add_name("a/B", "c");
  agent.send_started();
  std::uint32_t next = first;
  while (!agent.hung_up()) {
    while (region.add_sample({.stack = next})) {
      next = next < kOverlaps ? next + 1 : first;
    }
    agent.hear(1000ms);
  }
}

using Attack = void (*)(Agent&, Random&);
struct NamedAttack {
  const char* name;
  Attack attack;
};
constexpr std::array<NamedAttack, 12> kAttacks = {{{"random_bytes", random_bytes},
                                                   {"insane_header", insane_header},
                                                   {"strange_samples", strange_samples},
                                                   {"ever_new", ever_new},
                                                   {"strange_modules", strange_modules},
                                                   {"strange_names", strange_names},
                                                   {"strange_messages", strange_messages},
                                                   {"flood", flood},
                                                   {"refuse", refuse},
                                                   {"vanish", vanish},
                                                   {"overlap", overlap},
                                                   {"deaf", deaf}}};
Attack always = nullptr; // set before the first session

Attack choose(Random& random) {
  if (always != nullptr) {
    return always;
  }
  // The last one takes 10 seconds.
  return random() % 100 == 0 ? kAttacks.back().attack
                             : kAttacks[random() % (kAttacks.size() - 1)].attack;
}

std::string option(const std::string& options, const std::string& key) {
  const std::size_t begin = options.find(key + "=");
  return begin == std::string::npos
             ? ""
             : options.substr(begin + key.size() + 1,
                              options.find(',', begin) - begin - key.size() - 1);
}

void say_hello(int socket, const std::string& nonce, Random& random) {
  wire::HelloMessage hello{};
  hello.header = {static_cast<std::uint32_t>(wire::ControlType::kHello), sizeof(hello)};
  hello.version = random() % 50 == 0 ? static_cast<std::uint32_t>(random()) : wire::kControlVersion;
  hello.min_version = wire::kMinControlVersion;
  hello.pid = static_cast<std::uint32_t>(random());
  hello.resident = static_cast<std::uint32_t>(random() % 2);
  for (std::size_t i = 0; i < sizeof(hello.nonce) && 2 * i + 1 < nonce.size(); ++i) {
    hello.nonce[i] = static_cast<std::uint8_t>(std::stoul(nonce.substr(2 * i, 2), nullptr, 16));
  }
  const std::string& text = one_of(kTexts, random);
  std::memcpy(hello.agent_version, text.data(), std::min(text.size(), sizeof(hello.agent_version)));
  std::memset(hello.java_version, static_cast<int>(random() % 256), sizeof(hello.java_version));
  [[maybe_unused]] const ssize_t sent = ::send(socket, &hello, sizeof(hello), MSG_NOSIGNAL);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

// One session of the "agent" that was loaded with these options.
void play(const std::string& options, std::uint64_t seed) {
  Random random(seed);
  const sockaddr_un address = address_of(option(options, wire::kOptionSocket));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return;
  }
  say_hello(socket.get(), option(options, wire::kOptionNonce), random);
  const Attack attack = choose(random);
  RegionShape shape;
  shape.stack_bytes = shape.name_bytes = 256U << 10U;
  if (attack == overlap) {
    shape.stack_bytes = 1U << 20U;
    shape.name_bytes = 64U << 10U;
    shape.ring_slots = 8192;
  }
  ScriptedAgent::play(
      socket.get(), [&](Agent& agent) { attack(agent, random); }, shape);
}

std::string read_words(int socket) {
  std::string out;
  std::array<char, 4096> buffer;
  pollfd wait{socket, POLLIN, 0};
  // Five words, each ended by NUL: version, command, three arguments.
  while (std::count(out.begin(), out.end(), '\0') < 5 && ::poll(&wait, 1, 5000) > 0) {
    const ssize_t got = ::read(socket, buffer.data(), buffer.size());
    if (got <= 0) {
      break;
    }
    out.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return out;
}

void answer(UniqueFd connection, std::uint64_t seed) {
  const std::string words = read_words(connection.get());
  const std::size_t options = words.find(std::string(wire::kOptionVersion) + "=1,");
  const bool load = options != std::string::npos;
  const std::string reply = load ? "0\nreturn code: 0\n" : "101\nno\n";
  [[maybe_unused]] const ssize_t sent =
      ::send(connection.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  connection.reset();
  if (load) {
    play(words.substr(options, words.find('\0', options) - options), seed);
  }
}

void plant_files() {
  ::mkfifo(planted("pipe").c_str(), 0600);
  [[maybe_unused]] int ignored = ::symlink(planted("loop").c_str(), planted("loop").c_str());
  const UniqueFd huge(::open(planted("huge").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0700));
  ignored = ::ftruncate(huge.get(), off_t{1} << 40U);
  std::array<char, 8192> noise{};
  Random random(1);
  for (char& byte : noise) {
    byte = static_cast<char>(random());
  }
  std::memcpy(noise.data(), "\177ELF\2\1\1", 8);
  const UniqueFd file(::open(planted("noise").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0700));
  [[maybe_unused]] const ssize_t written = ::write(file.get(), noise.data(), noise.size());
}

int fail(const char* what) {
  std::perror(what);
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: hostile_jvm LIBJVM [SEED [ATTACK]]\n", stderr);
    return 2;
  }
  ::signal(SIGQUIT, [](int) {});
  ::signal(SIGTERM, [](int) { ::_exit(143); }); // the first process of a container has no default
  ::umask(0077);
  const UniqueFd library(::open(argv[1], O_RDONLY | O_CLOEXEC));
  if (!library ||
      ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, library.get(), 0) == MAP_FAILED) {
    return fail(argv[1]);
  }
  if (argc > 3) {
    const auto* const found =
        std::find_if(kAttacks.begin(), kAttacks.end(),
                     [&](const NamedAttack& one) { return std::string(argv[3]) == one.name; });
    if (found == kAttacks.end()) {
      return fail(argv[3]);
    }
    always = found->attack;
  }
  plant_files();
  const std::string path = "/tmp/.java_pid" + std::to_string(::getpid());
  ::unlink(path.c_str());
  const sockaddr_un address = address_of(path);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener.get(), 5) != 0) {
    return fail(path.c_str());
  }
  std::puts("ready");
  std::fflush(stdout);
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) * 1'000'000 : 0;
  for (;;) {
    UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection) {
      std::thread(answer, std::move(connection), ++seed).detach();
    }
  }
}
