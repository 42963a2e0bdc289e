//! Connections that the server's kernel refuses.

use crate::common::{Running, helper, plan, start};
use netburn_lab::{Lab, ProcessExit, RefusalReply, RefusedConnection, StartOptions};
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

fn open() -> (Lab, Receiver<RefusedConnection>, String) {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = Lab::open(&plan, helper()).unwrap();
    let (tell, refusals) = channel();
    let begin = StartOptions {
        refusals: Some(tell),
        ..StartOptions::default()
    };
    lab.start_with(Monotonic::now(), begin).unwrap();
    (lab, refusals, plan.stations[0].name.clone())
}

/// Connects to a port of the server and prints what the server sends.
fn ask(lab: &Lab, station: &str, port: u16, v6: bool) -> Running {
    let family = if v6 { "AF_INET6" } else { "AF_INET" };
    let script = format!(
        "import socket\ns = socket.socket(socket.{family})\ntry:\n s.connect(('server', {port})); print(s.recv(99).decode())\n\
         except ConnectionRefusedError: print('refused')"
    );
    start(lab, station, &["python3", "-c", &script])
}

/// Listens at a port of the server and sends the port's number to clients.
fn listener(lab: &Lab, port: u16) -> Running {
    let script = format!(
        "import socket\ns = socket.create_server(('::', {port}), family=socket.AF_INET6, dualstack_ipv6=True)\nprint('up', flush=True)\n\
         while True:\n c, a = s.accept(); c.sendall(b'{port}'); c.close()"
    );
    let mut listener = start(lab, "server", &["python3", "-c", &script]);
    assert_eq!(listener.line(), "up");
    listener
}

fn said(running: Running) -> String {
    let (ended, text) = running.text();
    assert_eq!(ended, ProcessExit::Status(0));
    text.trim().to_owned()
}

#[test]
fn a_refused_connection_is_reported_with_its_program_and_redirected() {
    let (lab, refusals, station) = open();
    let _other = listener(&lab, 20_000);
    for v6 in [false, true] {
        let asking = ask(&lab, &station, 5_000, v6);
        let connection = refusals.recv_timeout(PATIENCE).unwrap();
        assert_eq!((connection.station, connection.port), (0, 5_000));
        assert_eq!(lab.client_program(connection).as_deref(), Some("python3"));
        lab.reply(connection, RefusalReply::Reject);
        assert_eq!(said(asking), "refused");
        assert_eq!(lab.client_program(connection), None);
    }
    let asking = ask(&lab, &station, 5_000, false);
    let connection = refusals.recv_timeout(PATIENCE).unwrap();
    lab.reply(connection, RefusalReply::Redirect(20_000));
    assert_eq!(said(asking), "20000");
    // Further connections of the station are redirected, also over IPv6; those of other stations are not.
    assert_eq!(said(ask(&lab, &station, 5_000, true)), "20000");
    let other = lab.names()[1].to_owned();
    let asking = ask(&lab, &other, 5_000, false);
    let connection = refusals.recv_timeout(PATIENCE).unwrap();
    assert_eq!((connection.station, connection.port), (1, 5_000));
    // A server at the original port has precedence as soon as it listens.
    assert!(!lab.listens(Endpoint::Server, 5_000).unwrap());
    let _own = listener(&lab, 5_000);
    assert!(lab.listens(Endpoint::Server, 5_000).unwrap());
    lab.reply(connection, RefusalReply::Retry);
    assert_eq!(said(asking), "5000");
    assert_eq!(refusals.try_recv().ok(), None);
    assert!(
        lab.programs(Endpoint::Server)
            .iter()
            .filter(|name| *name == "python3")
            .count()
            == 2
    );
}

#[test]
fn without_a_receiver_connections_are_rejected() {
    let (lab, refusals, station) = open();
    drop(refusals);
    assert_eq!(said(ask(&lab, &station, 5_000, false)), "refused");
}

#[test]
fn accepted_connections_are_not_reported() {
    let (lab, refusals, station) = open();
    let _listener = listener(&lab, 5_000);
    assert_eq!(said(ask(&lab, &station, 5_000, false)), "5000");
    assert_eq!(refusals.try_recv().ok(), None);
}
