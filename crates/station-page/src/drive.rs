//! The workloads of one phase, with their requests and datagrams.

use crate::event::{Command, Failure};
use crate::lanes::{Lanes, Waited};
use crate::load::Load;
use crate::resume::{Progress, resume};
use netburn_driver::datagram::call::{CallClient, EarlyPackets};
use netburn_driver::datagram::{DatagramMachine, Event, Prober};
use netburn_driver::{Arrival, DriveReport, SavedReport, Scheduler};
use netburn_record::{EventKind, EventRow, OperationRow, RecordedWorkload, Row};
use netburn_units::{ByteSize, Duration, Instant, Seed};
use netburn_workload::{
    Action, Connection, Direction, Failure as RequestFailure, Priority, Request, RequestId, Workload,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A timer that is later than this was suspended by the browser or the device.
const SUSPENDED: Duration = Duration::from_secs(1);

/// Workloads, and the requests and datagrams of a page for them.
pub(crate) struct Drive {
    pub(crate) loads: Vec<Load>,
    scheduler: Scheduler,
    progress: Vec<Progress>,
    clients: Vec<Option<Client>>,
    /// True for workloads that ended because there is no data channel.
    pub(crate) unconnected: Vec<bool>,
    /// Longest time for which a request of each workload waited for connections that others used.
    waited: Vec<Duration>,
    requests: BTreeMap<u64, Transfer>,
    numbers: BTreeMap<(usize, RequestId), u64>,
    /// Number of the next request.
    next: u64,
    lanes: Lanes,
    commands: Vec<Command>,
    rows: Vec<Row>,
    has_ended: bool,
}

#[derive(Debug, Clone, Copy)]
struct Transfer {
    load: usize,
    id: RequestId,
    direction: Direction,
}

/// Client side of a workload's datagrams.
enum Client {
    Probe(Box<Prober>),
    Call {
        client: Box<CallClient>,
        early: Box<EarlyPackets>,
        /// Arrivals that are not within the processing of the current input.
        arrivals: VecDeque<(RequestId, Arrival)>,
        is_video: bool,
    },
}

/// State of a drive that is interrupted by a reload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedDrive {
    /// Time of the state, in ns since the start of the run.
    at: i64,
    progress: Vec<Progress>,
    report: SavedReport,
}

impl Drive {
    /// Creates the workloads. Numbers of requests begin at `next`.
    pub(crate) fn new(loads: Vec<Load>, seed: Seed, next: u64, now: Instant, saved: Option<SavedDrive>) -> Self {
        let count = loads.len();
        let saved = saved.filter(|saved| saved.progress.len() == count);
        let mut progress = match &saved {
            Some(saved) => saved.progress.clone(),
            None => vec![Progress::default(); count],
        };
        let mut interrupted = Vec::new();
        let mut machines = Vec::with_capacity(count);
        for (load, progress) in loads.iter().zip(&mut progress) {
            progress.has_queue = load.config.has_queue();
            let (station, workload) = (load.station, load.workload);
            let machine = match &saved {
                Some(saved) => {
                    let saved_at = Instant::from_nanos(saved.at);
                    let (machine, ended) = resume(load, seed, progress, saved_at, now);
                    interrupted.extend(ended.into_iter().map(|operation| OperationRow {
                        station,
                        workload,
                        operation,
                    }));
                    machine
                }
                None => {
                    let (start, end) = (load.start, load.end);
                    Workload::new(load.config.clone(), start, end, load.settle, seed, load.index())
                }
            };
            machines.push(match progress.stall_from {
                Some(from) => RecordedWorkload::resumed(station, workload, machine, Instant::from_nanos(from)),
                None => RecordedWorkload::new(station, workload, machine),
            });
        }
        let mut scheduler = Scheduler::new(machines);
        if let Some(saved) = saved {
            scheduler.restore(saved.report);
        }
        let mut drive = Drive {
            loads,
            progress,
            scheduler,
            clients: (0..count).map(|_| None).collect(),
            unconnected: vec![false; count],
            waited: vec![Duration::ZERO; count],
            requests: BTreeMap::new(),
            numbers: BTreeMap::new(),
            next,
            lanes: Lanes::default(),
            commands: Vec::new(),
            rows: Vec::new(),
            has_ended: false,
        };
        for row in interrupted {
            drive.rows.push(Row::Operation(row));
            drive.scheduler.handle_interrupted(row.operation.outcome);
        }
        drive
    }

    /// Creates the clients of datagrams. `random` are unpredictable numbers. Without a channel, the workloads that need one
    /// end.
    pub(crate) fn open(&mut self, now: Instant, channel: bool, mut random: impl FnMut() -> u64) {
        for load in 0..self.loads.len() {
            let config = self.loads[load].config.clone();
            if !config.kind().is_datagram() {
                continue;
            }
            if !channel {
                self.unconnected[load] = true;
                self.warn(
                    load,
                    now,
                    Duration::ZERO,
                    "ended: the data channel of the browser is closed".to_owned(),
                );
                self.scheduler.handle_unavailable(load, now);
            } else if config.kind().is_probe() {
                let prober = Prober::new(now, random()).marked(config.marking().dscp);
                self.clients[load] = Some(Client::Probe(Box::new(prober.sharing_address())));
            } else if let Some(plan) = self.scheduler.call_plan(load) {
                self.clients[load] = Some(Client::Call {
                    client: Box::new(CallClient::new(now, random(), random(), plan).sharing_address()),
                    early: Box::new(EarlyPackets::new(plan)),
                    arrivals: VecDeque::new(),
                    is_video: plan.video.is_some(),
                });
            }
        }
        self.handle_timeout(now);
    }

    /// Handles everything that is due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.check_suspension(now);
        self.scheduler.handle_timeout(now);
        for client in self.clients.iter_mut().flatten() {
            match client {
                Client::Probe(prober) if prober.poll_timeout() <= now => prober.handle_timeout(now),
                Client::Call { client, .. } if client.poll_timeout() <= now => client.handle_timeout(now),
                Client::Probe(_) | Client::Call { .. } => {}
            }
        }
        self.settle(now);
    }

    /// A datagram arrived. All clients share the data channel.
    pub(crate) fn handle_datagram(&mut self, now: Instant, bytes: &[u8]) {
        self.check_suspension(now);
        for load in 0..self.clients.len() {
            match &mut self.clients[load] {
                Some(Client::Probe(prober)) => {
                    prober.handle_datagram(now, None, bytes);
                    while let Some(event) = prober.poll_event() {
                        let Event::Echo { id, far, .. } = event else { continue };
                        let id = RequestId {
                            operation: id,
                            object: 0,
                        };
                        self.scheduler
                            .handle(load, now, |machine| machine.handle_reply(now, id, Some(far)));
                    }
                }
                Some(Client::Call {
                    client,
                    early,
                    arrivals,
                    ..
                }) => {
                    client.handle_datagram(now, None, bytes);
                    while let Some(event) = client.poll_event() {
                        let ended = early.handle_event(now, event);
                        arrivals.extend(ended.map(|(id, _, arrival)| (id, arrival)));
                    }
                }
                None => {}
            }
        }
        self.settle(now);
    }

    /// `count` datagrams could not be sent, so they count as missed.
    pub(crate) fn handle_unsent(&mut self, count: u64) {
        (0..count).for_each(|_| self.scheduler.handle_unsent());
    }

    /// Passes an event of a request to its workload.
    fn handle_request(&mut self, now: Instant, number: u64, input: impl FnOnce(&mut Workload, RequestId)) {
        self.check_suspension(now);
        if let Some(&Transfer { load, id, .. }) = self.requests.get(&number) {
            self.scheduler.handle(load, now, |machine| input(machine, id));
        }
        self.settle(now);
    }

    /// A connection was established for a request at `at`.
    pub(crate) fn handle_connected(&mut self, now: Instant, request: u64, at: Instant) {
        self.handle_request(now, request, |machine, id| machine.handle_connected_at(now, id, at));
    }

    /// Content of a request moved.
    pub(crate) fn handle_bytes(&mut self, now: Instant, request: u64, bytes: u64) {
        self.check_suspension(now);
        if let Some(&Transfer { load, id, direction }) = self.requests.get(&request) {
            self.progress[load].handle_bytes(now, id.operation, bytes);
            self.scheduler.handle_bytes(load, now, id, direction, bytes);
        }
        self.settle(now);
    }

    /// A request is complete.
    pub(crate) fn handle_finished(&mut self, now: Instant, request: u64) {
        self.release(now, request);
        self.handle_request(now, request, |machine, id| machine.handle_finished(now, id));
        self.forget(request);
    }

    /// A request failed.
    pub(crate) fn handle_failed(&mut self, now: Instant, request: u64, failure: Failure) {
        let failure = match failure {
            Failure::Dial => RequestFailure::Dial,
            Failure::Connection => RequestFailure::Connection,
            Failure::Answer => RequestFailure::Answer,
        };
        self.release(now, request);
        self.handle_request(now, request, |machine, id| machine.handle_failed(now, id, failure));
        self.forget(request);
    }

    /// Ends all operations.
    pub(crate) fn handle_stop(&mut self, now: Instant) {
        self.scheduler.handle_stop(now);
        self.settle(now);
    }

    /// Aborts all requests without results.
    pub(crate) fn abandon(&mut self) -> Vec<Command> {
        self.has_ended = true;
        self.clients.iter_mut().for_each(|client| *client = None);
        let requests = std::mem::take(&mut self.requests);
        let aborted = requests.into_keys().map(|request| Command::Cancel { request });
        self.take_commands().into_iter().chain(aborted).collect()
    }

    /// Returns true once all workloads have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Number of the next request.
    pub(crate) fn next_request(&self) -> u64 {
        self.next
    }

    /// Returns the commands since the last call.
    pub(crate) fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    /// Returns the next datagram to send.
    pub(crate) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.clients.iter_mut().flatten().find_map(|client| match client {
            Client::Probe(prober) => prober.poll_transmit(),
            Client::Call { client, .. } => client.poll_transmit(),
        })
    }

    /// Returns the time of the next [`handle_timeout`](Self::handle_timeout); `None` after the end.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.has_ended {
            return None;
        }
        let clients = self.clients.iter().flatten().map(|client| match client {
            Client::Probe(prober) => prober.poll_timeout(),
            Client::Call { client, .. } => client.poll_timeout(),
        });
        clients.chain(self.scheduler.poll_timeout()).min()
    }

    /// Returns the rows since the last call.
    pub(crate) fn take_rows(&mut self, now: Instant) -> Vec<Row> {
        let rows = self.scheduler.take_rows(now);
        self.put(rows);
        std::mem::take(&mut self.rows)
    }

    /// Returns the statistics of the driver. Call it after the end.
    pub(crate) fn report(&self) -> DriveReport {
        self.scheduler.report()
    }

    /// Returns the state of a drive that a reload interrupts. Call it after [`take_rows`](Self::take_rows).
    pub(crate) fn save(&self, now: Instant) -> SavedDrive {
        let mut progress = self.progress.clone();
        for (load, progress) in progress.iter_mut().enumerate() {
            progress.stall_from = self.scheduler.stall_from(load, now).map(Instant::as_nanos);
        }
        SavedDrive {
            at: now.as_nanos(),
            progress,
            report: self.scheduler.save(),
        }
    }

    /// Returns the machine of a workload.
    pub(crate) fn machine(&self, load: usize) -> &Workload {
        self.scheduler.machine(load)
    }

    /// Adds rows of the scheduler, with the numbers of operations in the run.
    fn put(&mut self, mut rows: Vec<Row>) {
        for row in &mut rows {
            if let Row::Operation(row) = row
                && let Some(load) = self.load_of(row.station, row.workload)
            {
                self.progress[load].end(&mut row.operation);
            }
        }
        self.rows.append(&mut rows);
    }

    fn load_of(&self, station: u16, workload: u16) -> Option<usize> {
        let mut loads = self.loads.iter();
        loads.position(|load| (load.station, load.workload) == (station, workload))
    }

    fn warn(&mut self, load: usize, at: Instant, length: Duration, text: String) {
        let load = &self.loads[load];
        self.rows.push(Row::Event(EventRow {
            station: Some(load.station),
            workload: Some(load.workload),
            at,
            length: length.as_nanos(),
            kind: EventKind::Warning,
            detail: text.into(),
        }));
    }

    /// Reports workloads that could not act for a long time, once: afterwards all of them have acted.
    fn check_suspension(&mut self, now: Instant) {
        let mut is_late = false;
        for load in 0..self.loads.len() {
            let due = self.scheduler.machine(load).poll_timeout();
            let late = due.and_then(|(at, _)| Some((at, now.checked_since(at)?)));
            if let Some((at, late)) = late.filter(|(_, late)| *late > SUSPENDED) {
                let text = "the browser suspended the page, or the device was asleep";
                self.warn(load, at, late, text.to_owned());
                is_late = true;
            }
        }
        if is_late {
            self.scheduler.handle_timeout(now);
        }
    }

    /// Executes actions until none is left, and detects the end.
    fn settle(&mut self, now: Instant) {
        if self.has_ended {
            return;
        }
        loop {
            while let Some((load, action)) = self.scheduler.poll_action() {
                self.act(now, load, action);
            }
            if !self.take_arrivals(now) {
                break;
            }
        }
        self.end_bulk_after_load(now);
        while let Some((load, action)) = self.scheduler.poll_action() {
            self.act(now, load, action);
        }
        if self.scheduler.is_settled() {
            self.has_ended = true;
            let rest = self.scheduler.take_rest();
            self.put(rest);
            self.clients.iter_mut().for_each(|client| *client = None);
            for load in 0..self.loads.len() {
                let waited = self.waited[load];
                if !waited.is_zero() {
                    let text = format!(
                        "requests waited for up to {} ms for connections that other workloads of the page used",
                        (waited.as_nanos() as f64 / 1e6).round()
                    );
                    self.warn(load, now, Duration::ZERO, text);
                }
            }
        }
    }

    fn act(&mut self, now: Instant, load: usize, action: Action) {
        match action {
            Action::Begin(request) => self.begin(now, load, &request),
            Action::Cancel(id) => {
                if let Some(&request) = self.numbers.get(&(load, id)) {
                    self.release(now, request);
                    self.forget(request);
                    self.commands.push(Command::Cancel { request });
                }
            }
            Action::Send { id, due, size } => {
                self.progress[load].begin(now, id.operation, due);
                match &mut self.clients[load] {
                    Some(Client::Probe(prober)) => prober.probe(now, id.operation, size),
                    _ => self.scheduler.handle_unsent(),
                }
            }
            Action::SendOneWay { id, due, direction, .. } => {
                self.progress[load].begin(now, id.operation, due);
                self.send_one_way(now, load, id, direction);
            }
        }
    }

    /// Sends a packet of the page. The server sends those of the other direction by itself.
    fn send_one_way(&mut self, now: Instant, load: usize, id: RequestId, direction: Direction) {
        let number = u32::try_from(id.operation / 2).unwrap_or(u32::MAX);
        match (&mut self.clients[load], direction) {
            (Some(Client::Call { client, is_video, .. }), Direction::Up) => {
                if *is_video {
                    client.send_frame(now, number);
                } else {
                    client.send(number);
                }
            }
            (Some(Client::Call { early, arrivals, .. }), Direction::Down) => {
                arrivals.extend(early.take(number).map(|arrival| (id, arrival)));
            }
            (_, Direction::Up) => self.scheduler.handle_unsent(),
            (_, Direction::Down) => {}
        }
    }

    /// Passes arrivals of packets to their workloads. Returns false if there were none.
    fn take_arrivals(&mut self, now: Instant) -> bool {
        let mut any = false;
        for load in 0..self.clients.len() {
            while let Some(Client::Call { arrivals, .. }) = &mut self.clients[load]
                && let Some((id, arrival)) = arrivals.pop_front()
            {
                any = true;
                let direction = Direction::of_packet(id.operation);
                self.scheduler.handle_arrival(load, now, id, direction, arrival);
            }
        }
        any
    }

    fn begin(&mut self, now: Instant, load: usize, request: &Request) {
        let number = self.next;
        self.next += 1;
        let Request {
            id,
            due,
            direction,
            size,
            ..
        } = *request;
        self.progress[load].begin(now, id.operation, due);
        self.requests.insert(number, Transfer { load, id, direction });
        self.numbers.insert((load, id), number);
        let config = &self.loads[load];
        self.lanes.begin(now, config.lane, number, load);
        self.commands.push(Command::Begin {
            request: number,
            lane: config.lane,
            up: direction == Direction::Up,
            path: path(config, request, number),
            size: size.as_bytes(),
            priority: priority(config.config.priority),
        });
    }

    /// Frees the browser's connection of a request.
    fn release(&mut self, now: Instant, request: u64) {
        for Waited { owner, wait } in self.lanes.end(now, request) {
            self.scheduler.handle_wait(wait);
            self.waited[owner] = self.waited[owner].max(wait);
        }
    }

    fn forget(&mut self, request: u64) {
        if let Some(Transfer { load, id, .. }) = self.requests.remove(&request) {
            self.numbers.remove(&(load, id));
        }
    }

    /// Ends the bulk transfers after the load as soon as all other operations have ended. Nothing is measured with their load
    /// any more, and the device may pay for its data volume.
    fn end_bulk_after_load(&mut self, now: Instant) {
        let active: Vec<usize> = (0..self.loads.len())
            .filter(|load| !self.scheduler.machine(*load).is_settled())
            .collect();
        let over = |load: &usize| {
            let machine = self.scheduler.machine(*load);
            machine.config().kind().is_bulk && machine.end_of_load() <= now
        };
        if active.iter().all(over) {
            for load in active {
                self.scheduler.handle_unavailable(load, now);
            }
        }
    }
}

/// Path and query of a request. A request asks the server to use its DSCP and congestion control in the response. The server
/// counts bytes by station, so that its counts can be compared with those of the page.
fn path(load: &Load, request: &Request, number: u64) -> String {
    let mut parameters = Vec::new();
    let size = request.size;
    let resource = match request.direction {
        // A browser caches the result of a CORS preflight by URL. The URL of uploads is therefore constant.
        Direction::Up => "/sink".to_owned(),
        Direction::Down => {
            parameters.push(format!("n={number}"));
            format!("/bytes/{}", ByteSize::as_bytes(size))
        }
    };
    let dscp = request.marking.dscp;
    parameters.extend((dscp != 0).then(|| format!("dscp={dscp}")));
    parameters.extend(load.cc.as_ref().map(|cc| format!("cc={cc}")));
    parameters.extend((request.connection == Connection::New).then(|| "close".to_owned()));
    parameters.push(format!("station={}", load.station));
    format!("{resource}?{}", parameters.join("&"))
}

/// Fetch priority of a traffic class.
fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::Background => "low",
        Priority::BestEffort => "auto",
        Priority::Video | Priority::Voice => "high",
    }
}
