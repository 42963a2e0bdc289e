//! Control groups of a trial: a processor quota, a memory limit and a freezer for the processes of one run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A group in each writable hierarchy of either version (cgroups(7)). It is removed when dropped, after its processes
/// have ended.
pub(super) struct ControlGroup(Vec<PathBuf>);

impl ControlGroup {
    pub(super) fn new() -> ControlGroup {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("netburn-trial-{}-{number}", std::process::id());
        let groups: Vec<PathBuf> = hierarchies()
            .into_iter()
            .map(|hierarchy| hierarchy.join(&name))
            .filter(|group| fs::create_dir(group).is_ok())
            .collect();
        // A group has no real-time processor time by default, and the lab's forwarding thread needs some.
        let group = ControlGroup(groups);
        let _ = group.write("cpu.rt_runtime_us", "400000");
        group
    }

    /// The shell command that puts the shell into the groups that have one of these files.
    pub(super) fn enter(&self, files: &[&str]) -> String {
        let groups = self
            .0
            .iter()
            .filter(|group| files.iter().any(|file| group.join(file).exists()));
        groups
            .map(|group| format!("echo $$ > {}/cgroup.procs && ", group.display()))
            .collect()
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        self.0.iter().map(|group| group.join(name)).find(|file| file.exists())
    }

    fn write(&self, name: &str, value: &str) -> bool {
        self.file(name).is_some_and(|file| fs::write(file, value).is_ok())
    }

    /// Limits the processes to `percent` of one core in periods of 100 ms, or lifts the limit. Returns whether that is
    /// possible.
    pub(super) fn quota(&self, percent: Option<u64>) -> bool {
        let micros = percent.map(|percent| percent * 1000);
        let old = micros.map_or("-1".to_owned(), |micros| micros.to_string());
        let new = micros.map_or("max".to_owned(), |micros| micros.to_string());
        self.write("cpu.cfs_quota_us", &old) || self.write("cpu.max", &format!("{new} 100000"))
    }

    /// Limits the memory to the present use plus `more` bytes, or lifts the limit. Returns whether that is possible.
    pub(super) fn memory(&self, more: Option<u64>) -> bool {
        let used = |name: &str| fs::read_to_string(self.file(name)?).ok()?.trim().parse::<u64>().ok();
        let Some(used) = used("memory.usage_in_bytes").or_else(|| used("memory.current")) else {
            return false;
        };
        let old = more.map_or("-1".to_owned(), |more| (used + more).to_string());
        let new = more.map_or("max".to_owned(), |more| (used + more).to_string());
        self.write("memory.limit_in_bytes", &old) || self.write("memory.max", &new)
    }

    /// Freezes or thaws all processes. Returns whether that is possible.
    pub(super) fn freeze(&self, frozen: bool) -> bool {
        self.write("freezer.state", if frozen { "FROZEN" } else { "THAWED" })
            || self.write("cgroup.freeze", if frozen { "1" } else { "0" })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.freeze(false);
        for group in &self.0 {
            // A process that has just ended may still be counted.
            for _ in 0..100 {
                if fs::remove_dir(group).is_ok() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// The mount points of this machine's control groups, those with a controller of `wanted` first.
fn hierarchies() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut found = Vec::new();
    for line in mounts.lines() {
        // proc_pid_mountinfo(5): the mount point is the fifth field; the type follows the separator.
        let Some((place, kind)) = line.split_once(" - ") else {
            continue;
        };
        let Some(at) = place.split(' ').nth(4) else { continue };
        let useful = kind.starts_with("cgroup2 ")
            || (kind.starts_with("cgroup ")
                && ["cpu", "memory", "freezer"]
                    .iter()
                    .any(|name| kind.rsplit(',').any(|option| option == *name)));
        if useful {
            found.push(Path::new(at).to_owned());
        }
    }
    found
}
