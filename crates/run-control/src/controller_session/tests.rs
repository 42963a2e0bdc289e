//! Agents that lose their connection, their process or their controller during a run, with real traffic on
//! loopback.

use super::dial::{Dial, Reconnecting};
use crate::agent::{self, AcceptAll, AgentOptions, PartEnd};
use crate::controller::{Controller, Expected, RunIo, Setup, Timeouts};
use crate::error::{AgentError, ConnectionError, ControllerError};
use crate::join::Join;
use crate::progress::{Outcome, ProgressObserver};
use crate::row_queue::row_queue;
use crate::server;
use crate::spool::{self, SpoolFolder, SpoolHeader, Writer};
use netburn_protocol::token::Token;
use netburn_record::{Detail, EventKind, EventRow, Health, LossCause, Role, Row, Sink};
use netburn_scenario::{Document, Plan};
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::sync::{oneshot, watch};

/// Calls of each station, 8 s long. An agent rejects a start that is past, and the baseline is the time for it to arrive.
fn plan(stations: &[&str]) -> Plan {
    let mut text = "duration = \"8 s\"\nbaseline = \"2 s\"\nwarmup = \"0 s\"\ndrain = \"1 s\"\n".to_owned();
    for station in stations {
        text.push_str(&format!("[station.{station}]\nworkload = \"voip\"\n"));
    }
    Document::from_toml("test.toml", &text).unwrap().resolve().unwrap()
}

#[derive(Default)]
struct Memory(Vec<Row>);

impl Sink for Memory {
    fn put(&mut self, row: &Row) -> io::Result<()> {
        self.0.push(row.clone());
        Ok(())
    }
}

impl Memory {
    fn calls(&self, of: u16) -> Vec<u64> {
        let calls = self.0.iter().filter_map(|row| match row {
            Row::Operation(row) if row.station == of && row.workload == 0 => Some(row.operation.sequence),
            _ => None,
        });
        calls.collect()
    }

    fn events(&self, kind: EventKind) -> Vec<&EventRow> {
        let events = self.0.iter().filter_map(|row| match row {
            Row::Event(event) if event.kind == kind => Some(event),
            _ => None,
        });
        events.collect()
    }
}

/// Executes actions at given run times, one in each report of the run time.
#[derive(Default)]
struct Acts(Vec<(Instant, Box<dyn FnOnce()>)>);

impl ProgressObserver for Acts {
    fn tick(&mut self, now: Instant) {
        if self.0.first().is_some_and(|(at, _)| *at <= now) {
            let (_, act) = self.0.remove(0);
            act();
        }
    }
}

/// A network between an agent and its controller that can be cut, and may be slow.
struct Between {
    address: SocketAddr,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

impl Between {
    /// Forwards to `controller`, with a maximum rate in bytes per second in each direction.
    fn new(controller: SocketAddr, rate: Option<usize>) -> Between {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let streams = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&streams);
        // Ends with the process: no agent connects after the end of a test.
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect(controller) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || carry(from, to, rate));
                }
                all.lock().unwrap().extend([near, far]);
            }
        });
        Between { address, streams }
    }

    fn url(&self) -> String {
        format!("ws://{}/", self.address)
    }
}

fn cut(streams: &Mutex<Vec<TcpStream>>) {
    for stream in streams.lock().unwrap().drain(..) {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, rate: Option<usize>) {
    let mut bytes = vec![0; rate.map_or(1 << 16, |rate| rate / 50)];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if let Some(rate) = rate {
            std::thread::sleep(std::time::Duration::from_secs_f64(count as f64 / rate as f64));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn join(url: &str, role: Role, name: &str) -> Join {
    Join {
        url: url.to_owned(),
        token: "t".to_owned(),
        role,
        name: name.to_owned(),
        parent: None,
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
        fleet: None,
    }
}

type Life = JoinHandle<Result<PartEnd, AgentError>>;

/// As long as a busy machine needs for a new connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent of a fleet in a thread; it is killed when its `death` arrives.
fn agent(url: String, name: &'static str, folder: &SpoolFolder, death: Option<oneshot::Receiver<()>>) -> Life {
    agent_that_waits(PATIENCE, url, name, folder, death)
}

/// The same with the time after which it gives up its controller.
fn agent_that_waits(
    patience: Duration,
    url: String,
    name: &'static str,
    folder: &SpoolFolder,
    death: Option<oneshot::Receiver<()>>,
) -> Life {
    let folder = folder.clone();
    std::thread::spawn(move || {
        let join = join(&url, Role::Agent, name);
        let options = AgentOptions {
            shutdown: Default::default(),
            run: "r".to_owned(),
            spool: Some(folder),
            reconnect_timeout: Some(patience),
            policy: AcceptAll,
        };
        let living = agent::run(Reconnecting::new(&join), &join, options);
        block_on(async {
            tokio::select! {
                ended = living => ended,
                () = come(death) => Err(AgentError::ControllerLost(ConnectionError::SessionEnded)),
            }
        })
    })
}

/// Waits until `what` is sent; forever without a sender.
async fn come(what: Option<oneshot::Receiver<()>>) {
    match what {
        Some(what) => what.await.unwrap(),
        None => std::future::pending().await,
    }
}

/// Runs a coordinator with a server, until the end of the run or of `until`.
async fn hold(
    controller: Controller,
    plan: &Plan,
    memory: &mut Memory,
    acts: &mut Acts,
    until: Option<oneshot::Receiver<()>>,
) -> Option<Result<Outcome, ControllerError>> {
    let url = format!("ws://{}/", controller.address().unwrap());
    let serving = std::thread::spawn(move || {
        let join = join(&url, Role::Server, "server");
        block_on(server::run(
            Reconnecting::new(&join),
            &join,
            None,
            super::ShutdownSignal::default(),
        ))
    });
    let expected = |name: &str, role: Role, stations: Vec<u16>| Expected {
        name: name.to_owned(),
        role,
        token: Token::known("t"),
        stations,
        datagrams: false,
        device: Default::default(),
    };
    let mut all = vec![expected("server", Role::Server, vec![])];
    all.extend(
        plan.stations
            .iter()
            .zip(0..)
            .map(|(station, number)| expected(&station.name, Role::Agent, vec![number])),
    );
    let setup = Setup {
        plan: plan.clone(),
        document: plan.to_json(),
        rate: BitRate::from_mbps(100),
        expected: all,
        timeouts: Timeouts::for_fleet(PATIENCE),
    };
    let (_keep, stop) = watch::channel(false);
    let (rows, writer) = row_queue();
    let mut sink = std::mem::take(memory);
    let writing = std::thread::spawn(move || {
        writer.run(&mut [&mut sink]);
        sink
    });
    let io = RunIo {
        rows,
        observer: acts,
        stop,
        children: &mut [],
    };
    let outcome = tokio::select! {
        outcome = controller.run(setup, io) => Some(outcome),
        () = come(until) => None,
    };
    // The queue was dropped with the run.
    *memory = writing.join().unwrap();
    // Non-blocking, because this thread closes the connections that the run dropped.
    let served = tokio::task::spawn_blocking(move || serving.join().unwrap())
        .await
        .unwrap();
    // Without its controller the server gives up.
    assert_eq!(served.is_ok(), outcome.is_some(), "{served:?}");
    outcome
}

async fn listening() -> (Controller, SocketAddr) {
    let controller = Controller::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .await
        .unwrap();
    let address = controller.address().unwrap();
    (controller, address)
}

/// Each operation once, from the first to the last.
fn whole(calls: &[u64]) {
    let all: BTreeSet<u64> = calls.iter().copied().collect();
    assert_eq!(all.len(), calls.len(), "none twice: {calls:?}");
    assert_eq!(
        all.last().map_or(0, |last| last + 1),
        all.len() as u64,
        "none is missing: {calls:?}"
    );
}

#[test]
fn a_connection_that_is_cut_costs_no_row() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path().join("spool"));
    let plan = plan(&["phone"]);
    let (mut memory, mut acts) = (Memory::default(), Acts::default());
    block_on(async {
        let (controller, address) = listening().await;
        let between = Between::new(address, None);
        let phone = agent(between.url(), "phone", &folder, None);
        for ms in [1000, 4500] {
            let streams = Arc::clone(&between.streams);
            acts.0.push((Instant::from_millis(ms), Box::new(move || cut(&streams))));
        }
        let outcome = hold(controller, &plan, &mut memory, &mut acts, None)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(outcome.lost, []);
        assert_eq!(outcome.health.len(), 2);
        assert_eq!(phone.join().unwrap().unwrap(), PartEnd::Delivered);
    });
    let calls = memory.calls(0);
    whole(&calls);
    assert!(
        (60..=62).contains(&calls.len()),
        "one every 131 ms in 8 s: {}",
        calls.len()
    );
    let away = memory.events(EventKind::Warning);
    assert_eq!(
        away.iter()
            .filter(|event| event.detail.text().contains("phone was disconnected for"))
            .count(),
        2,
        "{away:?}"
    );
    assert_eq!(spool::pending(&folder), []);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_agent_without_controller_finishes_and_keeps_its_results() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path().join("spool"));
    let plan = plan(&["phone"]);
    let (mut memory, mut acts) = (Memory::default(), Acts::default());
    let phone = block_on(async {
        let (controller, address) = listening().await;
        let url = format!("ws://{address}/");
        let phone = agent_that_waits(Duration::from_secs(1), url, "phone", &folder, None);
        let (end, until) = oneshot::channel();
        acts.0
            .push((Instant::from_millis(1500), Box::new(move || end.send(()).unwrap())));
        let held = hold(controller, &plan, &mut memory, &mut acts, Some(until));
        assert!(held.await.is_none());
        phone
    });
    assert_eq!(phone.join().unwrap().unwrap(), PartEnd::Spooled);
    let waiting = spool::pending(&folder);
    assert_eq!((waiting.len(), &*waiting[0].run, &*waiting[0].name), (1, "r", "phone"));
    let mut late = spool::SpoolReader::open(&folder, "r", 1).unwrap();
    let mut kept = Memory::default();
    while let Some(message) = late.next().unwrap() {
        kept.0
            .extend(message.batch.into_rows(|station| station == 0, false).unwrap());
    }
    let calls = kept.calls(0);
    whole(&calls);
    // The server ended with the run: later operations failed, and are recorded.
    assert!((60..=62).contains(&calls.len()), "{}", calls.len());
    assert!(calls.len() > memory.calls(0).len());
    assert!(late.end().error.is_none() && late.end().health.is_some());
}

#[test]
fn a_restarted_agent_delivers_its_spool() {
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path().join("spool"));
    let plan = plan(&["phone", "tv"]);
    let (mut memory, mut acts) = (Memory::default(), Acts::default());
    let again = Arc::new(Mutex::new(None));
    block_on(async {
        let (controller, address) = listening().await;
        let url = format!("ws://{address}/");
        let (die, death) = oneshot::channel();
        let phone = agent(url.clone(), "phone", &folder, Some(death));
        acts.0
            .push((Instant::from_millis(2000), Box::new(move || die.send(()).unwrap())));
        let tv = agent(url.clone(), "tv", &SpoolFolder::new(dir.path().join("other")), None);
        let (folder, place) = (folder.clone(), Arc::clone(&again));
        let restart = move || *place.lock().unwrap() = Some(agent(url, "phone", &folder, None));
        acts.0.push((Instant::from_millis(3800), Box::new(restart)));
        let outcome = hold(controller, &plan, &mut memory, &mut acts, None)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(outcome.lost.len(), 1, "{:?}", outcome.lost);
        assert_eq!(outcome.lost[0].1.cause, LossCause::PartFailed, "{:?}", outcome.lost);
        assert!(outcome.lost[0].1.detail.contains("started again"), "{:?}", outcome.lost);
        assert!(phone.join().unwrap().is_err());
        assert_eq!(tv.join().unwrap().unwrap(), PartEnd::Delivered);
    });
    let again = again.lock().unwrap().take().unwrap();
    assert_eq!(again.join().unwrap().unwrap(), PartEnd::Delivered);
    whole(&memory.calls(0));
    assert!(!memory.calls(0).is_empty() && memory.calls(0).len() < 60);
    whole(&memory.calls(1));
    assert_eq!(spool::pending(&folder), []);
}

#[test]
fn agents_on_a_slow_link_deliver_all_rows() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(&["near", "far"]);
    let (mut memory, mut acts) = (Memory::default(), Acts::default());
    block_on(async {
        let (controller, address) = listening().await;
        let between = Between::new(address, Some(20_000));
        let near = agent(
            format!("ws://{address}/"),
            "near",
            &SpoolFolder::new(dir.path().join("near")),
            None,
        );
        let far = agent(between.url(), "far", &SpoolFolder::new(dir.path().join("far")), None);
        let outcome = hold(controller, &plan, &mut memory, &mut acts, None)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(outcome.lost, []);
        for life in [near, far] {
            assert_eq!(life.join().unwrap().unwrap(), PartEnd::Delivered);
        }
    });
    for station in [0, 1] {
        whole(&memory.calls(station));
        assert!((60..=62).contains(&memory.calls(station).len()));
    }
    let health: Vec<Health> = memory
        .events(EventKind::Health)
        .iter()
        .filter_map(|event| match &event.detail {
            Detail::Health(report) => Some((**report).clone()),
            _ => None,
        })
        .collect();
    assert_eq!(health.len(), 3);
}

#[test]
fn without_a_disk_results_are_kept_in_memory_and_this_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    // A file at the path of the folder.
    std::fs::write(dir.path().join("file"), "").unwrap();
    let folder = SpoolFolder::new(dir.path().join("file"));
    let plan = plan(&["phone"]);
    let (mut memory, mut acts) = (Memory::default(), Acts::default());
    block_on(async {
        let (controller, address) = listening().await;
        let between = Between::new(address, None);
        let phone = agent(between.url(), "phone", &folder, None);
        let streams = Arc::clone(&between.streams);
        acts.0
            .push((Instant::from_millis(1500), Box::new(move || cut(&streams))));
        let outcome = hold(controller, &plan, &mut memory, &mut acts, None)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(outcome.lost, []);
        assert_eq!(phone.join().unwrap().unwrap(), PartEnd::Delivered);
    });
    whole(&memory.calls(0));
    let said = memory.events(EventKind::Warning);
    assert_eq!(
        said.iter()
            .filter(|event| event.detail.text().contains("they are kept in memory"))
            .count(),
        1,
        "{said:?}"
    );
}

/// An unanswered connection attempt is given up, before the start and after the end.
#[test]
fn reconnecting_is_limited_in_time() {
    struct NoController;
    impl Dial for NoController {
        async fn dial(&mut self) -> Result<netburn_protocol::transport::Channel, ConnectionError> {
            Err(ConnectionError::Unreachable("no listener".into()))
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let folder = SpoolFolder::new(dir.path());
    let about = SpoolHeader {
        run: "r".to_owned(),
        name: "a".to_owned(),
        stations: vec![],
        proof: String::new(),
    };
    drop(Writer::create(&folder, &about, netburn_protocol::messages::Start { at: 0 }).unwrap());
    let options = || AgentOptions {
        shutdown: Default::default(),
        run: "r".to_owned(),
        spool: Some(folder.clone()),
        reconnect_timeout: Some(Duration::from_millis(300)),
        policy: AcceptAll,
    };
    let join = join("ws://127.0.0.1:1/", Role::Agent, "a");
    let ended = block_on(agent::run(NoController, &join, options()));
    assert_eq!(ended.unwrap(), PartEnd::Spooled);
    assert_eq!(spool::pending(&folder).len(), 1);
    spool::remove(&folder, "r").unwrap();
    assert!(block_on(agent::run(NoController, &join, options())).is_err());
}
