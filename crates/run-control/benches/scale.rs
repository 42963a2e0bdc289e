//! Measures how far apart many agents start, the error of their clocks, and the time and memory that the results of
//! a thousand agents need.
//!
//! `cargo bench -p netburn-run-control` starts 20 and 200 agent processes, and then 1,000 agents. These are 200 processes,
//! and tasks of one more process that send the same messages. `-- 50` starts 50 processes only.

use netburn_platform::Monotonic;
use netburn_protocol::messages::{
    self, Batch, Done, HealthMessage, Hello, MAX_TO_AGENT, Pong, Progress, Ready, Rows, ToAgent, ToController,
};
use netburn_protocol::transport::Channel;
use netburn_record::{Clock, Detail, Environment, Header, Health, Host, OperationRow, Recorder, Role, Row, Sink};
use netburn_run_control::agent::{self, AgentOptions, AgentPolicy, Part};
use netburn_run_control::controller_session::dial::SingleConnection;
use netburn_run_control::launch::{Child, Launcher};
use netburn_run_control::{Join, Options, Outcome, Phase, ProgressObserver, run_local, server_main, with_writer};
use netburn_scenario::{Document, Plan};
use netburn_units::{Duration, Instant};
use netburn_workload::{Operation, Outcome as PartEnd};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time;

/// File in which a process writes the start of its run.
const WITNESS: &str = "NETBURN_WITNESS";
/// Number of operations of each simulated agent.
const EACH: u64 = 1250;
const PROCESSES: usize = 200;
const ALL: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--bench")).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["agent"] => witness(),
        ["server"] => drop(server_main(&Join::from_environment().expect("a join"))),
        ["crowd"] => admission_limit(),
        [] => {
            starts(20);
            starts(PROCESSES);
            thousand();
        }
        [count] => starts(count.parse().expect("a number of agents")),
        _ => panic!("one number, or none"),
    }
}

/// Start delay of this number of agent processes.
fn starts(count: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut launcher = Processes::new(count, Some(folder.path().to_owned()));
    let mut sink = Counting::default();
    let mut told = Told::default();
    run(&plan(count, "6 s"), &mut launcher, &mut sink, &mut told);
    drop(launcher);
    // Start on the controller's side, on the clock that all processes of a machine share.
    let truth = median(&mut told.zeros.clone());
    let (mut clocks, mut starts) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder.path()).expect("the folder").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("what a witness wrote");
        let mut numbers = text.split_whitespace().map(|n| n.parse::<i64>().expect("a number"));
        let (zero, started) = (numbers.next().expect("a zero"), numbers.next().expect("a start"));
        clocks.push((zero - truth).abs());
        starts.push((zero + started - truth).abs());
    }
    let mut errors: Vec<i64> = sink.clocks.iter().map(|clock| clock.error_ns as i64).collect();
    println!("{count} agent processes, {} reported", clocks.len());
    println!("  their zero against the true one   {}", spread(&mut clocks));
    println!("  their first operation's, with wake-up {}", spread(&mut starts));
    println!("  the bound that the record gives   {}", spread(&mut errors));
    println!("  joined in {:.2} s, lost {}", told.joined(), told.lost);
}

/// A thousand agents, a million operations.
fn thousand() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut launcher = Processes::new(PROCESSES, None);
    let plan = plan(ALL, "8 s");
    let header = Header {
        seed: plan.seed,
        plan: plan.clone(),
        environment: Environment::Local,
        host: Host::default(),
        version: "bench".to_owned(),
        started: None,
        source: None,
    };
    let recorder = Recorder::create(&folder.path().join("run"), header).expect("a record");
    let mut sink = Counting {
        recorder: Some(recorder),
        ..Counting::default()
    };
    let mut told = Told::default();
    run(&plan, &mut launcher, &mut sink, &mut told);
    let wanted = EACH * (ALL - PROCESSES) as u64;
    let home = sink
        .last
        .zip(sink.first)
        .map_or(0.0, |(last, first)| (last - first).as_secs_f64());
    let mut errors: Vec<i64> = sink.clocks.iter().map(|clock| clock.error_ns as i64).collect();
    println!("{ALL} participants, {PROCESSES} of them processes");
    println!("  joined in {:.2} s, lost {}", told.joined(), told.lost);
    println!("  the bound of their clocks         {}", spread(&mut errors));
    println!(
        "  {} of {wanted} operations home, {home:.2} s from the first to the last on the disk",
        sink.admission_limit
    );
    println!("  the controller's memory at most   {} MB", sink.peak);
    assert_eq!(sink.admission_limit, wanted, "nothing is lost");
}

fn run(plan: &Plan, launcher: &mut Processes, sink: &mut Counting, told: &mut Told) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    netburn_platform::raise_open_files().expect("room for connections");
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    let outcome: Outcome = with_writer(&mut [sink], |rows| {
        let options = Options {
            launcher,
            rows,
            observer: &mut *told,
            stop: stopped,
        };
        runtime.block_on(run_local(plan, options)).expect("a round")
    });
    for (name, reason) in outcome.lost.iter().take(5) {
        println!("  lost: {name}: {reason}");
    }
    told.lost = outcome.lost.len();
}

fn plan(stations: usize, duration: &str) -> Plan {
    let mut text = format!(
        "duration = \"{duration}\"\nbaseline = \"0 s\"\nwarmup = \"0 s\"\ndrain = \"2 s\"\n\
         [workload.tick]\nkind = \"calls\"\nobject_size = \"1 kB\"\ninterval = \"2 s\"\njitter = \"0 s\"\n"
    );
    for number in 0..stations {
        write!(text, "[station.s{number}]\nworkload = \"tick\"\n").expect("text");
    }
    Document::from_toml("scale.toml", &text)
        .expect("a scenario")
        .resolve()
        .expect("a plan")
}

fn median(numbers: &mut [i64]) -> i64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or(0)
}

/// Median, 99th percentile and maximum of numbers in ns.
fn spread(numbers: &mut [i64]) -> String {
    numbers.sort_unstable();
    let at = |share: f64| {
        let place = (numbers.len() as f64 * share).ceil() as usize;
        numbers
            .get(place.saturating_sub(1))
            .map_or(0.0, |nanos| *nanos as f64 / 1e6)
    };
    format!("p50 {:.3} ms, p99 {:.3} ms, max {:.3} ms", at(0.5), at(0.99), at(1.0))
}

/// The first agents are processes; the others are tasks of one more process.
struct Processes {
    processes: usize,
    started: usize,
    witnesses: Option<PathBuf>,
    admission_limit: Option<Arc<Mutex<std::process::Child>>>,
}

impl Processes {
    fn new(processes: usize, witnesses: Option<PathBuf>) -> Processes {
        Processes {
            processes,
            started: 0,
            witnesses,
            admission_limit: None,
        }
    }
}

struct Started(std::process::Child);

impl Child for Started {
    fn id(&self) -> Option<u32> {
        Some(self.0.id())
    }

    fn ended(&mut self) -> Option<String> {
        self.0.try_wait().ok().flatten().map(|status| status.to_string())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One of the simulated agents; their process ends when the last of them is dropped.
struct OfCrowd(Arc<Mutex<std::process::Child>>);

impl Child for OfCrowd {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self) -> Option<String> {
        None
    }

    fn kill(&mut self) {}
}

impl Drop for OfCrowd {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0) <= 2
            && let Ok(mut child) = self.0.lock()
        {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Launcher for Processes {
    fn spawn(&mut self, join: &Join) -> io::Result<Box<dyn Child>> {
        let program = std::env::current_exe()?;
        let join = Join {
            parent: Some(std::process::id()),
            ..join.clone()
        };
        if join.role == Role::Agent {
            self.started += 1;
        }
        if self.started > self.processes {
            if self.admission_limit.is_none() {
                let child = Command::new(&program).arg("crowd").stdin(Stdio::piped()).spawn()?;
                self.admission_limit = Some(Arc::new(Mutex::new(child)));
            }
            let admission_limit = Arc::clone(self.admission_limit.as_ref().expect("just made"));
            if let Some(stdin) = &mut admission_limit.lock().expect("no panic").stdin {
                writeln!(stdin, "{} {} {}", join.name, join.token, join.url)?;
            }
            return Ok(Box::new(OfCrowd(admission_limit)));
        }
        let mut command = Command::new(&program);
        command
            .arg(if join.role == Role::Agent { "agent" } else { "server" })
            .env(netburn_run_control::join::VARIABLE, join.to_text())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if let Some(folder) = &self.witnesses {
            command.env(WITNESS, folder.join(&join.name));
        }
        Ok(Box::new(Started(command.spawn()?)))
    }
}

/// An agent that reports the actual start of its run, on the machine's clock.
fn witness() {
    let join = Join::from_environment().expect("a join");
    if let Some(parent) = join.parent {
        let _ = netburn_platform::die_with_parent(parent);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let path = std::env::var_os(WITNESS).map(PathBuf::from);
    let ended = runtime.block_on(async {
        let channel = Channel::connect(&join.url, MAX_TO_AGENT).await.expect("the controller");
        let manner = AgentOptions {
            shutdown: Default::default(),
            run: String::new(),
            spool: None,
            reconnect_timeout: None,
            policy: Witness(path),
        };
        agent::run(SingleConnection::new(channel), &join, manner).await
    });
    ended.expect("its part");
}

struct Witness(Option<PathBuf>);

impl AgentPolicy for Witness {
    async fn review(&mut self, _: &mut Part) -> Result<Ready, String> {
        Ok(Ready::default())
    }

    fn check(&mut self, rows: &[Row], now: Instant) -> Option<String> {
        let zero = Monotonic::now().as_nanos() - now.as_nanos();
        let first = rows.iter().find_map(|row| match row {
            Row::Operation(row) => Some(row.operation),
            _ => None,
        });
        if let Some(operation) = first
            && let Some(started) = operation.started
            && let Some(path) = self.0.take()
        {
            let late = started.as_nanos() - operation.due.as_nanos();
            std::fs::write(path, format!("{zero} {late}")).expect("room");
        }
        None
    }
}

/// As many agents as there are lines on standard input.
fn admission_limit() {
    let _ = netburn_platform::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (tell, mut joins) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        while let Some(line) = joins.recv().await {
            all.spawn(async move {
                // A failed agent is lost, and the controller reports it.
                let _ = one(&line).await;
            });
        }
        all.join_all().await;
    });
}

/// Messages of an agent that does not measure.
async fn one(line: &str) -> Option<()> {
    let mut words = line.split(' ').map(str::to_owned);
    let (name, token, url) = (words.next()?, words.next()?, words.next()?);
    let station: u16 = name.strip_prefix('s')?.parse().ok()?;
    let clock = time::Instant::now();
    let now = move || clock.elapsed().as_nanos() as i64;
    let mut channel = Channel::connect(&url, MAX_TO_AGENT).await.ok()?;
    let hello = Hello {
        protocol: messages::VERSION,
        role: Role::Agent,
        name,
        token,
        version: "crowd".to_owned(),
        reconnect: false,
    };
    channel.sender.message(&ToController::Hello(hello)).await.ok()?;
    let start = loop {
        let message = channel.receiver.message::<ToAgent>().await.ok()?.ok()?;
        let received = now();
        match message {
            ToAgent::Ping(ping) => {
                let pong = Pong {
                    id: ping.id,
                    received,
                    sent: now(),
                };
                channel.sender.message(&ToController::Pong(pong)).await.ok()?;
            }
            ToAgent::Assign(_) => channel
                .sender
                .message(&ToController::Ready(Ready::default()))
                .await
                .ok()?,
            ToAgent::Start(start) => break start.at,
            _ => {}
        }
    };
    // Heartbeats, and after 8 s everything at once.
    let end = start + 8_000_000_000;
    while now() < end {
        let left = u64::try_from(end - now()).unwrap_or(0);
        tokio::time::sleep(time::Duration::from_nanos(left.min(250_000_000))).await;
        let progress = Progress { at: 0, pending: 0 };
        channel.sender.message(&ToController::Progress(progress)).await.ok()?;
    }
    let mut batch = Batch::default();
    for sequence in 0..EACH {
        let due = Instant::from_nanos(sequence as i64 * 6_400_000);
        let at = |later: u64| Some(due + Duration::from_micros(later));
        batch.push(&Row::Operation(OperationRow {
            station,
            workload: 0,
            operation: Operation {
                sequence,
                due,
                started: at(30),
                connected: None,
                first_byte: at(9_000),
                finished: at(9_500),
                bytes: 16_384,
                outcome: PartEnd::Finished,
                far: None,
                tcp_connected: None,
            },
        }));
    }
    channel
        .sender
        .message(&ToController::Rows(Rows { sequence: 1, batch }))
        .await
        .ok()?;
    let health = Health {
        operations: EACH,
        ..Health::new("", Role::Agent)
    };
    let mut acknowledged = false;
    while !acknowledged {
        let message = channel.receiver.message::<ToAgent>().await.ok()?.ok()?;
        acknowledged = matches!(message, ToAgent::Ack(_));
    }
    channel
        .sender
        .message(&ToController::Health(HealthMessage { health }))
        .await
        .ok()?;
    channel
        .sender
        .message(&ToController::Done(Done::default()))
        .await
        .ok()?;
    loop {
        let message = channel.receiver.message::<ToAgent>().await.ok()?.ok()?;
        let received = now();
        match message {
            ToAgent::Ping(ping) => {
                let pong = Pong {
                    id: ping.id,
                    received,
                    sent: now(),
                };
                channel.sender.message(&ToController::Pong(pong)).await.ok()?;
            }
            ToAgent::Bye(_) => return Some(()),
            _ => {}
        }
    }
}

/// Counts the rows of the simulated agents, and stores all others.
#[derive(Default)]
struct Counting {
    recorder: Option<Recorder>,
    admission_limit: u64,
    first: Option<time::Instant>,
    last: Option<time::Instant>,
    synced: u64,
    clocks: Vec<Clock>,
    peak: u64,
}

impl Sink for Counting {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        match row {
            Row::Operation(row) if usize::from(row.station) >= PROCESSES => {
                self.admission_limit += 1;
                self.first.get_or_insert_with(time::Instant::now);
            }
            Row::Event(event) => {
                if let Detail::Clock(clock) = &event.detail {
                    self.clocks.retain(|before| before.name != clock.name);
                    self.clocks.push((**clock).clone());
                }
            }
            _ => {}
        }
        match &mut self.recorder {
            Some(recorder) => recorder.put(row),
            None => Ok(()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        if let Some(recorder) = &mut self.recorder {
            recorder.sync()?;
        }
        if self.admission_limit > self.synced {
            self.synced = self.admission_limit;
            self.last = Some(time::Instant::now());
        }
        self.peak = peak_mb();
        Ok(())
    }
}

/// Peak memory of this process (proc(5), VmHWM), in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024 / 1_000_000
}

#[derive(Default)]
struct Told {
    phases: Vec<(Phase, time::Instant)>,
    /// Time zero of the run on the machine's clock, at each progress report.
    zeros: Vec<i64>,
    lost: usize,
}

impl Told {
    fn joined(&self) -> f64 {
        let at = |wanted: Phase| {
            self.phases
                .iter()
                .find(|(phase, _)| *phase == wanted)
                .map(|(_, at)| *at)
        };
        let joined = at(Phase::Joining).zip(at(Phase::Clocks));
        joined.map_or(f64::NAN, |(from, to)| (to - from).as_secs_f64())
    }
}

impl ProgressObserver for Told {
    fn phase(&mut self, phase: Phase, _: Duration) {
        self.phases.push((phase, time::Instant::now()));
    }

    fn tick(&mut self, now: Instant) {
        self.zeros.push(Monotonic::now().as_nanos() - now.as_nanos());
    }
}
