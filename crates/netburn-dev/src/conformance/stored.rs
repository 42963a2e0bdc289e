//! Results of the grid of TCP over a wire as JSON lines, so that a run of hours can be stopped and continued.

use super::cases::Case;
use super::metric::{Kind, Metric};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Error of a file of results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The file can't be read, or has other content.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Cause.
        reason: String,
    },
    /// A result can't be appended.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
}

/// Results by the names of their cases.
#[derive(Debug)]
pub struct Stored {
    path: PathBuf,
    points: BTreeMap<String, Point>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    case: String,
    /// The value's name.
    value: String,
    netburn: Vec<f64>,
    kernel: Vec<f64>,
}

impl Stored {
    /// Reads a file; one that does not exist is empty. An incomplete last line of an interrupted run is removed.
    ///
    /// # Errors
    /// The file can't be read, or has other content.
    pub fn open(path: &Path) -> Result<Stored, StoredError> {
        let unusable = |reason: &dyn std::fmt::Display| StoredError::Unusable {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unusable(&error)),
        };
        let points = read(&text).map_err(|error| unusable(&error))?;
        if !text.is_empty() && !text.ends_with('\n') {
            let whole: String = points.values().map(line).collect();
            std::fs::write(path, whole).map_err(|error| unusable(&error))?;
        }
        Ok(Stored {
            path: path.to_owned(),
            points,
        })
    }

    /// The metrics of a case; `None` if fewer runs are stored than the case has.
    #[must_use]
    pub fn metrics(&self, case: &Case) -> Option<Vec<Metric>> {
        let point = self.points.get(&case.name)?;
        let runs = point.netburn.len().min(point.kernel.len());
        (runs >= case.runs as usize).then(|| {
            vec![Metric {
                name: point.value.clone(),
                kind: Kind::Wire,
                simulator: point.netburn.clone(),
                lab: point.kernel.clone(),
            }]
        })
    }

    /// Appends a case.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn add(&self, case: &str, metrics: &[Metric]) -> Result<(), StoredError> {
        let append = |point: &Point| {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(line(point).as_bytes())
        };
        for metric in metrics {
            let point = Point {
                case: case.to_owned(),
                value: metric.name.clone(),
                netburn: metric.simulator.clone(),
                kernel: metric.lab.clone(),
            };
            append(&point).map_err(|error| StoredError::Write {
                path: self.path.clone(),
                error,
            })?;
        }
        Ok(())
    }
}

fn read(text: &str) -> Result<BTreeMap<String, Point>, serde_json::Error> {
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let points: Result<Vec<Point>, _> = whole.map(serde_json::from_str).collect();
    Ok(points?.into_iter().map(|point| (point.case.clone(), point)).collect())
}

fn line(point: &Point) -> String {
    serde_json::to_string(point).expect("numbers and texts are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_file_continues() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel.jsonl");
        let metric = Metric {
            name: "a download, Mbit/s".to_owned(),
            kind: Kind::Wire,
            simulator: vec![1.0, 2.0],
            lab: vec![1.5, 2.5],
        };
        Stored::open(&path)
            .unwrap()
            .add("one", std::slice::from_ref(&metric))
            .unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"case\":\"tw");
        std::fs::write(&path, text).unwrap();
        let stored = Stored::open(&path).unwrap();
        stored.add("two", std::slice::from_ref(&metric)).unwrap();
        let stored = Stored::open(&path).unwrap();
        let case = |name: &str, runs| Case::from_text(name.to_owned(), "", String::new()).runs(runs);
        assert_eq!(stored.metrics(&case("one", 2)), Some(vec![metric.clone()]));
        assert_eq!(stored.metrics(&case("two", 2)), Some(vec![metric]));
        assert_eq!(stored.metrics(&case("two", 5)), None);
    }
}
