// SPDX-License-Identifier: MIT
// Reading order: the reasons; names that may be imported; names that are refused for a particular reason;
// definitions; sections.
#include "screen/rules.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace course::grader::screen {
namespace {

constexpr Reason kCopies{
    "copies between host and device; the items are on the device, and kernels are to make the answer there",
    "copies"};
constexpr Reason kAllocation{"allocates; the workspace is handed in, and nothing else is needed", "memory"};
constexpr Reason kStreams{
    "makes streams, events or graphs of its own, or calls back into the host; launch into the stream that is "
    "handed in",
    "streams"};
constexpr Reason kDevice{"changes the device's settings, which belong to the harness", "streams"};
constexpr Reason kSimulator{"takes hold of the simulator's controls, which are the grader's", "grader"};
constexpr Reason kLibrary{"is a library that a lab has no use for", "libraries"};
constexpr Reason kCommunicators{
    "is not among what a lab may call of NCCL; the communicators are handed in, and the operations that a "
    "task needs are those of the handout",
    "streams"};
constexpr Reason kLoading{"looks up or loads code at run time", "system"};
constexpr Reason kProcesses{"starts or touches processes or threads", "system"};
constexpr Reason kFiles{"reads or writes files", "system"};
constexpr Reason kNetwork{"opens a connection", "system"};
constexpr Reason kMaps{"changes what memory means", "system"};
constexpr Reason kClocks{"reads a clock or waits; how fast it was is measured from outside", "clocks"};
constexpr Reason kEnvironment{"looks at the environment, or at how the program was started", "system"};
constexpr Reason kSignals{"changes how errors end the program", "system"};
constexpr Reason kInterposes{"would take the place of the grader's own or a library's", "definitions"};

// ---- What may be imported
constexpr const char* kAllowed[] = {
    // launching kernels, and the calls that nvcc generates for it
    "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary",
    "__cudaRegisterFunction", "__cudaRegisterVar", "__cudaInitModule", "__cudaPushCallConfiguration",
    "__cudaPopCallConfiguration", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "__cudaGetKernel",
    "cudaLaunchKernel", "cudaLaunchKernel_ptsz", "cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz",
    "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz",
    // attributes of kernels, queries about the device, waiting for it
    "cudaFuncSetAttribute", "cudaFuncGetAttributes", "cudaFuncSetCacheConfig",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaGetDevice", "cudaDeviceGetAttribute", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
    "cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorName", "cudaGetErrorString",
    "cudaDeviceSynchronize", "cudaStreamSynchronize",
    // filling memory, constants
    "cudaMemset", "cudaMemsetAsync", "cudaMemset2DAsync", "cudaMemcpyToSymbol", "cudaMemcpyToSymbolAsync",
    "cudaGetSymbolAddress", "cudaGetSymbolSize",
    // what compilers generate calls of
    "atexit", "__cxa_atexit", "__dso_handle", "_Unwind_Resume", "__gxx_personality_v0", "__stack_chk_fail",
    "memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "__memcpy_chk", "__memset_chk",
    "__memmove_chk", "_GLOBAL_OFFSET_TABLE_", "__tls_get_addr", "__dynamic_cast",
    // output for debugging, and ending the program
    "printf", "puts", "putchar", "fprintf", "fputs", "fputc", "fwrite", "fflush", "vprintf", "snprintf",
    "sprintf", "vfprintf", "vsprintf", "putc", "perror", "strerror", "__printf_chk", "__fprintf_chk",
    "__snprintf_chk", "__sprintf_chk", "__vprintf_chk", "__vfprintf_chk", "__vsprintf_chk", "stdout",
    "stderr", "abort", "exit", "_Exit", "__assert_fail",
    // what inline code of the C++ library calls: conversion of numbers from and to text, shared_ptr
    "vsnprintf", "__vsnprintf_chk", "strtol", "strtoll", "strtoul", "strtoull", "strtod", "strtof", "strtold",
    "__errno_location", "__libc_single_threaded",
    // memory, text and sorting of the program's own; the C++ library's inline code calls many of these
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "qsort", "bsearch", "memchr", "memrchr", "strchr",
    "strrchr", "strstr", "strncmp", "strcpy", "strncpy", "strcat", "strncat", "strtok", "strtok_r", "strnlen",
    "strdup", "strndup", "strcasecmp", "strncasecmp", "strspn", "strcspn", "strpbrk", "stpcpy", "stpncpy",
    "memccpy", "memmem", "mempcpy", "__strcpy_chk", "__strncpy_chk", "__strcat_chk", "__strncat_chk",
    "__stpcpy_chk", "__mempcpy_chk", "posix_memalign", "reallocarray", "qsort_r", "wmemchr", "wmemcmp",
    "wmemcpy", "wmemmove", "wmemset", "wcslen", "__ctype_b_loc", "__ctype_toupper_loc", "__ctype_tolower_loc",
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct",
    "isspace", "isupper", "isxdigit", "toupper", "tolower", "atoi", "atol", "atoll", "atof", "sscanf",
    "vsscanf", "__isoc99_sscanf", "__isoc99_vsscanf",
    // a mutex or a flag of std::call_once around the program's own data
    "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_once",
    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock",
    // random numbers that are the same in each run
    "rand", "srand", "rand_r", "random", "srandom", "drand48", "srand48", "lrand48", "mrand48",
    // arithmetic, besides kMath
    "abs", "labs", "llabs", "imaxabs", "div", "ldiv", "lldiv", "imaxdiv", "lgammaf_r", "lgammal_r",
    "fegetround", "fesetround", "feclearexcept", "fetestexcept"};
// In labs for several devices. The device's process limits what is copied to the host
// (remote/requests.hpp).
constexpr const char* kAllowedForSeveralDevices[] = {
    "cudaSetDevice", "ncclGroupStart",   "ncclGroupEnd",       "ncclAllReduce",  "ncclReduce",
    "ncclBroadcast", "ncclAllGather",    "ncclReduceScatter",  "ncclSend",       "ncclRecv",
    "ncclCommCount", "ncclCommUserRank", "ncclGetErrorString", "cudaMemcpyAsync"};
// Also with the suffix `f` or `l`, for float and long double. Which of them a program imports depends on the
// compiler and its library.
constexpr std::string_view kMath =
    "__finite __fpclassify __isinf __isnan __signbit acos acosh asin asinh atan atan2 atanh cabs cacos "
    "cacosh carg casin casinh catan catanh cbrt ccos ccosh ceil cexp cimag clog clog10 conj copysign cos "
    "cosh cpow cproj creal csin csinh csqrt ctan ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
    "finite floor fma fmax fmaximum fmaximum_num fmin fminimum fminimum_num fmod frexp hypot ilogb isinf "
    "isnan j0 j1 jn ldexp lgamma lgamma_r llogb llrint llround log log10 log1p log2 logb lrint lround "
    "modf nan nearbyint nextafter nextdown nexttoward nextup pow remainder remquo rint round roundeven "
    "scalb scalbln scalbn significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn";
// Guards and exceptions; new and delete; the standard library, except what kRefused lists; atomic operations
// of libgcc for arm64.
constexpr std::string_view kAllowedBeginnings =
    "__cxa_ _Znw _Zna _Zdl _Zda _ZSt _ZNSt _ZNKSt _ZNKRSt _ZNOSt _ZNSo _ZNSs _ZTI _ZTS _ZTV _ZTT _ZNSaI "
    "_ZNKSa __aarch64_cas __aarch64_swp __aarch64_ld";

// ---- Names that are refused for a particular reason. The first beginning that matches counts.
struct Refused {
  const Reason* reason;
  std::string_view beginnings;  // separated by spaces; "set": setrlimit, setsid, setuid, setjmp, setenv …
};
constexpr Refused kRefused[] = {
    {&kCopies, "cudaMemcpy cudaMemPrefetch cudaMemAdvise"},
    {&kAllocation, "cudaMalloc cudaFree cudaHost cudaMemPool cudaMemGetInfo cudaPointer"},
    {&kStreams, "cudaStream cudaEvent cudaGraph cudaLaunchHostFunc cudaThread"},
    {&kDevice, "cudaDeviceSet cudaDeviceReset cudaSetDevice cudaCtx cudaInit cudaDevice"},
    {&kSimulator, "sim"},
    {&kLoading,
     "cudaGetDriverEntryPoint cudaLibrary cudaKernel cudaGetKernel cudaGetFuncBySymbol "
     "cudaGetExportTable"},
    {&kUnknown, "cuda"},
    {&kAlgorithm, "cublas cusparse cudnn npp"},
    {&kLoading, "nvrtc"},
    {&kLibrary, "nvml curand nccl pnccl"},
    {&kAlgorithm, "cufft"},
    {&kProcesses, "omp_ GOMP"},
    {&kLoading, "dl _dl_ _r_debug _DYNAMIC __libc_ __ehdr_start gnu_get_libc"},
    {&kProcesses,
     "fork vfork exec fexec posix_spawn system popen clone wait kill tgkill pthread_ thrd_ ptrace "
     "process_vm_ prctl arch_prctl syscall daemon sched_ set prlimit unshare mount umount chroot "
     "_ZNSt6thread _ZNSt13__future _ZSt5async _ZNSt18condition_variable"},
    {&kFiles,
     "open creat fopen fdopen freopen read write pread pwrite fread fgets fscanf scanf stat fstat "
     "lstat close dup fcntl ioctl pipe unlink remove rename mk ftruncate truncate lseek tmpfile chdir "
     "chmod access symlink link poll select _ZNSt14basic_ifstream _ZNSt14basic_ofstream "
     "_ZNSt13basic_fstream _ZNSt13basic_filebuf _ZNSt12__basic_file _ZNSt10filesystem _ZNSi _ZSt3cin"},
    {&kNetwork, "socket connect bind listen accept send recv getaddrinfo gethost shutdown getsockopt"},
    {&kMaps, "mmap munmap mprotect mremap madvise shm memfd mlock brk sbrk pkey"},
    {&kClocks,
     "clock gettimeofday time nanosleep sleep usleep pause alarm _ZNSt6chrono _ZNSt13random_device "
     "getrandom getentropy"},
    {&kEnvironment,
     "getenv secure_getenv putenv environ __environ getpid getppid getrusage getauxval "
     "program_invocation"},
    {&kSignals,
     "signal sig _setjmp __sigsetjmp longjmp _longjmp __longjmp_chk raise _exit _ZSt13set_terminate "
     "on_exit __register_frame"}};

// `beginnings`: separated by spaces.
bool any_begins(std::string_view beginnings, std::string_view name) {
  return std::ranges::any_of(words(beginnings), [&](const auto& one) { return name.starts_with(one); });
}

// Routines of libgcc for what the processor has no instruction for: an operation, the kinds of its operands
// and their number, as in __udivti3 and __floattidf.
constexpr const char* kOperations[] = {
    "abs",      "absv", "add",    "addv", "and",    "ashl", "ashr", "bswap",   "clrsb", "clz",     "cmp",
    "ctz",      "div",  "divmod", "eq",   "extend", "ffs",  "fix",  "fixuns",  "float", "floatun", "ge",
    "gt",       "le",   "lshr",   "lt",   "mod",    "mul",  "mulv", "ne",      "neg",   "negv",    "parity",
    "popcount", "powi", "sub",    "subv", "trunc",  "ucmp", "udiv", "udivmod", "umod",  "unord"};
constexpr std::string_view kIntegers = "qhsdt", kFloats = "bhsdxt", kComplex = "hsdxt";

bool is_arithmetic_of_the_compiler(std::string_view name) {
  if (!name.starts_with("__")) return false;
  if (name.back() >= '2' && name.back() <= '4') name.remove_suffix(1);
  const auto is_operation = [&](std::size_t kinds) {
    if (name.size() < 2 + 2 * kinds) return false;
    const std::string_view operation = name.substr(2, name.size() - 2 - 2 * kinds);
    for (std::size_t k = name.size() - 2 * kinds; k < name.size(); k += 2) {
      const std::string_view sizes = name[k + 1] == 'i'   ? kIntegers
                                     : name[k + 1] == 'f' ? kFloats
                                     : name[k + 1] == 'c' ? kComplex
                                                          : "";
      if (sizes.find(name[k]) == std::string_view::npos) return false;
    }
    return std::ranges::find(kOperations, operation) != std::end(kOperations);
  };
  return is_operation(1) || is_operation(2);
}

bool is_allowed(std::string_view name) {
  const auto in = [](const auto& list, std::string_view what) {
    return std::ranges::find(list, what) != std::end(list);
  };
  if (constexpr std::string_view kC23 = "__isoc23_"; name.starts_with(kC23))
    name.remove_prefix(kC23.size());  // glibc 2.38
  static const std::vector<std::string> kMathNames = words(kMath);
  if (in(kAllowed, name) || in(kMathNames, name) || is_arithmetic_of_the_compiler(name)) return true;
  return (name.ends_with('f') || name.ends_with('l')) && in(kMathNames, name.substr(0, name.size() - 1));
}

// A mangled name starts with its kind (_ZTVN: virtual table of a nested name, …). Returns what follows,
// without const and volatile: the scope and the name; "" if the name is not mangled.
std::string_view scope_of(std::string_view name) {
  for (const std::string_view kind :
       {"_ZGVZN", "_ZGVN", "_ZZN", "_ZTIN", "_ZTSN", "_ZTVN", "_ZTTN", "_ZN", "_Z"}) {
    if (!name.starts_with(kind)) continue;
    name.remove_prefix(kind.size());
    while (name.starts_with('K') || name.starts_with('V')) name.remove_prefix(1);
    return name;
  }
  return "";
}

}  // namespace

const Reason* reason_against_import(std::string_view name, bool several_devices) {
  if (is_allowed(name)) return nullptr;
  if (several_devices) {
    const auto& calls = kAllowedForSeveralDevices;
    if (std::ranges::find(calls, name) != std::end(calls)) return nullptr;
    if (name.starts_with("nccl")) return &kCommunicators;
  }
  if (names_a_finished_algorithm(name)) return &kAlgorithm;
  for (const Refused& refused : kRefused)
    if (any_begins(refused.beginnings, name)) return refused.reason;
  return any_begins(kAllowedBeginnings, name) ? nullptr : &kUnknown;
}

const Reason* reason_against_definition(std::string_view name, bool weak, std::string_view lab) {
  if (!name.starts_with("_Z")) {
    // Functions that CUDA's headers define inline for the host. No library of the runner has these names.
    constexpr std::string_view kOfCuda[] = {
        "umin",     "umax",      "llmin",    "llmax",      "ullmin",     "ullmax",   "rsqrt",
        "rsqrtf",   "rcbrt",     "rcbrtf",   "sinpi",      "sinpif",     "cospi",    "cospif",
        "sincospi", "sincospif", "erfinv",   "erfinvf",    "erfcinv",    "erfcinvf", "erfcx",
        "erfcxf",   "normcdf",   "normcdff", "normcdfinv", "normcdfinvf"};
    const bool of_cuda = std::ranges::find(kOfCuda, name) != std::end(kOfCuda);
    return weak && (of_cuda || name.starts_with("DW.ref.")) ? nullptr : &kInterposes;
  }
  // Placement new and delete allocate nothing, and no program can replace them ([new.delete.placement]);
  // <new> defines them inline.
  constexpr std::string_view kPlacement[] = {"_ZnwmPv", "_ZnamPv", "_ZdlPvS_", "_ZdaPvS_"};
  for (const char* replaced : {"_Znw", "_Zna", "_Zdl", "_Zda"}) {
    if (!name.starts_with(replaced)) continue;
    const bool placement = std::ranges::find(kPlacement, name) != std::end(kPlacement);
    return weak && placement ? nullptr : &kInterposes;
  }
  const std::string_view scope = scope_of(name);
  const std::string own = "6course" + std::to_string(lab.size()) + std::string(lab);
  if (scope.starts_with(own)) return nullptr;
  // A file may define those of the course's names that the given headers define inline (request.hpp,
  // offers.hpp, operators.hpp, manifest.hpp, workspace.hpp).
  if (scope.starts_with("6course")) {
    constexpr std::string_view kLab = "6course3lab";
    constexpr std::string_view kGiven =
        "8bytes_ofENS 5SliceI 12wrapping_addI 17wrapping_multiplyI 3SumI 7ProductI 3MinI 3MaxI "
        "9AffineMapI 6AffineI eqERKNS0_9AffineM 9Workspace 5OfferI 6OffersI 15not_implementedI "
        "8at_leastENS 10max_pointsERKNS 8index_ofERKNS 9find_taskERKNS 7adds_upERKNS";
    return weak && scope.starts_with(kLab) && any_begins(kGiven, scope.substr(kLab.size())) ? nullptr
                                                                                            : &kInterposes;
  }
  if (any_begins("St Sa Ss So 9__gnu_cxx 10__cxxabiv1", scope)) return weak ? nullptr : &kInterposes;
  return nullptr;
}

bool names_a_finished_algorithm(std::string_view symbol) {
  return symbol.starts_with("_Z") && (symbol.find("N3cub") != std::string_view::npos ||
                                      symbol.find("N6thrust") != std::string_view::npos);
}

bool is_a_source_of_finished_algorithms(std::string_view path) {
  return path.find("/cub/") != std::string_view::npos || path.find("/thrust/") != std::string_view::npos;
}

bool is_usual_section(std::string_view name) {
  // The names of relocation sections end with the name of the section that they relocate.
  for (const std::string_view kind : {".rela.", ".rel.", ".rela__", ".rel__"}) {
    if (!name.starts_with(kind)) continue;
    name.remove_prefix(kind.size() - (kind.ends_with("__") ? 2 : 1));
    break;
  }
  static const std::vector<std::string> kExact = words(
      ".text .data .bss .rodata .comment .group .symtab .symtab_shndx .strtab .shstrtab .eh_frame "
      ".gcc_except_table .init_array .nv_fatbin .nvFatBinSegment .note.GNU-stack .note.gnu.property "
      ".debug_abbrev .debug_addr .debug_aranges .debug_frame .debug_info .debug_line .debug_line_str "
      ".debug_loc .debug_loclists .debug_macro .debug_ranges .debug_rnglists .debug_str "
      ".debug_str_offsets .debug_types __nv_module_id .nv_module_id .tbss .tdata");
  return name.empty() || std::ranges::find(kExact, name) != kExact.end() ||
         any_begins(".text. .data. .bss. .rodata. .tbss. .tdata. .gcc_except_table.", name);
}

bool is_registration(std::string_view constructor) {
  // C++ linkage in newer toolkits, C in older ones. The same file cannot contain another definition of it.
  return constructor == "_ZL24__sti____cudaRegisterAllv" || constructor == "__sti____cudaRegisterAll";
}

}  // namespace course::grader::screen
