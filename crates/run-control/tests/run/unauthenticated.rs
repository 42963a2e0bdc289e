//! Unauthenticated and misbehaving peers: the run continues.

use crate::support::{Memory, Told, four_uses, never, run};
use crate::threads::Threads;
use netburn_protocol::messages::{self, Bye, Hello, Pong, Progress, Ready, Rows, ToAgent, ToController};
use netburn_protocol::transport::{Channel, ChannelError};
use netburn_record::{EventKind, Loss, LossCause, Role};
use netburn_run_control::{AgentError, ConnectionError, Join};
use netburn_units::Instant;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn hello(join: &Join) -> Hello {
    Hello {
        protocol: messages::VERSION,
        role: join.role,
        name: join.name.clone(),
        token: join.token.clone(),
        version: "unauthenticated".to_owned(),
        reconnect: false,
    }
}

/// Sends one message, and returns the reason of its rejection.
fn rejected(url: &str, message: &str) -> String {
    block_on(async {
        let mut channel = Channel::connect(url, messages::MAX_TO_AGENT).await.unwrap();
        channel.sender.text(message.to_owned()).await.unwrap();
        let reason = match channel.receiver.message().await.unwrap().unwrap() {
            ToAgent::Rejected(rejected) => rejected.reason,
            other => panic!("{other:?}"),
        };
        let end = channel.receiver.text().await.unwrap_err();
        assert!(matches!(end, ChannelError::Closed), "{end}");
        reason
    })
}

/// Sends bytes to a new connection and waits until it is closed.
fn thrown_out(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    // It may be closed while this side still writes.
    let _ = stream.write_all(bytes);
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Everything that an unauthenticated peer can try. Returns the reasons.
fn mischief(join: &Join) -> Vec<String> {
    let address: SocketAddr = join
        .url
        .trim_start_matches("ws://")
        .trim_end_matches('/')
        .parse()
        .unwrap();
    let say = |hello: Hello| rejected(&join.url, &messages::Message::to_text(&ToController::Hello(hello)));
    let mut reasons = vec![
        say(Hello {
            token: "0".repeat(64),
            ..hello(join)
        }),
        say(Hello {
            protocol: 99,
            ..hello(join)
        }),
        say(Hello {
            name: "fridge".to_owned(),
            ..hello(join)
        }),
        // The name is in use.
        say(hello(join)),
        rejected(&join.url, "{\"type\":\"rows\",\"sequence\":1,\"batch\":{}}"),
        rejected(&join.url, "nonsense"),
        rejected(&join.url, &"[".repeat(100_000)),
    ];
    reasons.sort();
    thrown_out(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    thrown_out(address, &[0xff; 4096]);
    let mut gigabyte = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\xff"
        .to_vec();
    gigabyte.extend_from_slice(&(1u64 << 30).to_be_bytes());
    gigabyte.extend_from_slice(&[7; 1000]);
    thrown_out(address, &gigabyte);
    // More silent connections than are allowed.
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
    drop(silent);
    reasons
}

#[test]
fn unauthenticated_peers_are_rejected_and_the_run_continues() {
    let threads = Threads::default();
    let joins = Arc::clone(&threads.joins);
    let (found, reasons) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Vec::new())));
    let (thread, told_reasons) = (Arc::clone(&found), Arc::clone(&reasons));
    let mut told = Told {
        when_running: Some(Box::new(move || {
            let join = joins
                .lock()
                .unwrap()
                .iter()
                .find(|join| join.name == "laptop")
                .unwrap()
                .clone();
            *thread.lock().unwrap() = Some(std::thread::spawn(move || {
                *told_reasons.lock().unwrap() = mischief(&join);
            }));
        })),
        ..Told::default()
    };
    let mut memory = Memory::default();
    let outcome = run(&four_uses("8 s"), &mut threads.clone(), &mut memory, &mut told, never()).unwrap();
    found.lock().unwrap().take().unwrap().join().unwrap();
    let reasons = reasons.lock().unwrap();
    let expected = [
        "`laptop` is already connected",
        "invalid message of protocol 1: ",
        "invalid message of protocol 1: ",
        "protocol version mismatch: remote 99, local 1; use the same netburn version on all devices",
        "unexpected message `rows` before `hello`",
        "unknown name `fridge` for this role",
        "wrong token",
    ];
    assert_eq!(reasons.len(), expected.len());
    for (reason, expected) in reasons.iter().zip(expected) {
        assert!(reason.starts_with(expected), "{reason}");
    }
    assert_eq!(outcome.lost, []);
    assert_eq!(memory.health().len(), 5);
    // voip: one every 131.072 ms in 8 s.
    assert!(memory.operations(2).filter(|row| row.workload == 0).count() >= 61);
    assert_eq!(memory.events(EventKind::Lost).len(), 0);
}

/// Joins correctly, and then sends arbitrary messages.
fn babbler(join: &Join) -> Result<(), AgentError> {
    block_on(async {
        let mut channel = Channel::connect(&join.url, messages::MAX_TO_AGENT).await.unwrap();
        channel.sender.message(&ToController::Hello(hello(join))).await.unwrap();
        let mut begun = false;
        while let Ok(Ok(message)) = channel.receiver.message::<ToAgent>().await {
            let answer = match message {
                ToAgent::Ping(ping) => ToController::Pong(Pong {
                    id: ping.id,
                    received: 1_000_000_000,
                    sent: 1_000_000_000,
                }),
                ToAgent::Assign(_) => ToController::Ready(Ready::default()),
                ToAgent::Start(_) => {
                    begun = true;
                    ToController::Progress(Progress { at: 0, pending: 0 })
                }
                // Answers each rejection with the next unexpected message.
                ToAgent::Rejected(_) if begun => ToController::Rows(Rows {
                    sequence: 77,
                    batch: messages::Batch::default(),
                }),
                _ => continue,
            };
            channel.sender.message(&answer).await.ok();
            if begun {
                channel.sender.message(&ToController::Hello(hello(join))).await.ok();
            }
        }
        assert!(begun);
        Ok(())
    })
}

#[test]
fn an_agent_that_floods_is_lost_and_the_others_continue() {
    let mut threads = Threads {
        instead: Some(("desktop", babbler)),
        ..Threads::default()
    };
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let outcome = run(&four_uses("2 s"), &mut threads, &mut memory, &mut told, never()).unwrap();
    assert_eq!(outcome.lost.len(), 1);
    let (name, loss) = &outcome.lost[0];
    assert_eq!((name.as_str(), loss.cause), ("desktop", LossCause::MessagesRejected));
    let lost = memory.events(EventKind::Lost);
    assert_eq!((lost.len(), lost[0].station), (1, Some(3)));
    assert_eq!(memory.health().len(), 4);
    assert!(
        memory
            .operations(2)
            .any(|row| row.operation.due > Instant::from_millis(1500))
    );
}

/// Joins, and leaves when it receives its assignment.
fn deserter(join: &Join) -> Result<(), AgentError> {
    block_on(async {
        let mut channel = Channel::connect(&join.url, messages::MAX_TO_AGENT).await.unwrap();
        channel.sender.message(&ToController::Hello(hello(join))).await.unwrap();
        while let Ok(Ok(message)) = channel.receiver.message::<ToAgent>().await {
            if matches!(message, ToAgent::Assign(_)) {
                let reason = Some("it would rather not".to_owned());
                channel
                    .sender
                    .message(&ToController::Bye(Bye { code: None, reason }))
                    .await
                    .ok();
            }
        }
        Ok(())
    })
}

#[test]
fn an_agent_that_leaves_before_the_start_is_reported() {
    let mut threads = Threads {
        instead: Some(("tv", deserter)),
        ..Threads::default()
    };
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let outcome = run(&four_uses("1 s"), &mut threads, &mut memory, &mut told, never()).unwrap();
    let loss = Loss::new(LossCause::Left, "it would rather not");
    assert_eq!(outcome.lost, [("tv".to_owned(), loss)]);
    let lost = memory.events(EventKind::Lost);
    assert_eq!((lost.len(), lost[0].station, lost[0].at), (1, Some(1), Instant::ZERO));
    assert!(memory.operations(2).count() > 0);
}

/// Never joins, but keeps running.
fn dawdler(_: &Join) -> Result<(), AgentError> {
    Err(AgentError::Connect(ConnectionError::OutOfOrder))
}

#[test]
fn without_a_server_there_is_no_run() {
    let mut threads = Threads {
        instead: Some(("server", dawdler)),
        ..Threads::default()
    };
    let (mut memory, mut told) = (Memory::default(), Told::default());
    let error = run(&four_uses("1 s"), &mut threads, &mut memory, &mut told, never()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no server to measure against: server: its process ended: \
         can't connect to the controller: unexpected message before `welcome`"
    );
    assert_eq!(Role::Server, threads.joins.lock().unwrap()[0].role);
}
