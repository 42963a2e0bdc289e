//! Processor time of a thread, of this process and of the machine.

use netburn_units::Duration;
use std::io;

/// Kernel thread id of a thread of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(u32);

impl ThreadId {
    /// Returns the calling thread.
    #[must_use]
    pub fn current() -> Self {
        Self(imp::current())
    }

    /// Returns the processor time that this thread has used.
    ///
    /// # Errors
    /// An I/O error when the thread has ended; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux
    /// and Windows.
    pub fn time(self) -> io::Result<Duration> {
        imp::thread_time(self.0)
    }
}

/// Returns the threads of this process.
///
/// # Errors
/// An I/O error when /proc cannot be read; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and
/// Windows.
pub fn threads() -> io::Result<Vec<ThreadId>> {
    imp::threads()
}

/// Returns the processor time that all threads of this process have used.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and Windows.
pub fn process_time() -> io::Result<Duration> {
    imp::process_time()
}

/// Processor times of the machine in ticks, summed over all processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineTimes {
    /// Busy time.
    pub busy: u64,
    /// Idle time, including waiting for I/O.
    pub idle: u64,
    /// Time in which the hypervisor ran other guests (steal). Windows does not report it: always 0 there.
    pub steal: u64,
}

impl MachineTimes {
    /// Returns the time since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &MachineTimes) -> MachineTimes {
        MachineTimes {
            busy: self.busy.saturating_sub(earlier.busy),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// Returns the share of time that was not idle, 0 to 1. Steal counts as busy, because it was not available.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        share(self.busy + self.steal, self.busy + self.idle + self.steal)
    }

    /// Returns the share of steal, 0 to 1.
    #[must_use]
    pub fn steal_share(&self) -> f64 {
        share(self.steal, self.busy + self.idle + self.steal)
    }
}

/// Reads the machine's processor times from /proc/stat (GetSystemTimes on Windows).
///
/// # Errors
/// An I/O error when /proc cannot be read; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux and
/// Windows.
pub fn machine() -> io::Result<MachineTimes> {
    imp::machine()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Parses the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
/// (proc_stat(5)). The time of guests is included in user.
#[cfg_attr(
    not(any(test, target_os = "linux")),
    expect(dead_code, reason = "only Linux has /proc/stat")
)]
fn parse_machine(text: &str) -> Option<MachineTimes> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut ticks = [0u64; 8];
    let mut fields = line.split_ascii_whitespace();
    for tick in &mut ticks[..4] {
        *tick = fields.next()?.parse().ok()?;
    }
    for (tick, field) in ticks[4..].iter_mut().zip(fields) {
        *tick = field.parse().ok()?;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    Some(MachineTimes {
        busy: [nice, system, irq, softirq]
            .iter()
            .fold(user, |sum, t| sum.saturating_add(*t)),
        idle: idle.saturating_add(iowait),
        steal,
    })
}

#[cfg_attr(target_os = "linux", path = "cpu/linux.rs")]
#[cfg_attr(windows, path = "cpu/windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "cpu/portable.rs")]
mod imp;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_line_is_parsed_by_columns() {
        let times = parse_machine("cpu  10 1 5 100 20 2 3 7 4 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(
            times,
            MachineTimes {
                busy: 21,
                idle: 120,
                steal: 7
            }
        );
        let later = parse_machine("cpu  20 1 5 110 20 2 3 17 4 0\n").unwrap();
        let spent = later.since(&times);
        assert!((spent.busy_share() - 20.0 / 30.0).abs() < 1e-12);
        assert!((spent.steal_share() - 10.0 / 30.0).abs() < 1e-12);
    }

    #[test]
    fn other_lines_are_rejected() {
        for text in ["", "intr 5", "cpu  1 2", "cpu  a b c d", "cpu  1 2 3 4 x"] {
            assert_eq!(parse_machine(text), None, "{text}");
        }
        assert_eq!(MachineTimes::default().busy_share(), 0.0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_counts_for_the_thread_that_used_it() {
        let idle = std::thread::spawn(|| {
            let id = ThreadId::current();
            std::thread::park_timeout(std::time::Duration::ZERO);
            (id, id.time().unwrap())
        });
        let me = ThreadId::current();
        assert!(threads().unwrap().contains(&me));
        // In this order, the process's interval contains the thread's.
        let (process_before, before) = (process_time().unwrap(), me.time().unwrap());
        let mut value = 1u64;
        while me.time().unwrap() < before + Duration::from_millis(5) {
            value = std::hint::black_box(value.wrapping_mul(3));
        }
        assert!(process_time().unwrap() >= process_before + Duration::from_millis(5));
        let (other, _) = idle.join().unwrap();
        assert_ne!(other, me);
        assert!(machine().unwrap().busy > 0);
    }
}
