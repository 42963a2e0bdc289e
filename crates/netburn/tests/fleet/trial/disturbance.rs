//! Disturbances of a run, and their implementation.

use super::control_group::ControlGroup;
use super::random::Random;
use crate::support::Bench;
use crate::support::clocks::Clocks;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Something that disturbs a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// SIGSTOP to one process, and SIGCONT later.
    Stop,
    /// Freezing all processes with a control group.
    Freeze,
    /// A processor quota by a control group.
    Quota,
    /// Other processes that compete for all cores.
    Load,
    /// The same with real-time priority.
    RealTimeLoad,
    /// A limit on memory just above the present use, by a control group.
    Memory,
    /// A frozen disk: the record is on a file system of the trial, which accepts no writes for a while.
    Disk,
    /// Setting the wall clock.
    WallClock,
    /// Suspending the machine or an agent's device: its processes and its monotonic clock stop.
    Suspend,
    /// Setting an interface in a network namespace of the run down and up again.
    LinkDown,
}

use Disturbance::*;

impl Disturbance {
    pub(super) const ALL: [Disturbance; 10] = [
        Stop,
        Freeze,
        Quota,
        Load,
        Memory,
        Disk,
        WallClock,
        Suspend,
        LinkDown,
        RealTimeLoad,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Stop => "SIGSTOP of a process",
            Freeze => "all processes frozen",
            Quota => "processor quota",
            Load => "load on all cores",
            RealTimeLoad => "real-time load on all cores",
            Memory => "memory limit",
            Disk => "disk stopped",
            WallClock => "wall clock set",
            Suspend => "device suspended",
            LinkDown => "network namespace cut off",
        }
    }

    /// True if this disturbance applies to the environment. A fleet measures the existing network: an interface that
    /// goes down there is part of the result.
    pub(super) fn applies(self, environment: &str) -> bool {
        self != LinkDown || environment != "fleet"
    }

    /// True if it disturbs other programs on this machine.
    pub(super) fn is_machine_wide(self) -> bool {
        matches!(self, Load | RealTimeLoad)
    }
}

/// Resources that a disturbance needs before the processes of a run start.
pub(super) struct Preparation {
    disturbance: Disturbance,
    group: Option<ControlGroup>,
    clocks: Option<Clocks>,
}

/// The folder on the disk that is frozen, below the bench's.
pub(super) const DISK: &str = "disk";

impl Preparation {
    /// # Panics
    /// If this machine doesn't permit it.
    pub(super) fn new(disturbance: Disturbance, bench: &Bench) -> Preparation {
        if disturbance == Disk {
            std::fs::create_dir(bench.path(DISK)).unwrap();
            let image = bench.path("disk.img");
            let file = std::fs::File::create(&image).unwrap();
            file.set_len(48 << 20).unwrap();
            run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        }
        Preparation {
            disturbance,
            group: matches!(disturbance, Freeze | Quota | Memory).then(ControlGroup::new),
            clocks: matches!(disturbance, WallClock | Suspend).then(|| Clocks::new(bench)),
        }
    }

    /// The command with its preparation.
    pub(super) fn wrap(&self, bench: &Bench, command: Command) -> Command {
        let (mut flags, mut script) = (None, String::new());
        match self.disturbance {
            Freeze => script = self.group.as_ref().unwrap().enter(&["freezer.state", "cgroup.freeze"]),
            Quota => script = self.group.as_ref().unwrap().enter(&["cpu.cfs_quota_us", "cpu.max"]),
            Memory => {
                let files = ["memory.limit_in_bytes", "memory.max"];
                script = self.group.as_ref().unwrap().enter(&files);
            }
            Disk => {
                flags = Some("--mount");
                script = format!("mount -o loop disk.img {DISK} && ");
            }
            LinkDown => {
                flags = Some("--net");
                script = "ip link set lo up && ".to_owned();
            }
            Stop | Load | RealTimeLoad | WallClock | Suspend => {}
        }
        let mut command = if script.is_empty() {
            command
        } else {
            let mut around = match flags {
                Some(flag) => {
                    let mut around = Command::new("unshare");
                    around.args([flag, "--", "sh"]);
                    around
                }
                None => Command::new("sh"),
            };
            around.args(["-c", &format!("{script} exec \"$@\""), "sh"]);
            around.arg(command.get_program()).args(command.get_args());
            for (name, value) in command.get_envs() {
                if let Some(value) = value {
                    around.env(name, value);
                }
            }
            bench.prepared(around)
        };
        if let Some(clocks) = &self.clocks {
            clocks.apply_to(bench, &mut command);
        }
        command
    }

    /// Disturbs for a random time. `every` are all processes, `one` is one of them, and `inside` is one in a network
    /// namespace with the interface `device`. Returns a description for the report of a round.
    pub(super) fn disturb(
        &self,
        random: &mut Random,
        every: &[u32],
        one: u32,
        inside: u32,
        device: &str,
        bench: &Bench,
    ) -> String {
        let long = random.millis(50, 3000);
        let short = random.millis(50, 800);
        let within = |flag: &str, script: String| {
            // It may have ended.
            let target = inside.to_string();
            let _ = Command::new("nsenter")
                .args(["--target", &target, flag, "--", "sh", "-c", &script])
                .stderr(Stdio::null())
                .status();
        };
        match self.disturbance {
            Stop => {
                send(&[one], "STOP");
                std::thread::sleep(long);
                send(&[one], "CONT");
                format!("{one} for {long:?}")
            }
            Freeze => {
                let group = self.group.as_ref().unwrap();
                assert!(group.freeze(true), "no freezer here");
                std::thread::sleep(long);
                group.freeze(false);
                format!("for {long:?}")
            }
            Quota => {
                let group = self.group.as_ref().unwrap();
                let percent = 2 + random.below(40) as u64;
                assert!(group.quota(Some(percent)), "no processor quota here");
                std::thread::sleep(long);
                group.quota(None);
                format!("{percent} % of a core for {long:?}")
            }
            Load => {
                let spinning = spin(long, None);
                end(spinning);
                format!("for {long:?}")
            }
            RealTimeLoad => {
                let priority = random.pick(&[1, 20, 50, 90]);
                let spinning = spin(short, Some(priority));
                end(spinning);
                format!("priority {priority} for {short:?}")
            }
            Memory => {
                let group = self.group.as_ref().unwrap();
                let more = random.pick(&[0, 64 << 10, 1 << 20, 4 << 20]);
                assert!(group.memory(Some(more)), "no memory limit here");
                std::thread::sleep(long);
                group.memory(None);
                format!("{more} bytes more for {long:?}")
            }
            Disk => {
                let disk = bench.path(DISK);
                within("--mount", stopped(&disk, long));
                format!("for {long:?}")
            }
            WallClock => {
                let clocks = self.clocks.as_ref().unwrap();
                let by = random.pick(&[-86_400_000, -3_600_000, -1500, -200, 200, 1500, 3_600_000, 86_400_000]);
                clocks.set_wall(by * 1_000_000);
                if random.below(2) == 0 {
                    std::thread::sleep(long);
                    clocks.set_wall(0);
                }
                format!("by {by} ms")
            }
            Suspend => {
                let clocks = self.clocks.as_ref().unwrap();
                send(every, "STOP");
                let begun = Instant::now();
                std::thread::sleep(long);
                clocks.slept(begun.elapsed().as_nanos() as i64);
                send(every, "CONT");
                format!("for {long:?}")
            }
            LinkDown => {
                let seconds = long.as_secs_f64();
                within(
                    "--net",
                    format!("ip link set {device} down; sleep {seconds}; ip link set {device} up"),
                );
                format!("{device} for {long:?}")
            }
        }
    }
}

/// Freezes a mounted file system for a while.
fn stopped(disk: &Path, long: Duration) -> String {
    let (disk, seconds) = (disk.display(), long.as_secs_f64());
    // If it isn't mounted, the path is on the machine's own disk.
    format!("mountpoint -q {disk} && fsfreeze -f {disk} && {{ sleep {seconds}; fsfreeze -u {disk}; }}")
}

/// Sends a signal to processes that may have ended.
fn send(pids: &[u32], name: &str) {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let _ = Command::new("kill")
        .args(["-s", name])
        .args(pids)
        .stderr(Stdio::null())
        .status();
}

/// Runs two computing processes for each core for this time, with a real-time priority (SCHED_FIFO) if given. The
/// process that ends them has a higher one.
fn spin(long: Duration, priority: Option<u32>) -> Vec<Child> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let seconds = format!("{}", long.as_secs_f64());
    let one = |_| {
        let end = ["timeout", "-s", "KILL", &seconds];
        let spin = ["sh", "-c", "while :; do :; done"];
        let (above, below);
        let words = match priority {
            Some(priority) => {
                (above, below) = ((priority + 1).to_string(), priority.to_string());
                [&["chrt", "-f", &above][..], &end, &["chrt", "-f", &below], &spin].concat()
            }
            None => [&end[..], &spin].concat(),
        };
        Command::new(words[0]).args(&words[1..]).spawn().unwrap()
    };
    (0..2 * cores).map(one).collect()
}

/// Waits for them to end.
fn end(spinning: Vec<Child>) {
    for mut child in spinning {
        let _ = child.wait();
    }
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}
