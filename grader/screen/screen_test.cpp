// SPDX-License-Identifier: MIT
// Objections to made-up objects. Real ones are screened in grader/testing/submission_suite.cpp: all mutants
// must pass, and hostile submissions must be refused.
#include "screen/screen.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "build_config.hpp"
#include "cudart/testing/container.hpp"
#include "screen/rules.hpp"
#include "testing/files.hpp"

namespace course::grader::screen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

// An object like those that nvcc makes from an ordinary solution.
ObjectFile honest() {
  ObjectFile object;
  for (const char* name : {"__cudaLaunchKernel", "__cudaRegisterFatBinary", "atexit", "memcpy", "_Znwm",
                           "_ZSt20__throw_length_errorPKc", "printf", "__cxa_guard_acquire",
                           "_ZTVN10__cxxabiv117__class_type_infoE"})
    object.symbols.push_back({name, Binding::global, false, false});
  object.symbols.push_back({"_ZN6course4scan3runERKNS_3lab7RequestE", Binding::global, true, false});
  object.symbols.push_back({"_ZNSt6vectorIiSaIiEE9push_backERKi", Binding::weak, true, false});
  object.symbols.push_back({"_Z9my_helperIiET_S0_", Binding::weak, true, false});
  object.symbols.push_back({"_ZL24__sti____cudaRegisterAllv", Binding::local, true, false});
  for (const char* name : {".text", ".text._ZN6course4scan3runEv", ".rela.text", ".nv_fatbin", ".init_array",
                           ".rela.init_array", ".debug_info", ".note.GNU-stack"})
    object.sections.push_back({name, 8});
  object.constructors = {"_ZL24__sti____cudaRegisterAllv"};
  object.ptx = {
      ".version 9.0\n.target sm_90\n.address_size 64\n\t.file\t1 \"/home/me/scan.cu\"\n\t.file\t2 "
      "\"/usr/local/cuda/include/cooperative_groups.h\"\n"};
  return object;
}

std::string says(const ObjectFile& object) {
  return message_of(objections(object, "scan"));
}
ObjectFile importing(const char* name) {
  ObjectFile object = honest();
  object.symbols.push_back({name, Binding::global, false, false});
  return object;
}
ObjectFile defining(const char* name, Binding binding = Binding::global) {
  ObjectFile object = honest();
  object.symbols.push_back({name, binding, true, false});
  return object;
}

TEST(Screen, AcceptsAnOrdinarySolution) {
  EXPECT_EQ(says(honest()), "");
}

TEST(Screen, AcceptsLibraryFunctionsOnOwnDataAndArithmeticThatCompilersCall) {
  for (const char* name :
       {// memory, text and sorting
        "malloc", "calloc", "free", "qsort", "memchr", "strchr", "toupper", "__ctype_b_loc", "atoi", "sscanf",
        "__isoc23_sscanf", "__isoc23_strtol", "strtod", "wmemcpy", "rand", "srand", "strdup", "strcasecmp",
        "__strcpy_chk", "vfprintf", "ispunct", "pthread_mutex_lock", "pthread_once",
        // mathematics
        "lldiv", "llabs", "sqrt", "sqrtf", "logl", "sincosf", "fesetround", "remquo", "remquof", "scalbln",
        "nexttowardl", "nan", "csinh", "cprojf",
        // of the compiler
        "__udivti3", "__umodti3", "__divti3", "__modti3", "__udivmodti4", "__multi3", "__mulvti3",
        "__floattidf", "__floatuntidf", "__floatuntisf", "__floattihf", "__fixsfti", "__fixunsdfti",
        "__extendhfsf2", "__truncdfhf2", "__truncsfhf2", "__truncsfbf2", "__multf3", "__unordtf2",
        "__powidf2", "__popcountdi2", "__parityti2", "__muldc3", "__divxc3", "__dynamic_cast",
        "__cxa_bad_cast", "__aarch64_ldadd4_acq_rel", "__aarch64_swp8_relax", "__aarch64_cas1_acq"})
    EXPECT_EQ(says(importing(name)), "") << name;
  for (const char* name : {"__", "__ti3", "__div", "__divti9", "__forkti3", "__divzi3", "__addressof",
                           "udivti3", "__isoc23_", "l", "f", "__aarch64_sync_cache_range"})
    EXPECT_THAT(says(importing(name)), HasSubstr("not among what")) << name;
  for (const char* name : {"__isoc23_system", "systemf", "popenl"})
    EXPECT_NE(reason_against_import(name), nullptr) << name;
}

TEST(Screen, ReportsRefusedImportsAndReasons) {
  const struct {
    const char* name;
    const char* why;
  } refused[] = {{"cudaMemcpy", "copies between host and device"},
                 {"cudaMemcpyAsync_ptsz", "copies between host and device"},
                 {"cudaMalloc", "the workspace is handed in"},
                 {"cudaEventRecord", "streams, events or graphs"},
                 {"cudaCtxResetPersistingL2Cache", "settings"},
                 {"simReport", "simulator's controls"},
                 {"dlsym", "loads code at run time"},
                 {"dl_iterate_phdr", "loads code at run time"},
                 {"fork", "processes"},
                 {"execve", "processes"},
                 {"ptrace", "processes"},
                 {"syscall", "processes"},
                 {"pthread_create", "processes or threads"},
                 {"pthread_mutexattr_setpshared", "processes or threads"},
                 {"kill", "processes"},
                 {"setrlimit", "processes"},
                 {"open64", "files"},
                 {"_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKc", "files"},
                 {"socket", "connection"},
                 {"mmap64", "what memory means"},
                 {"clock_gettime", "clock"},
                 {"_ZNSt6chrono3_V212steady_clock3nowEv", "clock"},
                 {"getenv", "environment"},
                 {"longjmp", "how errors end"},
                 {"_exit", "how errors end"},
                 {"cublasSgemm_v2", "finished algorithm"},
                 {"some_function_of_a_library", "not among what"}};
  for (const auto& [name, why] : refused) {
    EXPECT_THAT(says(importing(name)), HasSubstr(why)) << name;
  }
}

TEST(Screen, ReportsDefinitionsThatReplaceOthers) {
  for (const char* name :
       {"memcmp", "malloc", "clock_gettime", "cudaEventRecord", "cudaMemcpy", "main", "simReport", "_Znwm",
        "_ZdlPv", "_ZN6course3lab8protocol12send_messageEiRKNS1_7MessageEi",
        "_ZNSt6thread15_M_start_threadEv", "_ZN6course9reduction3runERKNS_3lab7RequestE"}) {
    EXPECT_THAT(says(defining(name)), HasSubstr("would take the place")) << name;
  }
  EXPECT_THAT(says(defining("memcmp", Binding::weak)), HasSubstr("memcmp"));
  EXPECT_EQ(says(defining("memcmp", Binding::local)), "") << "nobody else sees it";
  EXPECT_THAT(says(defining("_ZN6course3lab13GuardedBuffer4dataEv", Binding::weak)),
              HasSubstr("GuardedBuffer"));
}

// The linker keeps the first of several weak definitions, and prefers a strong one to all weak ones.
TEST(Screen, AllowsOnlyTheCoursesInlineDefinitions) {
  for (const char* given :
       {"_ZN6course3lab8bytes_ofENS0_5DTypeE", "_ZNK6course3lab3SumIiE8identityEv",
        "_ZNK6course3lab3MaxIfEclEff", "_ZN6course3lab12wrapping_addIiEET_S2_S2_",
        "_ZN6course3labeqERKNS0_9AffineMapIjEES4_", "_ZN6course3lab3MinIfE9kIdentityE",
        "_ZNK6course3lab5SliceIKNS0_12DeviceBufferEEixEm", "_ZN6course3lab9WorkspaceC2Ev",
        "_ZN6course3lab15not_implementedINS_4scan3JobIiEEEENS0_6StatusERKT_",
        "_ZN6course3lab5OfferILNS_4scan4OpIdE0ENS0_3SumEdE2isIS3_EEbT_NS0_5DTypeE",
        "_ZN6course3lab6OffersINS0_5OfferILNS_4scan4OpIdE0ENS0_3SumEiEEJEE3hasIS4_EEbT_NS0_5DTypeE"}) {
    EXPECT_EQ(says(defining(given, Binding::weak)), "") << given;
    EXPECT_THAT(says(defining(given)), HasSubstr("would take the place")) << given;
  }
  for (const char* of_the_runner :
       {"_ZN6course3lab11serve_casesERKNS0_6DeviceERNS0_10SubmissionE",
        "_ZN6course3lab11send_packetEiNS0_10PacketKindESt4spanIKSt4byteLm18446744073709551615EE",
        "_ZN6course3lab6DeviceC1ESt8optionalIiEPKNS0_9GoKernelsE", "_ZTVN6course3lab6DeviceE",
        "_ZN6course3lab3SumE", "_ZN6course4base3anyEv", "_ZN6course9reduction3runERKNS_3lab7RequestE"}) {
    for (const Binding binding : {Binding::weak, Binding::global})
      EXPECT_THAT(says(defining(of_the_runner, binding)), HasSubstr("would take the place")) << of_the_runner;
  }
}

TEST(Screen, ReportsCodeThatRunsOutsideMain) {
  ObjectFile object = honest();
  object.constructors.emplace_back("_GLOBAL__sub_I_scan.cu");
  EXPECT_THAT(says(object), HasSubstr("runs before main"));
  object = honest();
  object.constructors.emplace_back();
  EXPECT_THAT(says(object), HasSubstr("a function without a name"));
  object = honest();
  object.sections.push_back({".init_array", 16});  // more entries than there are relocations
  EXPECT_THAT(says(object), HasSubstr(".init_array"));
  object = honest();
  object.symbols.push_back({"fast_copy", Binding::local, true, true});
  EXPECT_THAT(says(object), HasSubstr("the resolver of fast_copy"));
  std::istringstream made(
      ".preinit_array .init .ctors .rela.ctors .fini_array my_section .init_array.00001 .gnu.lto_.opts "
      ".gnu.lto_main.1 .gnu.warning.memcpy .gnu.linkonce.t.f .deplibs .interp .dynamic .note.x "
      ".gnu_debuglink .debug_gdb_scripts .rela.gnu.lto_.opts .stab .drectve");
  for (std::string name; made >> name;) {
    object = honest();
    object.sections.push_back({name, 8});
    EXPECT_THAT(says(object), HasSubstr("a section that the compiler does not make")) << name;
  }
}

TEST(Screen, RefusesVersionedSymbols) {
  for (const char* name : {"memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14", "run@@X"}) {
    EXPECT_THAT(says(importing(name)), HasSubstr("a version of")) << name;
    EXPECT_THAT(says(defining(name, Binding::weak)), HasSubstr("a version of")) << name;
  }
}

TEST(Screen, FindsLibraryAlgorithmsOnHostAndDevice) {
  EXPECT_THAT(says(defining("_ZN3cub17CUB_300001_SM_90012DeviceReduce3SumE", Binding::weak)),
              HasSubstr("CUB or Thrust"));
  EXPECT_THAT(says(defining("_ZN6thrust12placeholdersL2_1E", Binding::local)), HasSubstr("CUB or Thrust"));
  ObjectFile object = honest();
  object.ptx.emplace_back("\t.file\t3 \"/usr/local/cuda/include/cccl/cub/block/block_reduce.cuh\"\n");
  EXPECT_THAT(says(object), HasSubstr("CUB or Thrust: is a finished algorithm"));
}

TEST(Screen, ShortensTheMessageForManyObjections) {
  ObjectFile object = honest();
  for (const char* name : {"fork", "open", "mmap", "dlsym", "socket", "kill", "time", "cudaMalloc", "fork"})
    object.symbols.push_back({name, Binding::global, false, false});
  EXPECT_EQ(objections(object, "scan").size(), 8u);
  EXPECT_THAT(says(object), HasSubstr("and 2 more"));
}

// f(A<int, int>, A<A<int, int>, A<int, int>>, …): each parameter is twice as long as the one before, so the
// demangled name would have terabytes.
TEST(Screen, DoesNotDemangleExponentiallyLongNames) {
  std::string name = "_Z1f1AIiiES_IS0_S0_E";
  for (const char digit : std::string("123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    name += std::string("S_IS") + digit + "_S" + digit + "_E";
  EXPECT_LT(says(importing(name.c_str())).size(), 1000U);
}

TEST(Screen, EscapesControlCharactersInNames) {
  EXPECT_THAT(says(importing("evil\x1b[2J")), Not(HasSubstr("\x1b")));
}

TEST(Screen, EveryReasonHasASectionInTheHandout) {
  const std::string text = grader::testing::contents(std::string(kSourceRoot) + "/handouts/rules.md");
  for (const char* name :
       {"cudaMemcpy", "cudaMalloc", "cudaStreamCreate", "cudaSetDevice", "simReport", "dlsym", "fork", "open",
        "mmap", "socket", "time", "getenv", "longjmp", "cublas", "whatever"}) {
    const Reason* reason = reason_against_import(name);
    ASSERT_NE(reason, nullptr) << name;
    EXPECT_THAT(text, HasSubstr("<a id=\"" + std::string(reason->anchor) + "\">")) << name;
  }
  EXPECT_THAT(text, HasSubstr("<a id=\"" + std::string(kBeforeMain.anchor) + "\">"));
}

TEST(ReadObject, RefusesFilesThatAreNoObjects) {
  EXPECT_FALSE(read_object("/no/such/file"));
  EXPECT_FALSE(read_object("/usr/bin/env")) << "a program is no object";
  EXPECT_FALSE(read_object("/etc/passwd"));
}

// An object with these bytes as its device code, as inline assembler can produce it, and with further
// assembler text.
Result<ObjectFile> assembled(const std::string& fatbin, const std::string& besides = "") {
  const grader::testing::Folder own;
  const std::string& folder = own.path;
  std::ofstream(folder + "/fatbin", std::ios::binary) << fatbin;
  std::ofstream(folder + "/x.s") << ".section .nv_fatbin,\"a\"\n.incbin \"" + folder + "/fatbin\"\n" +
                                        besides;
  const std::string command = "as -o " + folder + "/x.o " + folder + "/x.s";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): no words of others
  return read_object(folder + "/x.o");
}
// A container with the same compressed PTX n times.
std::string container(const std::string& ptx, int n) {
  std::string packed(ZSTD_compressBound(ptx.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), ptx.data(), ptx.size(), 1));
  cudart::ContainerWriter writer;
  for (int i = 0; i < n; ++i) writer.add(cudart::FatbinKind::ptx, 90, packed, ptx.size(), 0x8000);
  return writer.bytes();
}

// rules.md allows the parts of the standard library that work on the program's own data. Compiled without
// optimisation, so that inline functions keep all their names.
constexpr const char* kUsesTheLibrary = R"(#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <variant>
namespace course::scan {
struct Shape { virtual ~Shape() = default; virtual int area() const { return 3; } };
struct Square : Shape { int area() const override { return 4; } };
int plan(int n) {
  std::vector<int> v(3); std::iota(v.begin(), v.end(), 0); v.insert(v.begin(), {1, 2});
  std::vector<bool> flags(3); flags.push_back(true);
  std::string s = std::to_string(n) + std::to_string(2.5f) + std::to_string(5ull);
  std::function<int(int)> f = [&](int x) { return x + n; };
  std::map<std::string, int> m; m["a"] = f(2);
  std::set<int> set(v.begin(), v.end()); std::unordered_map<int, std::string> u; u[3] = s;
  auto p = std::make_unique<Square>(); std::shared_ptr<Shape> q = std::make_shared<Square>();
  std::optional<std::string> o = s; std::variant<int, std::string> either = s;
  std::sort(v.begin(), v.end(), std::greater<>()); std::stable_sort(v.begin(), v.end());
  std::deque<int> d(3); d.push_front(2); std::priority_queue<int> heap; heap.push(3);
  std::mt19937 bits(3); std::uniform_int_distribution<int> die(1, 6); std::normal_distribution<double> bell;
  std::complex<double> c(1, 2); c = std::sqrt(c) * c;
  std::ostringstream text; text << n << s << 2.5;
  char digits[20]; std::to_chars(digits, digits + 20, n);
  static const std::vector<int> table{1, 2, 3}; thread_local int calls = 0; ++calls;
  try {
    if (n == 77) throw std::out_of_range("x");
    n += std::stoi("12") + static_cast<int>(std::stod("2.5"));
  }
  catch (const std::exception& e) { std::printf("%s", e.what()); }
  return n + p->area() + q->area() +
         static_cast<int>(either.index() + o->size() + d.size() + u.size() + set.size() + m.size()) +
         heap.top() + die(bits) + static_cast<int>(bell(bits) + c.real()) +
         static_cast<int>(text.str().size()) + table[1] + calls;
}
}
)";

TEST(Screen, AllowsTheStandardLibrary) {
  const grader::testing::Folder own;
  const std::string& folder = own.path;
  std::ofstream(folder + "/x.cpp") << kUsesTheLibrary;
  const std::string command = fmt::format("{} -std=c++20 -O0 -c -o {}/x.o {}/x.cpp", kCxx, folder, folder);
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c): no words of others
  const auto object = read_object(folder + "/x.o");
  ASSERT_TRUE(object) << object.error().text;
  std::string found;
  for (const Objection& objection : objections(*object, "scan")) found += objection.what + "\n";
  EXPECT_EQ(found, "");
}

TEST(Screen, AllowsOperationsOfNcclInLabsForSeveralDevices) {
  for (const char* name :
       {"ncclAllReduce", "ncclGroupStart", "ncclSend", "cudaSetDevice", "cudaMemcpyAsync"}) {
    EXPECT_EQ(reason_against_import(name, true), nullptr) << name;
    EXPECT_NE(reason_against_import(name), nullptr) << name;
  }
  for (const char* name : {"ncclCommInitAll", "ncclCommDestroy", "ncclCommAbort", "ncclGetUniqueId",
                           "ncclMemAlloc", "ncclRedOpCreatePreMulSum", "pncclAllReduce", "simOperate",
                           "cudaDeviceReset", "cudaMemcpyPeer", "cudaDeviceEnablePeerAccess"})
    EXPECT_NE(reason_against_import(name, true), nullptr) << name;
}

TEST(Screen, RefusesReplacedAllocationOperators) {
  for (const char* name : {"_Znwm", "_ZnwmRKSt9nothrow_t", "_ZdlPvm", "_ZnamSt11align_val_t"})
    EXPECT_THAT(says(defining(name, Binding::weak)), HasSubstr("its own operator")) << name;
  EXPECT_THAT(says(defining("_ZnwmPv")), HasSubstr("its own operator")) << "one that is no inline function";
  EXPECT_EQ(says(defining("_ZnwmPv", Binding::weak)), "");
}

TEST(ReadObject, DecompressesDeviceCodeUpToALimit) {
  const auto few = assembled(container(kHead, 2));
  ASSERT_TRUE(few) << few.error().text;
  EXPECT_EQ(few->ptx, std::vector<std::string>(2, kHead));
  EXPECT_EQ(few->odd_device_code, "");
  // A few kilobytes that decompress to 40 MiB; a source file of a megabyte could hold many gigabytes.
  const auto bomb = assembled(container(std::string(std::size_t{4} << 20, ' '), 10));
  ASSERT_TRUE(bomb) << bomb.error().text;
  EXPECT_THAT(says(*bomb), HasSubstr("device code that no compiler made (more than 16 MiB of PTX)"));
  std::size_t n_bytes = 0;
  for (const std::string& ptx : bomb->ptx) n_bytes += ptx.size();
  EXPECT_LE(n_bytes, kMaxPtxBytes);
}

// Unreadable device code is a fault of the submission, not of the machine: an INFRA verdict would repeat the
// run and cost no points.
TEST(ReadObject, RefusesUnreadableDeviceCode) {
  std::string torn = container(kHead, 1);
  cudart::put(torn, 16 + 56, std::uint64_t{1} << 40);
  const auto object = assembled(torn);
  ASSERT_TRUE(object) << object.error().text;
  EXPECT_THAT(says(*object), HasSubstr("device code that no compiler made"));
}

// Each of these is a way to show code to the device, or to the driver, that screening does not read.
TEST(ReadObject, AccountsForEveryByteOfDeviceCode) {
  const std::string code = container(kHead, 1);
  std::string other_kind = code;
  cudart::put(other_kind, 16, std::uint16_t{16});
  for (const std::string& odd :
       {std::string(16, '\0') + code, code + code, code + std::string(8, '\0'), code + "more", other_kind}) {
    const auto object = assembled(odd);
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_THAT(says(*object), HasSubstr("device code that no compiler made")) << odd.size();
  }
  const std::string wrapper = ".section .nvFatBinSegment,\"aw\"\n.long 0x466243B1, 1\n.quad .nv_fatbin, 0\n";
  EXPECT_EQ(says(*assembled(code, wrapper)), "");
  for (const std::string& besides :
       {wrapper + ".quad 0\n", wrapper + wrapper,
        std::string(".section .nvFatBinSegment,\"aw\"\n.long 0x466243B1, 1\n.quad .nv_fatbin + 8, 0\n"),
        std::string(".section .nvFatBinSegment,\"aw\"\n.long 0x466243B1, 2\n.quad .nv_fatbin, 0\n"),
        std::string(".section .nvFatBinSegment,\"aw\"\n.long 0x466243B1, 1\n.quad .nv_fatbin, .text\n"),
        std::string(".section .nv_fatbin,\"aG\",@progbits,x,comdat\n.quad 0\n"),
        std::string(".section .nv_fatbin\n.reloc 16, R_X86_64_64, .text\n")}) {
    const auto object = assembled(code, besides);
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_THAT(says(*object), HasSubstr("device code that no compiler made")) << besides;
  }
  const auto twice = assembled(code, ".text\ncall __cudaRegisterFatBinary\ncall __cudaRegisterFatBinary\n");
  ASSERT_TRUE(twice) << twice.error().text;
  EXPECT_THAT(says(*twice), HasSubstr("a second registration of kernels"));
}

TEST(ReadObject, LimitsSymbolsAndTheirNames) {
  const auto many = assembled("",
                              ".altmacro\n.macro one n\n.globl s\\n\n.endm\n.set i, 0\n"
                              ".rept 110000\none %i\n.set i, i + 1\n.endr\n");
  ASSERT_TRUE(many) << many.error().text;
  EXPECT_LE(many->symbols.size(), kMaxSymbols);
  EXPECT_THAT(says(*many), HasSubstr("more than 100000 symbols"));
}

TEST(Screen, ReportsDeviceCodeThatNoCheckFollows) {
  ObjectFile object = honest();
  object.ptx = {kHead +
                ".file 1 \"scan.cu\"\n.visible .entry k()\n{\n.reg .b64 %rd<2>;\n.loc 1 7 0\n"
                "mov.u64 %rd1, %clock64;\nret;\n}\n.func f()\n{\n.loc 1 9 0\nwgmma.fence.sync.aligned;\n"
                "ret;\n}\n"};
  EXPECT_THAT(says(object), HasSubstr("clock64 at scan.cu:7: timing model: clocks count instructions"));
  EXPECT_THAT(says(object), HasSubstr("use a profiler"));
  EXPECT_THAT(says(object), HasSubstr("wgmma.fence.sync.aligned")) << "in a function that no kernel calls";
  EXPECT_THAT(says(object), HasSubstr("rules.md#kernels"));
  object.ptx = {"no PTX"};
  EXPECT_THAT(says(object), HasSubstr("device code that can't be read"));
}

TEST(Screen, DemanglesOnlyTheNamesThatItShows) {
  ObjectFile object = honest();
  for (int k = 0; k < 5000; ++k) object.symbols.push_back({fmt::format("_Z5call{}v", k), Binding::global});
  EXPECT_THAT(says(object), HasSubstr("call0"));
  EXPECT_LE(objections(object, "scan").size(), 1000U);
}

// The name does not matter, because a linker acts on the section's type.
TEST(ReadObject, RefusesSectionsOfUnusualTypes) {
  for (const char* odd : {"\"aw\",@0x6fff4c04", "\"aw\",@preinit_array", "\"aw\",@fini_array",
                          "\"e\",@progbits", "\"a\",@0x60000001"}) {
    const auto object = assembled("", std::string(".section .data.x,") + odd + "\n.quad 0\n.text\n");
    ASSERT_TRUE(object) << object.error().text;
    EXPECT_THAT(says(*object), HasSubstr(".data.x: is a section that the compiler does not make")) << odd;
  }
}

TEST(ReadObject, LimitsTheNumberOfConstructorsRead) {
  const auto object = assembled("",
                                ".text\n.type f, @function\nf: ret\n.section .init_array,\"aw\"\n"
                                ".rept 100000\n.quad f\n.endr\n");
  ASSERT_TRUE(object) << object.error().text;
  EXPECT_LT(object->constructors.size(), 100U);
  EXPECT_THAT(says(*object), HasSubstr("runs before main"));
}

TEST(Screen, ReadsLongLinesInLinearTime) {
  ObjectFile object = honest();
  object.ptx = {".version 9.0\n.target sm_90\n.address_size 64\n"};
  for (int i = 0; i < 2000000; ++i)
    object.ptx[0] += "\t.file";  // 11 MiB; the search used to be quadratic in the line length
  EXPECT_THAT(says(object), HasSubstr("device code that can't be read"));
}

}  // namespace
}  // namespace course::grader::screen
