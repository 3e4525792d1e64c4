// SPDX-License-Identifier: Apache-2.0
// The filter is made with libseccomp and allows every call except those listed here.
#include "sandbox/seccomp.hpp"

#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/seccomp.h>
#include <cerrno>
#include <memory>

#include "base/error.hpp"

namespace mase::sandbox {
namespace {

/// System calls that no command of this program needs once it runs a model.
constexpr int never[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsmount),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(quotactl),
    SCMP_SYS(acct),
    SCMP_SYS(open_by_handle_at),
};

/// Calls that change owners, modes or times of files: compilers need them, Landlock ignores them.
constexpr int without_programs[] = {
    SCMP_SYS(execve),      SCMP_SYS(execveat),     SCMP_SYS(chmod),        SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),    SCMP_SYS(chown),        SCMP_SYS(fchown),       SCMP_SYS(lchown),
    SCMP_SYS(fchownat),    SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),
    SCMP_SYS(utime),       SCMP_SYS(utimes),       SCMP_SYS(futimesat),    SCMP_SYS(utimensat),
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
};

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
    if (!context_) file_error("the sandbox cannot be entered: libseccomp has no filter");
  }

  template <class... Conditions>
  void refuse(int call, Conditions... conditions) {
    // A call that the architecture does not have need not be refused.
    seccomp_rule_add(context_.get(), SCMP_ACT_ERRNO(EPERM), call, sizeof...(conditions),
                     conditions...);
  }

  void load() {
    seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);  // for all threads
    if (const int code = seccomp_load(context_.get()); code != 0)
      file_error("the sandbox cannot be entered: seccomp refuses the filter (" +
                 std::to_string(-code) + "); --sandbox off runs without one");
  }

 private:
  struct Release {
    void operator()(void* context) const { seccomp_release(context); }
  };
  std::unique_ptr<void, Release> context_;
};

}  // namespace

bool has_seccomp() {
  const unsigned action = SECCOMP_RET_ERRNO;
  return ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action) == 0;
}

void restrict_calls(const Rights& rights) {
  if (!has_seccomp()) return;
  Filter filter;
  for (const int call : never) filter.refuse(call);
  // Input put into a terminal with TIOCSTI would be run by the shell that the user returns to.
  filter.refuse(SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCSTI));
  filter.refuse(SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffU, TIOCLINUX));
  if (rights.execute.empty())
    for (const int call : without_programs) filter.refuse(call);
  if (!rights.network) {
    // socketpair stays allowed: it makes pipes between processes and reaches nobody else.
    filter.refuse(SCMP_SYS(socket));
    filter.refuse(SCMP_SYS(connect));
  }
  filter.load();
}

}  // namespace mase::sandbox
