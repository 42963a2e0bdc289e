//! A member with a slow disk.

use super::*;
use netburn_protocol::join_url::Place;
use netburn_protocol::messages::standing::{MAX_FROM_MEMBER, RequestResults};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

/// The spools are read before the connection is opened, because the controller closes a connection without a
/// registration. On an open connection, heartbeats do not wait for the disk.
#[test]
fn a_slow_disk_delays_the_connection_but_no_heartbeat() {
    let dir = tempfile::tempdir().unwrap();
    let (mut late, mut thread) = disk_queue(late::MAX_WAITING_REQUESTS);
    let (proceed, waiting) = std::sync::mpsc::channel::<()>();
    let disk = std::thread::spawn(move || {
        assert_eq!(thread.next(), Some(Request::Connecting));
        waiting.recv().unwrap();
        thread.reply(Reply::Pending(Vec::new()));
        assert_eq!(thread.next(), Some(Request::Next(None)));
        // Until the end of the test.
        let _ = waiting.recv();
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let place = Place::Network {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
            tls: false,
        };
        let settings = Settings {
            url: JoinUrl {
                place,
                token: Some("token".to_owned()),
                fingerprint: None,
            },
            name: "kitchen".to_owned(),
            about: MemberInfo::this_process(Role::Agent, None, BTreeMap::new()),
            server: None,
            limits: Limits::default(),
            spool: SpoolFolder::new(dir.path()),
        };
        let mut member = Member::new(settings, |_| ()).unwrap();
        let controller = async {
            let early = timeout(std::time::Duration::from_millis(200), listener.accept()).await;
            assert!(early.is_err(), "connected before the spools are read");
            proceed.send(()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut channel = Channel::accept(stream, MAX_FROM_MEMBER).await.unwrap();
            let first = channel.receiver.message::<FromMember>().await.unwrap();
            assert!(matches!(first, Ok(FromMember::Register(_))), "{first:?}");
            let welcome = ToMember::Welcome(Registered {
                protocol: messages::VERSION,
                version: "netburn test".to_owned(),
                fleet: "home".to_owned(),
            });
            channel.sender.message(&welcome).await.unwrap();
            // More requests than the queue of the thread has slots.
            for number in 0..2 * late::MAX_WAITING_REQUESTS {
                let run = format!("r{number}");
                let request = ToMember::RequestResults(RequestResults { run });
                channel.sender.message(&request).await.unwrap();
            }
            let limit = to_std(HEARTBEAT_INTERVAL * 4);
            let next = timeout(limit, channel.receiver.message::<FromMember>()).await;
            let next = next.expect("a heartbeat in time").unwrap();
            assert!(matches!(next, Ok(FromMember::Heartbeat)), "{next:?}");
        };
        tokio::select! {
            _ = member.stay_connected(std::future::pending::<()>(), &mut late) => {
                panic!("the connection ended")
            }
            () = controller => {}
        }
    });
    drop(proceed);
    disk.join().unwrap();
}
