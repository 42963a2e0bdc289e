//! Connections that the server's kernel refuses.

use crate::common::{Running, helper, plan, start};
use netburn_lab::{Begin, Call, Ended, Lab, Reply};
use netburn_linux::Monotonic;
use netburn_network::Endpoint;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

fn open() -> (Lab, Receiver<Call>, String) {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = Lab::open(&plan, helper()).unwrap();
    let (tell, calls) = channel();
    let begin = Begin {
        calls: Some(tell),
        ..Begin::default()
    };
    lab.begin_with(Monotonic::now(), begin).unwrap();
    (lab, calls, plan.stations[0].name.clone())
}

/// Connects to this port of the server, and says what it reads there.
fn ask(lab: &Lab, station: &str, port: u16, v6: bool) -> Running {
    let family = if v6 { "AF_INET6" } else { "AF_INET" };
    let script = format!(
        "import socket\ns = socket.socket(socket.{family})\ntry:\n s.connect(('server', {port})); print(s.recv(99).decode())\n\
         except ConnectionRefusedError: print('refused')"
    );
    start(lab, station, &["python3", "-c", &script])
}

/// Listens at this port of the server, and says there that it is this one.
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
    assert_eq!(ended, Ended::Status(0));
    text.trim().to_owned()
}

#[test]
fn a_refused_connection_is_told_with_its_program_and_goes_where_the_reply_says() {
    let (lab, calls, station) = open();
    let _other = listener(&lab, 20_000);
    for v6 in [false, true] {
        let asking = ask(&lab, &station, 5_000, v6);
        let call = calls.recv_timeout(PATIENCE).unwrap();
        assert_eq!((call.station, call.port), (0, 5_000));
        assert_eq!(lab.caller(call).as_deref(), Some("python3"));
        lab.reply(call, Reply::Refuse);
        assert_eq!(said(asking), "refused");
        assert_eq!(lab.caller(call), None);
    }
    let asking = ask(&lab, &station, 5_000, false);
    let call = calls.recv_timeout(PATIENCE).unwrap();
    lab.reply(call, Reply::At(20_000));
    assert_eq!(said(asking), "20000");
    // Further connections of that station go there by themselves, IPv6 too; those of others don't.
    assert_eq!(said(ask(&lab, &station, 5_000, true)), "20000");
    let other = lab.names()[1].to_owned();
    let asking = ask(&lab, &other, 5_000, false);
    let call = calls.recv_timeout(PATIENCE).unwrap();
    assert_eq!((call.station, call.port), (1, 5_000));
    // One that listens at the port itself comes first, once it does.
    assert!(!lab.listens(Endpoint::Server, 5_000).unwrap());
    let _own = listener(&lab, 5_000);
    assert!(lab.listens(Endpoint::Server, 5_000).unwrap());
    lab.reply(call, Reply::Again);
    assert_eq!(said(asking), "5000");
    assert_eq!(calls.try_recv().ok(), None);
    assert!(
        lab.programs(Endpoint::Server)
            .iter()
            .filter(|name| *name == "python3")
            .count()
            == 2
    );
}

#[test]
fn nobody_who_replies_is_a_refusal() {
    let (lab, calls, station) = open();
    drop(calls);
    assert_eq!(said(ask(&lab, &station, 5_000, false)), "refused");
}

#[test]
fn what_is_accepted_is_no_call() {
    let (lab, calls, station) = open();
    let _listener = listener(&lab, 5_000);
    assert_eq!(said(ask(&lab, &station, 5_000, false)), "5000");
    assert_eq!(calls.try_recv().ok(), None);
}
