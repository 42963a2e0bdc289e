//! A Python process with ns-3.

use crate::command::temporary_folder;
use crate::exit::CliError;
use netburn_dev::crosscheck::{CrosscheckPlan, Values};
use serde::Deserialize;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = include_str!("program.py");
const NETWORK: &str = include_str!("network.cc");

/// Help text if ns-3 is missing.
const HELP: &str = "help: install it with
    python3 -m venv ~/.cache/netburn-ns3 && ~/.cache/netburn-ns3/bin/pip install ns3==3.44.post0";

/// A process that runs plans in ns-3, one after another. It ends with this value.
pub(super) struct Ns3 {
    /// Version of ns-3.
    pub(super) version: String,
    child: Child,
    plans: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Folder of the program. It is removed with this value.
    _folder: TempDir,
}

#[derive(Deserialize)]
struct Hello {
    version: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Failed {
        error: String,
    },
    Values {
        seed: u64,
        goodput: Vec<f64>,
        round_trip: Vec<Option<f64>>,
        processor_seconds: f64,
    },
}

/// Answer of ns-3 to a plan.
pub(super) struct Ns3Run {
    pub(super) values: Values,
    /// Processor time of the run in seconds, without that of the compiler and of Python's start.
    pub(super) processor_seconds: f64,
}

impl Ns3 {
    /// Starts this Python, or the one of the environment below the user's cache, or `python3`.
    ///
    /// # Errors
    /// There is no Python, or it has no ns-3.
    pub(super) fn start(python: Option<&Path>) -> Result<Ns3, CliError> {
        let python = python.map_or_else(default_python, Path::to_owned);
        let folder = program_folder()?;
        let missing =
            |why: &dyn std::fmt::Display| CliError::Usage(format!("no ns-3 with {}: {why}\n{HELP}", python.display()));
        let mut child = Command::new(&python)
            .arg(folder.path().join("program.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // cppyy reports there what it finds in headers, and ns-3 its warnings.
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| missing(&error))?;
        let (plans, answers) = (child.stdin.take(), child.stdout.take().expect("it is a pipe"));
        let mut answers = BufReader::new(answers);
        let mut line = String::new();
        answers.read_line(&mut line).map_err(|error| missing(&error))?;
        let hello: Hello = serde_json::from_str(&line).map_err(|_| missing(&"`from ns import ns` fails"))?;
        Ok(Ns3 {
            version: hello.version,
            child,
            plans,
            answers,
            _folder: folder,
        })
    }

    /// Runs a plan.
    ///
    /// # Errors
    /// ns-3 could not run it.
    pub(super) fn run(&mut self, plan: &CrosscheckPlan, seed: u64) -> Result<Ns3Run, CliError> {
        let mut fields = plan.for_ns3();
        fields["seed"] = seed.into();
        let failed = |error: std::io::Error| CliError::Failed(format!("ns-3: {error}"));
        let plans = self.plans.as_mut().expect("it is there until it is dropped");
        plans.write_all(format!("{fields}\n").as_bytes()).map_err(failed)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed)?;
        match serde_json::from_str(&line) {
            Ok(Answer::Values {
                seed,
                goodput,
                round_trip,
                processor_seconds,
            }) => Ok(Ns3Run {
                values: Values {
                    seed,
                    goodput,
                    round_trip,
                },
                processor_seconds,
            }),
            Ok(Answer::Failed { error }) => Err(CliError::Failed(format!("ns-3: {error}"))),
            Err(_) if line.is_empty() => Err(CliError::Usage("the process with ns-3 ended".to_owned())),
            Err(why) => Err(CliError::Failed(format!("ns-3 printed {line:?}: {why}"))),
        }
    }
}

impl Drop for Ns3 {
    fn drop(&mut self) {
        // The process ends when its input is closed.
        self.plans = None;
        let _ = self.child.wait();
    }
}

fn default_python() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    let installed = cache.map(|cache| cache.join("netburn-ns3/bin/python"));
    installed
        .filter(|python| python.exists())
        .unwrap_or_else(|| PathBuf::from("python3"))
}

fn program_folder() -> Result<TempDir, CliError> {
    let folder = temporary_folder()?;
    for (name, text) in [("program.py", PROGRAM), ("network.cc", NETWORK)] {
        std::fs::write(folder.path().join(name), text).map_err(CliError::failed)?;
    }
    Ok(folder)
}
