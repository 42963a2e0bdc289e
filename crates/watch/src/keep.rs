//! Bounded disk use: the oldest hours are deleted first.

use netburn_units::ByteSize;
use std::path::{Path, PathBuf};

/// Size of all records if the user sets none: half a year with pings.
const ON_DISK: ByteSize = ByteSize::from_bytes(2_000_000_000);
/// The same for a folder in memory, as `/var` and `/tmp` of OpenWrt: the memory of a router is 64 MB and more.
const IN_MEMORY: ByteSize = ByteSize::from_bytes(16_000_000);

/// Size of all records if the user sets none.
#[must_use]
pub fn default_size(in_memory: bool) -> ByteSize {
    if in_memory { IN_MEMORY } else { ON_DISK }
}

/// Returns true if the folder with this absolute path, without links, is in memory: on tmpfs or ramfs. `mounts` is
/// `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
#[must_use]
pub fn is_in_memory(mounts: &str, folder: &Path) -> bool {
    let mut nearest: Option<(PathBuf, &str)> = None;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let Some(point) = fields.nth(4).map(unescaped) else {
            continue;
        };
        // Optional fields end with a hyphen.
        let Some(kind) = fields.skip_while(|field| *field != "-").nth(1) else {
            continue;
        };
        // A later mount at the same place hides the earlier one.
        let is_nearer = nearest.as_ref().is_none_or(|(old, _)| point.starts_with(old));
        if folder.starts_with(&point) && is_nearer {
            nearest = Some((point, kind));
        }
    }
    nearest.is_some_and(|(_, kind)| kind == "tmpfs" || kind == "ramfs")
}

/// A path with the octal numbers of space, tab, newline and backslash, such as `\040`.
fn unescaped(field: &str) -> PathBuf {
    let mut text = field.to_owned();
    for (number, c) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        text = text.replace(number, c);
    }
    text.into()
}

/// A recorded hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Size of its files.
    pub size: ByteSize,
    /// True while it is recorded, or completed.
    pub is_open: bool,
}

/// Returns the places of the `hours`, sorted from the oldest, that are deleted so that the rest is at most `keep`. Open hours are never deleted.
#[must_use]
pub fn to_delete(hours: &[Recorded], keep: ByteSize) -> Vec<usize> {
    let mut total: u128 = hours.iter().map(|hour| u128::from(hour.size.as_bytes())).sum();
    let mut deleted = Vec::new();
    for (index, hour) in hours.iter().enumerate().filter(|(_, hour)| !hour.is_open) {
        if total <= u128::from(keep.as_bytes()) {
            break;
        }
        total -= u128::from(hour.size.as_bytes());
        deleted.push(index);
    }
    deleted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mounts of OpenWrt, whose `/var` is a link to `/tmp`, with a USB stick and a covered mount.
    #[test]
    fn a_folder_is_in_memory_if_its_nearest_mount_is() {
        let mounts = "\
            21 1 0:17 / / rw,noatime - overlay overlayfs:/overlay rw\n\
            16 21 0:16 / /tmp rw,nosuid,nodev,noatime shared:3 - tmpfs tmpfs rw\n\
            30 16 8:1 / /tmp/my\\040stick rw - ext4 /dev/sda1 rw\n\
            31 21 8:2 / /mnt rw - ext4 /dev/sda2 rw\n\
            32 21 0:40 / /mnt rw - ramfs none rw\n\
            broken line\n";
        for (folder, expected) in [
            ("/srv/watch", false),
            ("/tmp", true),
            ("/tmp/lib/netburn-watch", true),
            ("/tmpfs", false),
            ("/tmp/my stick/watch", false),
            ("/mnt/watch", true),
        ] {
            assert_eq!(is_in_memory(mounts, Path::new(folder)), expected, "{folder}");
        }
        assert!(!is_in_memory("", Path::new("/tmp")));
    }
}
