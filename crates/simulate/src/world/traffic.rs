//! Execution of the workloads' actions: connections, requests, responses.

use super::clients::Client;
use super::connection::{Connection, Host};
use super::exchange::{CLIENT_FINISHED, CLIENT_HELLO, Exchange, PREFACE, SERVER_HELLO, SERVER_PREFACE, Stage};
use super::lane::{CONNECTION, Key, Lane};
use super::payload::End;
use super::unsent::UnsentLimit;
use super::video::VideoCall;
use super::{Numbered, World};
use netburn_network::Endpoint as Place;
use netburn_tcp::{Endpoint, EndpointConfig, Event};
use netburn_units::earlier;
use netburn_workload::responsiveness::LOAD_FRAME;
use netburn_workload::{Action, Connection as Wanted, Failure, Kind, Request, RequestId};

impl World {
    /// Executes a workload's actions and takes its results.
    pub(super) fn take_actions(&mut self, client: usize) {
        while let Some(action) = self.clients[client].recorded.machine_mut().poll_action() {
            match action {
                Action::Begin(request) => self.begin(client, &request),
                Action::Send { id, size, .. } => self.send_probe(client, id, size),
                Action::SendOneWay { id, direction, .. } if self.clients[client].video.is_some() => {
                    self.send_frame(client, id, direction);
                }
                Action::SendOneWay {
                    id, size, direction, ..
                } => self.send_one_way(client, id, size, direction),
                Action::Cancel(id) => self.cancel(client, id),
            }
        }
        let Client { recorded, video, .. } = &mut self.clients[client];
        recorded.take_rows(&mut self.rows);
        let next = recorded.machine().poll_timeout().map(|(at, _)| at);
        let of_video = video.as_ref().and_then(VideoCall::next);
        self.clients_due.set(client, earlier(next, of_video));
    }

    fn begin(&mut self, client: usize, request: &Request) {
        let kept = match request.connection {
            Wanted::New => None,
            // HTTP/2: the requests of a workload share one persistent connection. Each stream of a bulk transfer, and each
            // load connection, has its own.
            Wanted::Kept(_) if self.server.framing.most > 1 && !self.kind(client).has_own_connections => Some(0),
            Wanted::Kept(number) => Some(number),
        };
        let open = kept.and_then(|number| self.clients[client].kept.get(&number).copied());
        let slot = open.unwrap_or_else(|| self.dial(client, kept, request));
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let key = connection.next;
        connection.next += 1;
        let content = request.size.as_bytes();
        let exchange = Exchange::new(connection.framing, key, request.id, request.direction, content);
        connection.exchanges.push(exchange);
        self.clients[client].requests.insert(request.id, slot);
        self.send_requests(slot);
    }

    fn kind(&self, client: usize) -> &'static Kind {
        self.clients[client].recorded.machine().config().kind()
    }

    /// Opens a connection.
    fn dial(&mut self, client: usize, kept: Option<u32>, request: &Request) -> usize {
        let station = self.clients[client].recorded.station();
        let serial = self.numbered.len() as u32;
        let own = self.clients[client].cc.as_ref();
        let random = |config: &EndpointConfig| EndpointConfig {
            random: u64::from(serial).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            congestion: own.unwrap_or(&config.congestion).clone(),
            ..config.clone()
        };
        let client_config = random(&self.stations[usize::from(station)]);
        let server_config = match self.clients[client].peer {
            Place::Server => random(&self.server.endpoint),
            Place::Station(peer) => random(&self.stations[usize::from(peer)]),
        };
        // Connections with load have self probes, which wait behind what is buffered.
        let has_probes = kept.is_some() && self.kind(client).has_self_probes;
        let framing = if has_probes {
            self.server.framing.with_frames(LOAD_FRAME.into())
        } else {
            self.server.framing
        };
        let unsent = has_probes.then(UnsentLimit::default);
        let modelled = "the plan was checked: every congestion control in it is modelled";
        let connection = Connection {
            serial,
            client,
            station,
            marking: request.marking,
            framing,
            kept,
            stage: Stage::Dialling,
            exchanges: Vec::new(),
            next: 0,
            server_hello_sent: false,
            ends: [
                Host::new(
                    Endpoint::connect(&client_config, self.now).expect(modelled),
                    Lane::new(framing.turn(), true),
                    unsent.clone(),
                ),
                Host::new(
                    Endpoint::listen(&server_config, self.now).expect(modelled),
                    Lane::new(framing.turn(), false),
                    unsent,
                ),
            ],
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        self.connections[slot] = Some(connection);
        self.numbered.push(Numbered {
            slot: slot as u32,
            dscp: request.marking.dscp,
        });
        self.counters.connections += 1;
        if let Some(number) = kept {
            self.clients[client].kept.insert(number, slot);
        }
        self.mark_ready(slot, End::Client);
        slot
    }

    /// Sends the requests that may be sent on a connection.
    fn send_requests(&mut self, slot: usize) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some(exchange) = connection.next_request()
        {
            exchange.requested = true;
            let (key, bytes) = (exchange.key, exchange.request());
            self.write(slot, End::Client, key, bytes);
        }
    }

    /// Writes data of the application at one end; data without room in TCP is queued.
    fn write(&mut self, slot: usize, end: End, key: Key, bytes: u64) {
        let now = self.now;
        if let Some(connection) = &mut self.connections[slot] {
            let host = connection.host(end);
            host.lane.push(key, bytes);
            host.pump(now);
            self.mark_ready(slot, end);
        }
    }

    /// Sends the segments of an endpoint and processes its events.
    pub(super) fn service(&mut self, slot: usize, end: End) {
        let mut may_send = true;
        loop {
            let Some(connection) = &mut self.connections[slot] else {
                return;
            };
            let endpoint = connection.host(end).endpoint_at(self.now);
            if may_send && let Some(transmit) = endpoint.poll_transmit(self.now) {
                self.transmit(slot, end, &transmit);
            } else if let Some(event) = endpoint.poll_event() {
                self.handle_event(slot, end, event);
                // Most events of this kind cause no new data: then the endpoint has nothing more to
                // send than before.
                may_send = match event {
                    Event::Received(_) | Event::Acknowledged(_) => self.ready.has(slot, end),
                    _ => true,
                };
            } else if connection.host(end).pump_unsent(self.now) {
                may_send = true;
            } else {
                break;
            }
        }
        if let Some(connection) = &mut self.connections[slot] {
            let host = connection.host(end);
            let (due, wakes_at) = (host.endpoint.poll_timeout().map(|(at, _)| at), host.wakes_at());
            let over = connection.is_over();
            self.set_timer(slot, end, due);
            if end == End::Server {
                self.freed_due.set(slot, wakes_at);
            }
            if over {
                self.remove(slot);
            }
        }
    }

    fn handle_event(&mut self, slot: usize, end: End, event: Event) {
        let now = self.now;
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let host = connection.host(end);
        match event {
            Event::Received(bytes) => host.received = bytes,
            Event::Acknowledged(bytes) => host.acknowledged = bytes,
            Event::Writable => host.pump(now),
            // The peer has finished, so this end finishes too.
            Event::Finished => host.endpoint.finish(now),
            Event::Closed | Event::Failed(_) => host.ended = true,
            Event::Connected => {}
        }
        match (end, event) {
            (End::Client, Event::Connected) => self.connected(slot),
            (End::Client, Event::Received(received)) => self.take_responses(slot, received),
            (End::Client, Event::Acknowledged(acknowledged)) => self.take_acknowledged(slot, acknowledged),
            (End::Client, Event::Failed(_) | Event::Closed) => self.handle_closed(slot),
            (End::Server, Event::Received(received)) => self.take_requests(slot, received),
            _ => {}
        }
    }

    /// Continues after the station's TCP handshake.
    fn connected(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let client = connection.client;
        if self.clients[client]
            .recorded
            .machine()
            .config()
            .kind()
            .has_handshake_times
        {
            let machine = self.clients[client].recorded.machine_mut();
            for exchange in &connection.exchanges {
                machine.handle_tcp_connected(self.now, exchange.id);
            }
        }
        if self.server.tls {
            connection.stage = Stage::Securing;
            self.write(slot, End::Client, CONNECTION, CLIENT_HELLO);
        } else {
            self.open(slot);
        }
    }

    /// Starts requests on an open connection.
    fn open(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        connection.stage = Stage::Open;
        let client = connection.client;
        let waiting: Vec<RequestId> = connection.exchanges.iter().map(|exchange| exchange.id).collect();
        if waiting.is_empty() {
            return;
        }
        if self.server.framing.most > 1 {
            self.write(slot, End::Client, CONNECTION, PREFACE);
        }
        for id in waiting {
            self.clients[client]
                .recorded
                .machine_mut()
                .handle_connected(self.now, id);
        }
        self.send_requests(slot);
        self.take_actions(client);
    }

    /// Processes data received by the server.
    fn take_requests(&mut self, slot: usize, received: u64) {
        while let Some(connection) = &mut self.connections[slot]
            && let Some((key, bytes)) = connection.host(End::Client).lane.receive(received)
        {
            if key == CONNECTION {
                if connection.stage == Stage::Securing && received >= CLIENT_HELLO && !connection.server_hello_sent {
                    connection.server_hello_sent = true;
                    self.write(slot, End::Server, CONNECTION, SERVER_HELLO);
                }
                continue;
            }
            let response = connection.exchange(key).and_then(|exchange| exchange.handle_up(bytes));
            let Some(bytes) = response else { continue };
            if key == 0 && self.server.framing.most > 1 {
                self.write(slot, End::Server, CONNECTION, SERVER_PREFACE);
            }
            self.write(slot, End::Server, key, bytes);
        }
    }

    /// Processes data received by the station.
    fn take_responses(&mut self, slot: usize, received: u64) {
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

    /// Processes data of the station that the server acknowledged.
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

    /// Reports the progress of an exchange to its workload.
    fn progress(&mut self, slot: usize, key: Key) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let client = connection.client;
        let Some(exchange) = connection.exchange(key) else {
            return;
        };
        let (id, direction) = (exchange.id, exchange.direction);
        let (moved, finished) = (exchange.moved(), exchange.is_finished());
        if moved > 0 {
            let recorded = &mut self.clients[client].recorded;
            recorded.handle_bytes(self.now, id, direction, moved, &mut self.rows);
        }
        if finished {
            connection.remove(key);
            if connection.kept.is_none() {
                connection.host(End::Client).endpoint.finish(self.now);
                self.mark_ready(slot, End::Client);
            }
            self.clients[client].requests.remove(&id);
            self.send_requests(slot);
            self.clients[client]
                .recorded
                .machine_mut()
                .handle_finished(self.now, id);
        }
        if moved > 0 || finished {
            self.take_actions(client);
        }
    }

    /// Ends a connection at the station's end.
    fn handle_closed(&mut self, slot: usize) {
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let client = connection.client;
        let why = match connection.stage {
            Stage::Dialling => Failure::Dial,
            Stage::Securing | Stage::Open => Failure::Connection,
        };
        let kept = connection.kept;
        let in_flight = std::mem::take(&mut connection.exchanges);
        if let Some(number) = kept.filter(|number| self.clients[client].kept.get(number) == Some(&slot)) {
            self.clients[client].kept.remove(&number);
        }
        for exchange in &in_flight {
            self.clients[client].requests.remove(&exchange.id);
            let machine = self.clients[client].recorded.machine_mut();
            machine.handle_failed(self.now, exchange.id, why);
        }
        if !in_flight.is_empty() {
            self.take_actions(client);
        }
    }

    /// Cancels a request of a workload: closes its connection, unless others share it (RST_STREAM,
    /// RFC 9113 section 6.4).
    fn cancel(&mut self, client: usize, id: RequestId) {
        let Some(slot) = self.clients[client].requests.remove(&id) else {
            return;
        };
        let Some(connection) = &mut self.connections[slot] else {
            return;
        };
        let exchange = connection.exchanges.iter().find(|exchange| exchange.id == id);
        let key = exchange.map(|exchange| exchange.key);
        if let Some(key) = key {
            connection.remove(key);
            for end in End::BOTH {
                connection.host(end).lane.discard(key);
            }
        }
        if self.server.framing.most > 1 && connection.kept.is_some() && connection.stage == Stage::Open {
            self.send_requests(slot);
            return;
        }
        if let Some(number) = connection.kept {
            self.clients[client].kept.remove(&number);
        }
        connection.host(End::Client).endpoint.abort(self.now);
        // Without an answer to the SYN there is no peer.
        if connection.stage == Stage::Dialling {
            connection.host(End::Server).endpoint.abort(self.now);
            self.mark_ready(slot, End::Server);
        }
        self.mark_ready(slot, End::Client);
    }

    /// Removes a connection whose ends have both ended.
    fn remove(&mut self, slot: usize) {
        for end in End::BOTH {
            self.set_timer(slot, end, None);
        }
        self.freed_due.set(slot, None);
        if let Some(connection) = self.connections[slot].take() {
            let kept = &mut self.clients[connection.client].kept;
            if let Some(number) = connection.kept.filter(|number| kept.get(number) == Some(&slot)) {
                kept.remove(&number);
            }
            self.free.push(slot);
        }
    }
}
