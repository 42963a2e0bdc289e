//! Runs the built command in a directory of its own, with a time limit, and checks that no process is left.

#![allow(dead_code, clippy::allow_attributes, reason = "each test binary uses its part")]

pub(crate) mod browser;
pub(crate) mod clocks;
pub(crate) mod demo;
pub(crate) mod firefox;
pub(crate) mod fleet;
pub(crate) mod namespaces;
pub(crate) mod pictures;

use netburn_record::{Row, Run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longer than any command here takes, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A small home network with little traffic at a modelled access point, because tests run unoptimised.
pub(crate) fn house(duration: &str, baseline: &str) -> String {
    format!(
        r#"
duration = "{duration}"
baseline = "{baseline}"
drain = "1 s"
[server]
link = {{ rate = "20 Mbit/s", delay = "5 ms" }}
[ap.home]
queue = "fifo"
[ap.home.radio.5g]
standard = "802.11n"
[station.caller]
joins = "home.5g"
signal = "-60 dBm"
workload = ["voip", "probe"]
"#
    )
}

/// Two stations with little traffic.
pub(crate) const SMALL: &str = r#"
duration = "3 s"
baseline = "1 s"
drain = "1 s"
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.caller]
joins = "home.5g"
signal = "-60 dBm"
workload = "voip"
[station.reader]
joins = "home.5g"
signal = "-70 dBm"
workload = "probe"
"#;

/// The folder into which `scripts/install-test-needs` installs what is no package of Debian.
pub(crate) fn test_tools() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("a home"));
    let cache = || std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home().join(".cache"), PathBuf::from);
    std::env::var_os("NETBURN_TEST_TOOLS").map_or_else(|| cache().join("netburn-test-tools"), PathBuf::from)
}

/// The directory of one test, with the files and the processes of the test.
pub(crate) struct Bench {
    dir: tempfile::TempDir,
}

/// A running command. Its processes are killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    mark: String,
    stdout: Stream,
    stderr: Stream,
}

/// The bytes of an output stream so far, and the thread that reads them.
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// The status and the output of a command that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Bench {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A directory with [`SMALL`] as `small.toml`.
    pub(crate) fn small() -> Self {
        let bench = Bench::new();
        bench.write("small.toml", SMALL);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// `netburn` with these arguments.
    pub(crate) fn netburn<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_netburn"));
        command.args(args);
        self.prepared(command)
    }

    /// `netburn` with these arguments in a new network or mount namespace (`unshare FLAGS`) with loopback up. The shell
    /// runs `script` first. `"$@"` is the command.
    pub(crate) fn inside<S: AsRef<OsStr>>(
        &self,
        flags: &[&str],
        script: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new("unshare");
        // Without the right to unshare, a user namespace gives it.
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(flags).args(["--", "sh", "-c", script, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_netburn")).args(args);
        self.prepared(command)
    }

    /// The texts of the events in a record.
    #[track_caller]
    pub(crate) fn events(&self, record: &str) -> Vec<String> {
        let mut texts = Vec::new();
        let take = &mut |row| {
            if let Row::Event(event) = row {
                texts.push(event.detail.text().into_owned());
            }
        };
        Run::open(&self.path(record)).unwrap().rows(take).unwrap();
        texts
    }

    /// The rows that are stored so far of a run in progress.
    #[track_caller]
    pub(crate) fn rows_so_far(&self, record: &str) -> Vec<Row> {
        let copy = tempfile::tempdir_in(self.dir.path()).unwrap();
        std::fs::copy(self.path(record).join("spool"), copy.path().join("spool")).unwrap();
        let mut rows = Vec::new();
        let run = Run::open(copy.path()).unwrap();
        run.rows(&mut |row| rows.push(row)).unwrap();
        rows
    }

    /// `netburn` with its own state directory, as on another device.
    pub(crate) fn with_state(&self, state: &str, args: &[&str]) -> Command {
        let mut command = self.netburn(args);
        command.env("NETBURN_STATE", self.path(state));
        command
    }

    /// Simulates `scenario`, a file or a built-in one, and saves the run to `folder`.
    #[track_caller]
    pub(crate) fn simulate(&self, scenario: &str, folder: &str, more: &[&str]) -> Ended {
        let run = ["run", scenario, "--on", "simulate", "--out", folder];
        finish(self.netburn(run.iter().chain(more))).expect(0)
    }

    /// Simulates the measurement for a fit of this network, and saves the run to `folder`.
    #[track_caller]
    pub(crate) fn measure(&self, house: &str, folder: &str, more: &[&str]) {
        self.write("house.toml", house);
        let measure = finish(self.netburn(["scenarios", "measure", "--house", "house.toml"])).expect(0);
        self.write("measure.toml", measure.out());
        self.simulate("measure.toml", folder, more);
    }

    /// Simulates `house.toml` several times behind a wire of this length, and saves the runs to `folder`.
    #[track_caller]
    pub(crate) fn recorded(&self, folder: &str, delay: &str, repeat: u32) {
        let (delay, repeat) = (format!("server.link.delay={delay}"), repeat.to_string());
        self.simulate("house.toml", folder, &["--set", &delay, "--repeat", &repeat]);
    }

    /// The path of a picture: in the documentation if pictures are regenerated, else among the test's files.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        if pictures::are_written() {
            pictures::path(name)
        } else {
            self.path(name)
        }
    }

    pub(crate) fn prepared(&self, mut command: Command) -> Command {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        command
            .current_dir(self.dir.path())
            .env("NETBURN_TEST", self.dir.path().join(number.to_string()))
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env_remove("NETBURN_LOG")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }
}

/// Arguments of `netburn lab` for [`Bench::small`], without its view.
pub(crate) fn small_lab<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["lab", "small.toml", "--quiet"], words].concat()
}

/// Arguments of `netburn lab` for [`Bench::small`]: a service at the server, with its options, and a command at the caller.
pub(crate) fn service_and_caller<'a>(options: &[&'a str], service: &[&'a str], caller: &[&'a str]) -> Vec<&'a str> {
    let at_server = [options, &["--at", "server", "--service", "--"], service].concat();
    small_lab(&[&at_server[..], &["--and", "--at", "caller", "--"], caller].concat())
}

/// Enables loopback in a new network namespace, without tools that a small system may lack.
pub(crate) const LOOPBACK_UP: &str = "python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh14x\", b\"lo\", 1))' &&";

/// Runs a command to its end.
pub(crate) fn finish(command: Command) -> Ended {
    start(command).finish()
}

pub(crate) fn start(mut command: Command) -> Running {
    let mark = command
        .get_envs()
        .find(|(name, _)| *name == "NETBURN_TEST")
        .and_then(|(_, value)| Some(format!("NETBURN_TEST={}", value?.to_str()?)))
        .expect("made by a bench");
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    Running {
        stdout: Stream::new(child.stdout.take()),
        stderr: Stream::new(child.stderr.take()),
        child,
        mark,
    }
}

impl Stream {
    fn new(from: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut from = from;
            let mut buffer = [0; 4096];
            while let Some(Ok(read @ 1..)) = from.as_mut().map(|from| from.read(&mut buffer)) {
                into.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Stream { bytes, reader }
    }

    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().unwrap().clone()
    }
}

impl Running {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Sends a signal to the process and its children, as a terminal does after Ctrl-C.
    pub(crate) fn signal_group(&self, name: &str) {
        let group = format!("-{}", self.id());
        let status = kill(name, &group).status().unwrap();
        assert!(status.success(), "kill -s {name} -- {group}");
    }

    /// The run's processes with this subcommand: `agent` or `serve`.
    pub(crate) fn processes_with_subcommand(&self, what: &str) -> Vec<u32> {
        marked(&self.mark)
            .into_iter()
            .filter(|pid| arguments(*pid).get(1).is_some_and(|a| a == what))
            .collect()
    }

    /// Standard error so far.
    pub(crate) fn stderr_so_far(&self) -> String {
        text(&self.stderr.so_far())
    }

    /// Standard output so far.
    pub(crate) fn stdout_so_far(&self) -> String {
        text(&self.stdout.so_far())
    }

    /// True if the process has exited.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// The process and its descendants.
    pub(crate) fn processes(&self) -> Vec<u32> {
        marked(&self.mark)
    }

    /// Waits until the load has started.
    pub(crate) fn wait_for_load(&mut self) {
        self.wait_for("the load", |run| run.stderr_so_far().contains(": running, "));
    }

    /// Waits until `done` holds or the process has exited. Returns whether `done` holds.
    pub(crate) fn wait_until_or_exit(&mut self, mut done: impl FnMut(&Running) -> bool) -> bool {
        let begun = Instant::now();
        while !done(self) {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            assert!(begun.elapsed() < LIMIT, "did not end:\n{}", self.stderr_so_far());
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Waits until `done` holds. At the time limit, the test fails with a message that contains `what`.
    pub(crate) fn wait_for(&mut self, what: &str, mut done: impl FnMut(&Running) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("ended with {status} before {what}:\n{}", self.stderr_so_far());
            }
            assert!(
                begun.elapsed() < LIMIT,
                "{what} did not happen:\n{}",
                self.stderr_so_far()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end, and checks that no process is left.
    pub(crate) fn finish(mut self) -> Ended {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begun.elapsed() < LIMIT,
                "still running after {LIMIT:?}:\n{}",
                self.stderr_so_far()
            );
            std::thread::sleep(Duration::from_millis(10));
        };
        // Agents and server exit after their controller, not at the same instant.
        loop {
            let left: Vec<_> = marked(&self.mark).into_iter().map(arguments).collect();
            if left.is_empty() {
                break;
            }
            assert!(begun.elapsed() < LIMIT, "left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        while !(self.stdout.reader.is_finished() && self.stderr.reader.is_finished()) {
            assert!(begun.elapsed() < LIMIT, "another process has its output open");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ended {
            status,
            stdout: self.stdout.so_far(),
            stderr: self.stderr_so_far(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        kill_all(&self.mark);
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!(
                "standard error of another program of this test:\n{}",
                self.stderr_so_far()
            );
        }
    }
}

impl Ended {
    /// The exit status; 128 + N if signal N ended the process.
    pub(crate) fn code(&self) -> i32 {
        self.status
            .code()
            .unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    pub(crate) fn out(&self) -> String {
        text(&self.stdout)
    }

    /// Checks the exit status. The message of a failure contains all output.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "stdout:\n{}\nstderr:\n{}", self.out(), self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out(), self.stderr))
    }
}

/// The shell's `kill` of a process or a group. Not every system has a program of this name.
fn kill(name: &str, target: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$0\" -- \"$1\"", name, target]);
    command
}

/// Sends a signal to a process of the test.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = kill(name, &pid.to_string()).status().unwrap();
    assert!(status.success(), "kill -s {name} {pid}");
}

/// A scenario of one station with `workload` on a link of `mbit` Mbit/s.
pub(crate) fn one_station(workload: &str, mbps: u64, seconds: u64) -> String {
    format!(
        "title = \"One station\"\nduration = \"{seconds}s\"\nbaseline = \"2s\"\n\n[server]\nlink = {{ rate = \"{mbps} \
         Mbit/s\" }}\n\n[station.one]\nworkload = \"{workload}\"\n"
    )
}

/// The station with this name in a summary.
#[track_caller]
pub(crate) fn station<'a>(summary: &'a Value, name: &str) -> &'a Value {
    summary["stations"]
        .as_array()
        .and_then(|list| list.iter().find(|s| s["name"] == name))
        .unwrap_or_else(|| panic!("no station {name} in {summary:#}"))
}

/// Visible traces of a lab on the host: interfaces, mounts and named network namespaces.
pub(crate) fn host() -> [String; 3] {
    let interfaces = std::fs::read_to_string("/proc/net/dev").unwrap();
    let names = interfaces.lines().skip(2).filter_map(|line| line.split(':').next());
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let named = std::fs::read_dir("/run/netns").map(|all| all.count()).unwrap_or(0);
    [
        names.collect::<Vec<_>>().join(" "),
        places.collect::<Vec<_>>().join(" "),
        named.to_string(),
    ]
}

/// The finished runs of a sweep: file name, inode and modification time.
pub(crate) fn finished_runs(folder: &Path) -> BTreeMap<String, (u64, i64, i64)> {
    let Ok(entries) = std::fs::read_dir(folder.join("runs")) else {
        return BTreeMap::new();
    };
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| {
            let facts = std::fs::metadata(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, (facts.ino(), facts.mtime(), facts.mtime_nsec()))
        })
        .collect()
}

/// Simulates a run into `run`.
pub(crate) fn simulated(bench: &Bench, scenario: &str, more: &[&str]) -> Value {
    bench.write("scenario.toml", scenario);
    let more = [&["--format", "json"], more].concat();
    bench.simulate("scenario.toml", "run", &more).json()
}

/// Exports the run of [`simulated`].
pub(crate) fn export(bench: &Bench, format: &str, more: &[&str]) -> Ended {
    let args = ["export", "run", "--to", format];
    finish(bench.netburn(args.iter().chain(more))).expect(0)
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"))
}

/// The processes that a bench started, and their descendants.
fn marked(mark: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|b| *b == 0).any(|v| v == mark.as_bytes()))
        })
        .filter(|pid| !is_zombie(*pid))
        .collect()
}

fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
    })
}

fn arguments(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes.split(|b| *b == 0).map(text).filter(|a| !a.is_empty()).collect()
}

fn kill_all(mark: &str) {
    for pid in marked(mark) {
        let _ = kill("KILL", &pid.to_string()).stderr(Stdio::null()).status();
    }
}
