//! What workloads ask for, and what comes of it: connections, requests, answers.

use super::World;
use super::connection::{Connection, Host};
use super::exchange::{CLIENT_FINISHED, CLIENT_HELLO, Exchange, PREFACE, SERVER_HELLO, SERVER_PREFACE, Stage};
use super::lane::{CONNECTION, Key, Lane};
use super::load::{End, tid};
use netburn_tcp::{Endpoint, EndpointConfig, Event};
use netburn_workload::{Action, Connection as Wanted, Failure, Request, RequestId};

impl World {
    /// Does what a workload asks for, and takes what it has to say.
    pub(super) fn take_actions(&mut self, user: usize) {
        while let Some(action) = self.users[user].watched.machine_mut().poll_action() {
            match action {
                Action::Begin(request) => self.begin(user, &request),
                Action::Send { id, size, .. } => self.send_probe(user, id, size),
                Action::Cancel(id) => self.cancel(user, id),
            }
        }
        let watched = &mut self.users[user].watched;
        watched.take_rows(&mut self.rows);
        self.users_due
            .set(user, watched.machine().poll_timeout().map(|(at, _)| at));
    }

    fn begin(&mut self, user: usize, request: &Request) {
        let kept = match request.connection {
            Wanted::New => None,
            // HTTP/2: all that a workload keeps shares one connection.
            Wanted::Kept(_) if self.framing.most > 1 => Some(0),
            Wanted::Kept(number) => Some(number),
        };
        let open = kept.and_then(|number| self.users[user].kept.get(&number).copied());
        let slot = open.unwrap_or_else(|| self.dial(user, kept, request));
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let key = connection.next;
        connection.next += 1;
        let content = request.size.as_bytes();
        let exchange = Exchange::new(self.framing, key, request.id, request.direction, content);
        connection.exchanges.push(exchange);
        self.users[user].requests.insert(request.id, slot);
        self.ask(slot);
    }

    /// Opens a connection.
    fn dial(&mut self, user: usize, kept: Option<u32>, request: &Request) -> usize {
        let station = self.users[user].watched.station();
        let serial = self.slots.len() as u32;
        let own = self.users[user].cc.as_ref();
        let random = |config: &EndpointConfig| EndpointConfig {
            random: u64::from(serial).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            congestion: own.unwrap_or(&config.congestion).clone(),
            ..config.clone()
        };
        let client = random(&self.stations[usize::from(station)]);
        let server = random(&self.server);
        let modelled = "the plan was checked: every congestion control in it is modelled";
        let connection = Connection {
            serial,
            user,
            station,
            tid: tid(request.priority),
            kept,
            stage: Stage::Dialling,
            exchanges: Vec::new(),
            next: 0,
            greeted: false,
            ends: [
                Host::new(
                    Endpoint::connect(&client, self.now).expect(modelled),
                    Lane::new(self.framing.turn(), true),
                ),
                Host::new(
                    Endpoint::listen(&server, self.now).expect(modelled),
                    Lane::new(self.framing.turn(), false),
                ),
            ],
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.is_restless.push([false; 2]);
            self.connections.len() - 1
        });
        self.connections[slot] = Some(connection);
        self.slots.push(slot as u32);
        self.counted.connections += 1;
        if let Some(number) = kept {
            self.users[user].kept.insert(number, slot);
        }
        self.unrest(slot, End::Client);
        slot
    }

    /// Sends the requests that may go on a connection.
    fn ask(&mut self, slot: usize) {
        let framing = self.framing;
        while let Some(connection) = &mut self.connections[slot]
            && let Some(exchange) = connection.next_to_ask(framing)
        {
            exchange.asked = true;
            let (key, bytes) = (exchange.key, exchange.request());
            self.write(slot, End::Client, key, bytes);
        }
    }

    /// The application at one end hands over bytes; what there is no room for waits.
    fn write(&mut self, slot: usize, end: End, key: Key, bytes: u64) {
        let now = self.now;
        if let Some(connection) = &mut self.connections[slot] {
            let host = connection.host(end);
            host.lane.push(key, bytes);
            host.pump(now);
            self.unrest(slot, end);
        }
    }

    /// An endpoint sends what it can and tells what there is to tell.
    pub(super) fn serve(&mut self, slot: usize, end: End) {
        let mut may_send = true;
        loop {
            let Some(connection) = &mut self.connections[slot] else {
                return;
            };
            let endpoint = &mut connection.host(end).endpoint;
            if may_send && let Some(transmit) = endpoint.poll_transmit(self.now) {
                self.transmit(slot, end, &transmit);
            } else if let Some(event) = endpoint.poll_event() {
                self.told(slot, end, event);
                // Most that it tells of moves nobody to write: then it has no more to send than before.
                may_send = match event {
                    Event::Received(_) | Event::Acknowledged(_) => self.is_restless[slot][end.index()],
                    _ => true,
                };
            } else {
                break;
            }
        }
        if let Some(connection) = &mut self.connections[slot] {
            let due = connection.host(end).endpoint.poll_timeout().map(|(at, _)| at);
            let over = connection.is_over();
            self.set_timer(slot, end, due);
            if over {
                self.remove(slot);
            }
        }
    }

    fn told(&mut self, slot: usize, end: End, event: Event) {
        let now = self.now;
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let host = connection.host(end);
        match event {
            Event::Received(bytes) => host.received = bytes,
            Event::Acknowledged(bytes) => host.acknowledged = bytes,
            Event::Writable => host.pump(now),
            // The other end has nothing more to say: nor has this one.
            Event::Finished => host.endpoint.finish(now),
            Event::Closed | Event::Failed(_) => host.ended = true,
            Event::Connected => {}
        }
        match (end, event) {
            (End::Client, Event::Connected) => self.connected(slot),
            (End::Client, Event::Received(received)) => self.take_answers(slot, received),
            (End::Client, Event::Acknowledged(acknowledged)) => self.take_acknowledged(slot, acknowledged),
            (End::Client, Event::Failed(_) | Event::Closed) => self.broken(slot),
            (End::Server, Event::Received(received)) => self.take_requests(slot, received),
            _ => {}
        }
    }

    /// The station's handshake is over.
    fn connected(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        if self.tls {
            connection.stage = Stage::Securing;
            self.write(slot, End::Client, CONNECTION, CLIENT_HELLO);
        } else {
            self.open(slot);
        }
    }

    /// Requests may go.
    fn open(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        connection.stage = Stage::Open;
        let user = connection.user;
        let waiting: Vec<RequestId> = connection.exchanges.iter().map(|exchange| exchange.id).collect();
        if waiting.is_empty() {
            return;
        }
        if self.framing.most > 1 {
            self.write(slot, End::Client, CONNECTION, PREFACE);
        }
        for id in waiting {
            self.users[user].watched.machine_mut().handle_connected(self.now, id);
        }
        self.ask(slot);
        self.take_actions(user);
    }

    /// The server has so much.
    fn take_requests(&mut self, slot: usize, received: u64) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some((key, bytes)) = connection.host(End::Client).lane.receive(received)
        {
            if key == CONNECTION {
                if connection.stage == Stage::Securing && received >= CLIENT_HELLO && !connection.greeted {
                    connection.greeted = true;
                    self.write(slot, End::Server, CONNECTION, SERVER_HELLO);
                }
                continue;
            }
            let answer = connection.exchange(key).and_then(|exchange| exchange.handle_up(bytes));
            let Some(bytes) = answer else { continue };
            if key == 0 && self.framing.most > 1 {
                self.write(slot, End::Server, CONNECTION, SERVER_PREFACE);
            }
            self.write(slot, End::Server, key, bytes);
        }
    }

    /// The station has so much.
    fn take_answers(&mut self, slot: usize, received: u64) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some((key, bytes)) = connection.host(End::Server).lane.receive(received)
        {
            if let Some(exchange) = connection.exchange(key) {
                exchange.handle_down(bytes);
                self.progress(slot, key);
            } else if connection.stage == Stage::Securing && received >= SERVER_HELLO {
                self.write(slot, End::Client, CONNECTION, CLIENT_FINISHED);
                self.open(slot);
            }
        }
    }

    /// So much has left the station for good.
    fn take_acknowledged(&mut self, slot: usize, acknowledged: u64) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some((key, bytes)) = connection.host(End::Client).lane.acknowledge(acknowledged)
        {
            if let Some(exchange) = connection.exchange(key) {
                exchange.handle_acknowledged(bytes);
                self.progress(slot, key);
            }
        }
    }

    /// More of an exchange has come to the station, or left it.
    fn progress(&mut self, slot: usize, key: Key) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let user = connection.user;
        let Some(exchange) = connection.exchange(key) else {
            return;
        };
        let (id, direction) = (exchange.id, exchange.direction);
        let (moved, finished) = (exchange.moved(), exchange.is_finished());
        if moved > 0 {
            let watched = &mut self.users[user].watched;
            watched.handle_bytes(self.now, id, direction, moved, &mut self.rows);
        }
        if finished {
            connection.forget(key);
            if connection.kept.is_none() {
                connection.host(End::Client).endpoint.finish(self.now);
                self.unrest(slot, End::Client);
            }
            self.users[user].requests.remove(&id);
            self.ask(slot);
            self.users[user].watched.machine_mut().handle_finished(self.now, id);
        }
        if moved > 0 || finished {
            self.take_actions(user);
        }
    }

    /// The station's end is over.
    fn broken(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let user = connection.user;
        let why = match connection.stage {
            Stage::Dialling => Failure::Dial,
            Stage::Securing | Stage::Open => Failure::Connection,
        };
        let kept = connection.kept;
        let under_way = std::mem::take(&mut connection.exchanges);
        if let Some(number) = kept.filter(|number| self.users[user].kept.get(number) == Some(&slot)) {
            self.users[user].kept.remove(&number);
        }
        for exchange in &under_way {
            self.users[user].requests.remove(&exchange.id);
            let machine = self.users[user].watched.machine_mut();
            machine.handle_failed(self.now, exchange.id, why);
        }
        if !under_way.is_empty() {
            self.take_actions(user);
        }
    }

    /// A workload gives a request up: its connection is closed, but for one that others share (RST_STREAM, RFC 9113 section 6.4).
    fn cancel(&mut self, user: usize, id: RequestId) {
        let Some(slot) = self.users[user].requests.remove(&id) else {
            return;
        };
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let exchange = connection.exchanges.iter().find(|exchange| exchange.id == id);
        let key = exchange.map(|exchange| exchange.key);
        if let Some(key) = key {
            connection.forget(key);
            for end in End::BOTH {
                connection.host(end).lane.forget(key);
            }
        }
        if self.framing.most > 1 && connection.kept.is_some() && connection.stage == Stage::Open {
            self.ask(slot);
            return;
        }
        if let Some(number) = connection.kept {
            self.users[user].kept.remove(&number);
        }
        connection.host(End::Client).endpoint.abort(self.now);
        // A SYN that was never answered leaves nobody at the other end.
        if connection.stage == Stage::Dialling {
            connection.host(End::Server).endpoint.abort(self.now);
            self.unrest(slot, End::Server);
        }
        self.unrest(slot, End::Client);
    }

    /// Both ends are over.
    fn remove(&mut self, slot: usize) {
        for end in End::BOTH {
            self.set_timer(slot, end, None);
        }
        if let Some(connection) = self.connections[slot].take() {
            let kept = &mut self.users[connection.user].kept;
            if let Some(number) = connection.kept.filter(|number| kept.get(number) == Some(&slot)) {
                kept.remove(&number);
            }
            self.free.push(slot);
        }
    }
}
