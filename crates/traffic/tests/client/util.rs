//! Servers for tests, and helpers that run one load.

use netburn_record::{ConnectionRow, EventRow, IntervalRow, Row};
use netburn_test_support::unused_address;
use netburn_traffic::client::Target;
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelToken, DriveReport, Load, drive};
use netburn_units::{ByteSize, Duration, Instant, Seed};
use netburn_workload::config::{Grid, Requests};
use netburn_workload::kinds::{Bulk, Periodic};
use netburn_workload::{Config, Connections, Direction, Operation, Outcome, Workload};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// Result of a drive.
#[derive(Default)]
pub(crate) struct Left {
    pub(crate) operations: Vec<Operation>,
    pub(crate) intervals: Vec<IntervalRow>,
    pub(crate) connections: Vec<ConnectionRow>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) report: DriveReport,
}

impl Left {
    pub(crate) fn count(&self, of: impl Fn(Outcome) -> bool) -> usize {
        self.operations.iter().filter(|o| of(o.outcome)).count()
    }

    pub(crate) fn finished(&self) -> usize {
        self.count(|outcome| outcome == Outcome::Finished)
    }

    /// Operations that started.
    pub(crate) fn started(&self) -> usize {
        self.count(|outcome| outcome != Outcome::NotStarted)
    }

    /// Checks that `due` operations fell due, and that all of them ended with this outcome. A driver that gets too little
    /// processor time starts only a part of them, and reports the others.
    #[track_caller]
    pub(crate) fn expect_all(&self, due: usize, outcome: Outcome) {
        let started = self.started();
        assert_eq!(self.operations.len(), due, "{:?}", self.operations);
        assert_eq!(
            (due - started) as u64,
            self.report.missed_sends,
            "{:?}",
            self.operations
        );
        assert!(started > 0, "{:?}", self.report);
        assert_eq!(self.count(|o| o == outcome), started, "{:?}", self.operations);
    }

    /// The largest number of operations that ran at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        let runs = |o: &Operation, at: Instant| o.started <= Some(at) && o.finished.is_none_or(|end| end >= at);
        let starts = self.operations.iter().filter_map(|o| o.started);
        let at_once = starts.map(|at| {
            let others = self.operations.iter().filter(|o| o.started.is_some());
            others.filter(|o| runs(o, at)).count()
        });
        at_once.max().unwrap_or(0)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.operations.iter().map(|o| o.bytes).sum()
    }

    pub(crate) fn put(&mut self, row: Row) {
        match row {
            Row::Operation(row) => self.operations.push(row.operation),
            Row::Interval(row) => self.intervals.push(row),
            Row::Connection(row) => self.connections.push(row),
            Row::Event(row) => self.events.push(row),
            Row::Link(_) | Row::Air(_) | Row::Observed(_) => {}
        }
    }
}

/// Drain time in ms in which every operation ends, also on a machine that is busy. A drive is over as soon as all have.
pub(crate) const SETTLE: u64 = 60_000;

/// Drives one load from run time zero to `millis`, and then for the configured drain time.
pub(crate) fn drive_one(target: &Target, config: Config, millis: i64, drain: u64) -> Left {
    drive_until(target, config, millis, drain, CancelToken::never())
}

pub(crate) fn drive_until(target: &Target, config: Config, millis: i64, drain: u64, stop: CancelToken) -> Left {
    drive_at(target, config, millis, drain, RunClock::starting_now(), stop)
}

/// As [`drive_one`], after three seconds in which handshakes complete.
pub(crate) fn drive_later(target: &Target, config: Config, millis: i64, drain: u64) -> Left {
    let clock = RunClock::starting_at(std::time::Instant::now() + std::time::Duration::from_secs(3));
    drive_at(target, config, millis, drain, clock, CancelToken::never())
}

pub(crate) fn drive_at(
    target: &Target,
    config: Config,
    millis: i64,
    drain: u64,
    clock: RunClock,
    stop: CancelToken,
) -> Left {
    let end = Instant::from_millis(millis);
    let load = Load {
        station: 3,
        workload: 1,
        machine: Workload::new(
            config,
            Instant::ZERO,
            end,
            end + Duration::from_millis(drain),
            Seed(5),
            0,
        ),
        target: Arc::new(target.clone()),
    };
    let (rows, mut received) = tokio::sync::mpsc::unbounded_channel();
    let report = runtime().block_on(drive(vec![load], clock, rows, stop));
    let mut left = Left {
        report,
        ..Left::default()
    };
    while let Ok(batch) = received.try_recv() {
        batch.into_iter().for_each(|row| left.put(row));
    }
    left
}

/// Waits until `done` holds, or for a minute. The assertions after it detect that it never did.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if done() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Returns a workload with objects of `size` every `millis` on reused connections. No operation is skipped.
pub(crate) fn calls(size: u64, millis: u64) -> Config {
    Config::from(periodic(size, millis))
}

fn periodic(size: u64, millis: u64) -> Periodic {
    Periodic {
        requests: Requests::kept(ByteSize::from_bytes(size)),
        grid: Grid::regular(Duration::from_millis(millis)),
        outstanding: 1000,
    }
}

/// Returns an upload with objects of this size.
pub(crate) fn upload(object_size: ByteSize) -> Config {
    Config::from(Bulk {
        requests: Requests::kept(object_size),
        ..Bulk::new(Direction::Up)
    })
}

/// The same with a new connection per object.
pub(crate) fn new_calls(size: u64, millis: u64) -> Config {
    let mut calls = periodic(size, millis);
    calls.requests.connections = Connections::New;
    Config::from(calls)
}

/// A server that passes each connection to a function on its own thread. It stops when dropped, with all its
/// connections.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    /// Number of accepted connections.
    pub(crate) accepted: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Starts a server. `script` receives each connection and its number from 0.
    pub(crate) fn start(script: impl Fn(&mut Talk, u64) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let script = Arc::new(script);
        let (counted, ending) = (Arc::clone(&accepted), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let mut threads: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
            for stream in listener.incoming() {
                if ending.load(Ordering::SeqCst) {
                    break;
                }
                let stream = stream.unwrap();
                let number = counted.fetch_add(1, Ordering::SeqCst);
                let script = Arc::clone(&script);
                let mut talk = Talk {
                    stream: stream.try_clone().unwrap(),
                    read: Vec::new(),
                };
                threads.push((
                    stream,
                    std::thread::spawn(move || {
                        // Clients may close connections early.
                        let _ = script(&mut talk, number);
                        let _ = talk.stream.shutdown(std::net::Shutdown::Both);
                    }),
                ));
            }
            for (stream, thread) in threads {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                thread.join().unwrap();
            }
        });
        Scripted {
            address,
            accepted,
            over,
            thread: Some(thread),
        }
    }

    pub(crate) fn target(&self) -> Target {
        Target::new(self.address)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A scripted server's side of a connection.
pub(crate) struct Talk {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

impl Talk {
    /// Returns the head of the next request; its content of the declared length is discarded. `None` at the end.
    pub(crate) fn request(&mut self) -> std::io::Result<Option<String>> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|w| w == b"\r\n\r\n") {
                break at + 4;
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece)? {
                0 => return Ok(None),
                count => self.read.extend(&piece[..count]),
            }
        };
        let head = String::from_utf8(self.read.drain(..end).collect()).unwrap();
        let declared = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut left = declared.map_or(0, |length| length.parse::<usize>().unwrap());
        let here = left.min(self.read.len());
        self.read.drain(..here);
        left -= here;
        let mut piece = vec![0; 64 * 1024];
        while left > 0 {
            let room = left.min(piece.len());
            match self.stream.read(&mut piece[..room])? {
                0 => return Ok(None),
                count => left -= count,
            }
        }
        Ok(Some(head))
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a complete response with this many bytes.
    pub(crate) fn answer(&mut self, size: usize) -> std::io::Result<()> {
        let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        bytes.resize(bytes.len() + size, b'x');
        self.say(&bytes)
    }
}

/// Returns the size in a request for `/bytes/SIZE`.
pub(crate) fn asked(head: &str) -> usize {
    head.split(' ')
        .nth(1)
        .and_then(|path| path.strip_prefix("/bytes/"))
        .unwrap()
        .parse()
        .unwrap()
}

/// A child process that is stopped with the test.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) folder: tempfile::TempDir,
}

impl Process {
    /// Starts Debian's nginx in the foreground, which serves `folder/www` and logs every request.
    pub(crate) fn nginx() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (path, address) = (folder.path().display().to_string(), unused_address());
        std::fs::create_dir(folder.path().join("www")).unwrap();
        let temp: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {path}/{kind};"))
            .collect();
        let config = format!(
            "daemon off; worker_processes 1; pid {path}/pid; error_log {path}/error.log;
             events {{ worker_connections 1024; }}
             http {{
               {temp}
               log_format plain '$request_method $uri $status $body_bytes_sent';
               access_log {path}/access.log plain;
               sendfile on; keepalive_requests 1000000;
               server {{
                 listen {address};
                 root {path}/www;
                 location = /old {{ return 302 /new/place; }}
                 location = /new/place {{ return 301 ../object; }}
                 location = /round {{ return 302 /round; }}
                 location = /taken {{ client_max_body_size 1g; return 200 'thanks'; }}
               }}
             }}"
        );
        std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
        let binary = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
            .expect("nginx is installed (scripts/test does it)");
        let child = Command::new(binary)
            .args(["-c", &format!("{path}/nginx.conf"), "-e", &format!("{path}/error.log")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self::ready(child, address, folder)
    }

    /// Starts `python3 -m http.server`, which serves `folder/www`.
    pub(crate) fn python() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = unused_address();
        std::fs::create_dir(folder.path().join("www")).unwrap();
        let child = Command::new("python3")
            .args(["-m", "http.server", "--bind"])
            .args([address.ip().to_string(), address.port().to_string()])
            .current_dir(folder.path().join("www"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3 is installed (scripts/test does it)");
        Self::ready(child, address, folder)
    }

    /// Waits until the server accepts connections.
    fn ready(mut child: Child, address: SocketAddr, folder: tempfile::TempDir) -> Self {
        for _ in 0..6000 {
            if TcpStream::connect(address).is_ok() {
                return Process { child, address, folder };
            }
            if let Some(status) = child.try_wait().unwrap() {
                let said = std::fs::read_to_string(folder.path().join("error.log")).unwrap_or_default();
                panic!("the server ended with {status}: {said}");
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child.kill().unwrap();
        panic!("the server does not accept connections");
    }

    /// Creates a file.
    pub(crate) fn object(&self, name: &str, size: usize) {
        let path = self.folder.path().join("www").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, vec![7; size]).unwrap();
    }

    /// Stops the server. Returns its log: method, path, status, bytes of content sent.
    pub(crate) fn log(mut self) -> Vec<(String, String, u16, u64)> {
        self.end();
        let text = std::fs::read_to_string(self.folder.path().join("access.log")).unwrap();
        let parse = |line: &str| {
            let fields: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| fields[at].parse::<u64>().unwrap();
            (fields[0].to_owned(), fields[1].to_owned(), number(2) as u16, number(3))
        };
        text.lines().map(parse).collect()
    }

    fn end(&mut self) {
        // SIGTERM, so that nginx stops its worker too.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.end();
        }
    }
}
