//! Simulated changes of a run, which are stored beside its record for its reports.

use super::causes::Effort;
use super::stored::{read, write};
use netburn_record::verdict;
use netburn_workload::Verdict;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;

/// Name of the file in the folder of a run.
pub const FILE: &str = "remedies.json";

/// Simulated changes, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedies {
    /// Number of simulations without and with each change, with the same seeds.
    pub runs: usize,
    /// Worst verdict of the simulations without a change.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// The changes.
    pub changes: Vec<Remedy>,
}

/// A simulated change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// Instruction in plain words, without a full stop.
    pub instruction: String,
    /// Effort of the change.
    pub effort: Effort,
    /// Keys and values for `--set`.
    pub set: Vec<(String, String)>,
    /// Worst verdict of the simulations with the change.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// True for the change that helps most.
    pub is_best: bool,
    /// Values of the devices that the change makes clearly better or worse.
    pub effects: Vec<RemedyEffect>,
}

/// A value of a device without and with a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemedyEffect {
    /// Name of the station.
    pub station: String,
    /// The value in plain words, such as `pages in time`.
    pub what: String,
    /// Medians without and with the change, with their unit.
    pub medians: [String; 2],
    /// True if it becomes better, false if it becomes worse.
    pub is_better: bool,
}

impl Remedies {
    /// The change that helps most; `None` if none helps.
    #[must_use]
    pub fn best(&self) -> Option<&Remedy> {
        self.changes.iter().find(|change| change.is_best)
    }

    /// Writes the changes into the folder of their run.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        write(folder, FILE, self)
    }

    /// The changes in the folder of a run; `None` without a file that can be read.
    #[must_use]
    pub fn stored(folder: &Path) -> Option<Self> {
        read(folder, FILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The folder of a run can be foreign: a file that is damaged, huge, or not a file is no document.
    #[test]
    fn stored_changes_are_read_again_and_a_damaged_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let remedies = Remedies {
            runs: 8,
            verdict: Verdict::Fail,
            changes: vec![Remedy {
                instruction: "Use a fair queue".to_owned(),
                effort: Effort::Firmware,
                set: vec![("ap.home.queue".to_owned(), "airtime".to_owned())],
                verdict: Verdict::Pass,
                is_best: true,
                effects: Vec::new(),
            }],
        };
        assert_eq!(Remedies::stored(folder.path()), None);
        remedies.store(folder.path()).unwrap();
        assert_eq!(Remedies::stored(folder.path()).as_ref(), Some(&remedies));
        assert_eq!(remedies.best(), remedies.changes.first());

        let path = folder.path().join(FILE);
        let whole = fs::read_to_string(&path).unwrap();
        for damaged in [
            &whole[..whole.len() / 2],
            &whole.replace("pass", "splendid"),
            &" ".repeat(5 << 20),
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(Remedies::stored(folder.path()), None);
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(Remedies::stored(folder.path()), None);
    }
}
