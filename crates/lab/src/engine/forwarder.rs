//! The forwarding loop.

use super::pacing_schedule::PacingSchedule;
use super::poll_moderator::PollModerator;
use super::{CaptureBatch, EngineCommand, EngineStart, Port, SharedStatus};
use crate::device::ReadFrame;
use crate::egress::Egress;
use crate::lateness::ForwarderStats;
use crate::observe::Sampler;
use crate::packet::RejectReason;
use crate::refused_connections::{RefusalReply, RefusedConnection};
use crate::switch::Switch;
use netburn_lab_kernel::poller::{Poller, set_realtime_priority};
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_network::Endpoint;
use netburn_platform::clock::suspended;
use netburn_platform::cpu::{self, MachineTimes, ThreadId};
use netburn_platform::{Monotonic, set_timer_slack};
use netburn_record::self_check::standstill_limit;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Time before an event at which the thread starts to spin. A sleeping thread is scheduled again within about 50 µs.
const SPIN: Duration = Duration::from_micros(50);
/// Typical scheduling latency of a sleeping thread.
const WAKE_UP_LATENCY: Duration = Duration::from_micros(25);
/// Deliveries within this time after another delivery are made together, like the interrupt coalescing of a network
/// card.
const COALESCE: Duration = Duration::from_micros(40);
/// Interval at which the status is published.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);
/// SCHED_FIFO priority: below the kernel's timer and interrupt threads, above all normal processes.
const PRIORITY: i32 = 10;
/// Maximum number of frames read from one device before the next device is read.
const MAX_FRAMES_PER_READ: usize = 64;
/// Maximum time for which frames are read before due packets are delivered.
const READ_LIMIT: Duration = Duration::from_micros(100);
/// Size of the frame buffer: a 64 KiB packet and its headers.
const FRAME_BUFFER: usize = 66 * 1024;
/// Maximum number of standstills that become events of the record.
const MAX_STANDSTILLS: u32 = 50;
/// Maximum number of rows that are kept until they are fetched. The oldest are discarded first.
const MAX_ROWS: usize = 200_000;

pub(super) struct Forwarder {
    ports: Vec<Port>,
    wait: Poller,
    wake_reader: UnixStream,
    commands: Receiver<EngineCommand>,
    running: Option<Running>,
    sampler: Sampler,
    status: Arc<Mutex<SharedStatus>>,
    buffer: Vec<u8>,
    work: ForwarderStats,
    /// Minimum length of a standstill that becomes an event of the record.
    standstill: Duration,
    /// Number of further standstills that may become events.
    standstills_left: u32,
    /// Frames dropped on the lab's side because a receive buffer was full.
    overrun: u64,
    moderator: PollModerator,
}

struct Running {
    switch: Switch,
    zero: Monotonic,
    tick: Instant,
    pacing_schedule: PacingSchedule,
    /// Time of the last delivery.
    delivered: Instant,
    drops_before: u64,
    since: Monotonic,
    cpu: Duration,
    machine: MachineTimes,
    /// Time for which the machine had been suspended before the start.
    suspended: Duration,
    captures: Option<Sender<CaptureBatch>>,
    refusals: Option<Sender<RefusedConnection>>,
}

impl Running {
    /// Sends captured packets to the capture writer.
    fn send_captured(&mut self) {
        let Some(captures) = &self.captures else { return };
        let network = self.switch.network_mut();
        let air = std::iter::from_fn(|| network.poll_transmission())
            .map(|(_, transmission)| transmission)
            .collect();
        // The capture writer has ended and has reported the reason.
        if captures.send((self.switch.take_captured(), air)).is_err() {
            self.captures = None;
        }
    }

    /// Returns the network's current time.
    fn now(&self) -> Instant {
        Instant::from_nanos(Monotonic::now().as_nanos() - self.zero.as_nanos())
    }

    /// Converts a time of the network to a clock reading.
    fn when(&self, at: Instant) -> Monotonic {
        Monotonic::from_nanos(at.as_nanos().saturating_add(self.zero.as_nanos()))
    }
}

/// Token of the wake-up pipe. Ports use the tokens from 0.
const WAKE_TOKEN: u32 = u32::MAX - 1;

impl Forwarder {
    pub(super) fn new(
        ports: Vec<Port>,
        plan: &Plan,
        commands: Receiver<EngineCommand>,
        wake_reader: UnixStream,
        status: Arc<Mutex<SharedStatus>>,
    ) -> io::Result<Forwarder> {
        let wait = Poller::new()?;
        for (port, number) in ports.iter().zip(0..) {
            wait.add(&port.device, number)?;
        }
        wait.add(&wake_reader, WAKE_TOKEN)?;
        Ok(Forwarder {
            ports,
            wait,
            wake_reader,
            commands,
            running: None,
            sampler: Sampler::new(plan),
            status,
            buffer: vec![0; FRAME_BUFFER],
            work: ForwarderStats::default(),
            standstill: standstill_limit(plan),
            standstills_left: MAX_STANDSTILLS,
            overrun: 0,
            moderator: PollModerator::new(Monotonic::now()),
        })
    }

    pub(super) fn status(&self) -> MutexGuard<'_, SharedStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn run(&mut self) -> io::Result<()> {
        set_timer_slack(1)?;
        self.work.real_time = set_realtime_priority(PRIORITY).is_ok();
        let (mut ready, mut done) = (Vec::new(), false);
        loop {
            let now = Monotonic::now();
            // Kernels answer deliveries at once, and send granted packets at once. Poll again without sleeping.
            let until = if done { Some(now) } else { self.due() };
            if let Some(until) = until
                && self.moderator.is_loaded()
                && until > now
            {
                self.wait.sleep(until)?;
            }
            self.wait.wait(until, &mut ready)?;
            self.check_standstill();
            let (mut frames, mut delivered_at) = (0, Monotonic::now());
            done = false;
            for number in &ready {
                if *number == WAKE_TOKEN {
                    if !self.run_commands() {
                        return Ok(());
                    }
                } else {
                    frames += self.read(*number as usize)?;
                }
                if Monotonic::now() >= delivered_at + READ_LIMIT {
                    done |= self.deliver_due()?;
                    delivered_at = Monotonic::now();
                }
            }
            self.moderator.on_poll(Monotonic::now(), frames);
            done |= self.deliver_due()?;
            self.resume()?;
        }
    }

    /// Checks for how long the thread did not run.
    fn check_standstill(&mut self) {
        let Some(running) = &self.running else { return };
        let now = running.now();
        let late = self.work.standstills.handle_poll(now);
        let Some(late) = late.filter(|late| *late > self.standstill) else {
            return;
        };
        tracing::info!(%late, "the forwarding thread did not run");
        if self.standstills_left > 0 {
            self.standstills_left -= 1;
            super::lock(&self.status).stood_still(now, late);
        }
    }

    /// Returns the time until which to sleep.
    fn due(&mut self) -> Option<Monotonic> {
        let loaded = self.moderator.is_loaded();
        let running = self.running.as_mut()?;
        let tick = running.when(running.tick);
        let bound = running.switch.next_delivery_bound();
        let look = self.work.standstills.next_poll();
        let mut latest = look.map_or(tick, |look| running.when(look).min(tick));
        if loaded {
            let soonest = running.switch.network().earliest_delivery(running.now());
            let soonest = bound.map_or(soonest, |first| soonest.min(first.at));
            latest = latest.min(self.moderator.next(running.when(soonest)));
        }
        let Some(DeliveryBound { at, what }) = bound else {
            return Some(latest);
        };
        // Deliveries soon after another delivery are coalesced with it.
        let coalesced = running.delivered + COALESCE;
        let wake = match what {
            // The next poll is early enough.
            Expected::Possible | Expected::Unlikely if loaded => return Some(latest),
            _ if at < coalesced => coalesced,
            Expected::Delivery if loaded => at - WAKE_UP_LATENCY,
            Expected::Delivery | Expected::Possible => at - SPIN,
            Expected::Unlikely => at + COALESCE,
        };
        Some(running.when(wake).min(latest))
    }

    /// Runs pending commands. Returns `false` after [`EngineCommand::Stop`].
    fn run_commands(&mut self) -> bool {
        let mut bytes = [0; 64];
        while (&self.wake_reader)
            .read(&mut bytes)
            .is_ok_and(|read| read == bytes.len())
        {}
        while let Ok(order) = self.commands.try_recv() {
            match order {
                EngineCommand::Stop => {
                    if let Some(running) = &mut self.running {
                        running.send_captured();
                        let now = running.now();
                        self.publish(now, true);
                    }
                    return false;
                }
                EngineCommand::Set(setting) => {
                    if let Some(running) = &mut self.running {
                        let now = running.now();
                        running.switch.network_mut().set(now, &setting);
                    }
                }
                EngineCommand::Reply(connection, reply) => {
                    if let Some(running) = &mut self.running {
                        let now = running.now();
                        running.switch.handle_reply(now, connection, reply);
                    }
                }
                EngineCommand::Start(start) => self.start(*start),
            }
        }
        true
    }

    fn start(&mut self, start: EngineStart) {
        let EngineStart {
            switch,
            zero,
            captures,
            refusals,
        } = start;
        let mut running = Running {
            switch,
            zero,
            tick: Instant::ZERO,
            pacing_schedule: PacingSchedule::new(Instant::ZERO, self.ports.len() - 1),
            delivered: Instant::from_nanos(i64::MIN / 2),
            drops_before: self.drops(),
            since: Monotonic::now(),
            cpu: ThreadId::current().time().unwrap_or_default(),
            machine: cpu::machine().unwrap_or_default(),
            suspended: suspended(),
            captures,
            refusals,
        };
        if running.refusals.is_some() {
            running.switch.intercept_refused_connections();
        }
        if running.captures.is_some() {
            running.switch.enable_capture();
            running.switch.network_mut().trace();
        }
        let now = running.now();
        tracing::info!(real_time = self.work.real_time, "forwarding has started");
        running.switch.handle_timeout(now);
        // Status times are multiples of 100 ms of the network's time.
        let tick = REPORT_INTERVAL.as_nanos() as i64;
        running.tick = Instant::from_nanos((now.as_nanos().div_euclid(tick) + 1) * tick);
        self.sampler.begin(running.switch.network());
        self.running = Some(running);
    }

    /// Reads the frames that a node's kernel has sent, as many as the switch can accept, and for [`READ_LIMIT`] at
    /// most. Returns their number.
    fn read(&mut self, number: usize) -> io::Result<u32> {
        let until = Monotonic::now() + READ_LIMIT;
        let port = &mut self.ports[number];
        let mut frames = 0;
        for _ in 0..MAX_FRAMES_PER_READ {
            if Monotonic::now() >= until {
                break;
            }
            if let (Some(running), Egress::PauseReading { paused, .. }) = (&self.running, &mut port.egress)
                && !running.switch.can_accept(port.end)
            {
                self.wait.pause(&port.device, number as u32)?;
                *paused = true;
                break;
            }
            let taken = match port.device.read(&mut self.buffer) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    // A program removed its node's device. Only this node is affected.
                    tracing::debug!(%error, end = ?port.end, "can't read a device");
                    self.wait.remove(&port.device)?;
                    let at = self.running.as_ref().map_or(Instant::ZERO, Running::now);
                    super::lock(&self.status).lose(port.end, at, &error);
                    break;
                }
            };
            frames += 1;
            // Frames are discarded until the network has started.
            let Some(running) = &mut self.running else { continue };
            match taken {
                ReadFrame::Packet(length) => {
                    let frame = &self.buffer[..length];
                    if frame.get(19) == Some(&253) && length == 30 {
                        running.switch.handle_wakeup_packet(port.end);
                        continue;
                    }
                    let now = running.now();
                    running.switch.handle_frame(now, port.end, frame);
                }
                ReadFrame::Other(length) => running.switch.handle_rejected(port.end, RejectReason::NotIp, length),
                ReadFrame::Unreadable => running.switch.handle_rejected(port.end, RejectReason::Malformed, 0),
            }
        }
        Ok(frames)
    }

    /// Resumes reading from ports that can send again.
    fn resume(&mut self) -> io::Result<()> {
        let Some(running) = &self.running else { return Ok(()) };
        for (port, number) in self.ports.iter_mut().zip(0..) {
            if let Egress::PauseReading { paused, .. } = &mut port.egress
                && *paused
                && running.switch.can_accept(port.end)
            {
                *paused = false;
                self.wait.resume(&port.device, number)?;
            }
        }
        Ok(())
    }

    /// Advances the network to the current time, delivers due packets, issues grants and publishes the status. Returns
    /// whether a packet was delivered or a grant issued.
    fn deliver_due(&mut self) -> io::Result<bool> {
        let Some(running) = &mut self.running else {
            return Ok(false);
        };
        let (now, mut done) = (running.now(), false);
        running.switch.handle_timeout(now);
        let zero = running.zero.as_nanos();
        while let Some(delivery) = running.switch.poll_delivery() {
            (running.delivered, done) = (now, true);
            let number = match delivery.to {
                Endpoint::Server => 0,
                Endpoint::Station(station) => usize::from(station) + 1,
            };
            let late = Monotonic::now().as_nanos() - zero - delivery.at.as_nanos();
            self.work
                .lateness
                .record(Duration::from_nanos(late.max(0).unsigned_abs()));
            match self.ports[number].device.write(delivery.frame) {
                Ok(()) => {}
                // The interface is down or was removed. The packet is lost, as on a real host.
                Err(error) => {
                    tracing::debug!(%error, to = ?delivery.to, "can't deliver a frame");
                    self.work.write_errors += 1;
                }
            }
        }
        if let Some(refusals) = &running.refusals {
            while let Some(connection) = running.switch.poll_refused_connection() {
                if refusals.send(connection).is_err() {
                    // The receiver of refused connections has been dropped.
                    running.switch.handle_reply(now, connection, RefusalReply::Reject);
                }
            }
        }
        while let Some((station, bytes)) = running.switch.poll_grant() {
            let port = &mut self.ports[usize::from(station) + 1];
            done |= port.egress.grant(port.end, &mut port.route, port.index, bytes)?;
        }
        if now >= running.tick {
            running.tick += REPORT_INTERVAL;
            if now > running.tick {
                let tick = REPORT_INTERVAL.as_nanos() as i64;
                running.tick = Instant::from_nanos((now.as_nanos().div_euclid(tick) + 1) * tick);
            }
            running.send_captured();
            let second = 1_000_000_000;
            let whole = now.as_nanos() / second != (now.as_nanos() - REPORT_INTERVAL.as_nanos() as i64) / second;
            self.publish(now, whole);
        }
        self.sample_pacing(now);
        Ok(done)
    }

    /// Samples the pacing rates of one station's sending connections, if due.
    fn sample_pacing(&mut self, now: Instant) {
        let Some(running) = &mut self.running else { return };
        while let Some(station) = running.switch.poll_new_sender() {
            running.pacing_schedule.handle_new_sender(now, station);
        }
        let Some(station) = running.pacing_schedule.poll(now) else {
            return;
        };
        let active_flows = running.switch.take_senders(station);
        let pacing = self.ports[usize::from(station) + 1].egress.pacing(active_flows);
        running.switch.update_send_budget(now, station, &pacing);
    }

    /// Publishes the status. With `whole`, also the values that are expensive to collect.
    fn publish(&mut self, now: Instant, whole: bool) {
        let drops = whole.then(|| self.drops());
        let Some(running) = &mut self.running else { return };
        let mut rows = Vec::new();
        let stations = self.sampler.sample(now, running.switch.network_mut(), &mut rows);
        let span = Monotonic::now().saturating_since(running.since);
        let cpu = ThreadId::current()
            .time()
            .unwrap_or_default()
            .saturating_sub(running.cpu);
        if let Some(drops) = drops {
            self.work.ring_drops = drops.saturating_sub(running.drops_before);
            let machine = cpu::machine().unwrap_or_default().since(&running.machine);
            self.work.machine_busy = machine.busy_share();
            self.work.steal = machine.steal_share();
            self.work.suspended = suspended().saturating_sub(running.suspended);
        }
        self.work.cpu = cpu.as_nanos() as f64 / span.as_nanos().max(1) as f64;
        self.work.span = span;
        let counters = running.switch.counters().clone();
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.rows.extend(rows);
        if status.rows.len() > MAX_ROWS {
            let beyond = status.rows.len() - MAX_ROWS;
            status.rows.drain(..beyond);
        }
        status.counters = counters;
        status.stations = stations;
        status.now = Some(now);
        if whole || status.health.lateness_count == 0 {
            status.health = self.work.report();
        }
    }

    /// Returns the packets that kernels dropped before the lab could read them. Reports replaced qdiscs.
    fn drops(&mut self) -> u64 {
        let mut dropped = 0;
        let mut replaced = Vec::new();
        for port in &mut self.ports {
            self.overrun += port.device.dropped();
            let Ok((counters, qdisc)) = port.route.counters_and_qdisc(port.index) else {
                continue;
            };
            // Drops in a token bucket are overload of the sender, and the sender is informed of them.
            dropped += counters.sent_dropped;
            replaced.extend(port.egress.check_qdisc(&qdisc).map(|warning| (Some(port.end), warning)));
        }
        if !replaced.is_empty() {
            self.status().warnings.extend(replaced);
        }
        dropped + self.overrun
    }
}
