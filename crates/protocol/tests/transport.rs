//! Messages over every transport, and invalid data.

use netburn_protocol::messages::{Message, Ping, Stop, ToAgent, ToController};
use netburn_protocol::transport::{Channel, ChannelError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

const LIMIT: usize = 1 << 20;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Both ends of a WebSocket on loopback.
async fn sockets() -> (Channel, Channel) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let accept = async {
        Channel::accept(listener.accept().await.unwrap().0, LIMIT)
            .await
            .unwrap()
    };
    let (ours, theirs) = tokio::join!(accept, async { Channel::connect(&url, LIMIT).await.unwrap() });
    (ours, theirs)
}

/// A pair of every kind.
async fn pairs() -> Vec<(Channel, Channel)> {
    let (one, other) = tokio::io::duplex(1000);
    let (left, right) = UnixStream::pair().unwrap();
    vec![
        (Channel::over(one, LIMIT), Channel::over(other, LIMIT)),
        (Channel::over(left, LIMIT), Channel::over(right, LIMIT)),
        sockets().await,
    ]
}

#[test]
fn messages_arrive_whole_and_in_order() {
    block_on(async {
        for (mut ours, mut theirs) in pairs().await {
            let long = ToAgent::Stop(Stop {
                reason: "ü".repeat(LIMIT / 2 - 100),
            });
            let say = async {
                for id in 0..100 {
                    ours.sender.message(&ToAgent::Ping(Ping { id })).await.unwrap();
                }
                ours.sender.message(&long).await.unwrap();
                ours.sender.close().await;
            };
            let hear = async {
                for id in 0..100 {
                    let message: ToAgent = theirs.receiver.message().await.unwrap().unwrap();
                    assert_eq!(message, ToAgent::Ping(Ping { id }));
                }
                assert_eq!(theirs.receiver.message().await.unwrap(), Ok(long.clone()));
                let end = theirs.receiver.text().await.unwrap_err();
                assert!(matches!(end, ChannelError::Closed), "{end}");
            };
            tokio::join!(say, hear);
        }
    });
}

#[test]
fn a_message_at_the_limit_is_taken_and_one_beyond_is_not() {
    block_on(async {
        for (mut ours, mut theirs) in pairs().await {
            let say = async {
                ours.sender.text("x".repeat(LIMIT)).await.unwrap();
                // The peer may close the connection meanwhile.
                let _ = ours.sender.text("x".repeat(LIMIT + 1)).await;
            };
            let hear = async {
                assert_eq!(theirs.receiver.text().await.unwrap().len(), LIMIT);
                let error = theirs.receiver.text().await.unwrap_err();
                assert!(matches!(error, ChannelError::TooLong { limit: LIMIT }), "{error}");
                drop(theirs);
            };
            tokio::join!(say, hear);
        }
    });
}

#[test]
fn an_announced_gigabyte_is_not_waited_for() {
    block_on(async {
        let (mut peer, ours) = tokio::io::duplex(64);
        peer.write_all(&(1u32 << 30).to_be_bytes()).await.unwrap();
        let mut receiver = Channel::over(ours, LIMIT).receiver;
        assert!(matches!(receiver.text().await, Err(ChannelError::TooLong { .. })));

        // The same as a WebSocket frame (RFC 6455, 5.2): text, masked, 64 bits of length.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let opening = async {
            let request = "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                           Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
            peer.write_all(request.as_bytes()).await.unwrap();
            let mut answer = [0; 12];
            peer.read_exact(&mut answer).await.unwrap();
            assert_eq!(&answer, b"HTTP/1.1 101");
            let mut frame = vec![0x81, 0xff];
            frame.extend_from_slice(&(1u64 << 30).to_be_bytes());
            frame.extend_from_slice(&[0; 4]);
            peer.write_all(&frame).await.unwrap();
        };
        let accept = async {
            Channel::accept(listener.accept().await.unwrap().0, LIMIT)
                .await
                .unwrap()
        };
        let (mut channel, ()) = tokio::join!(accept, opening);
        let error = channel.receiver.text().await.unwrap_err();
        assert!(matches!(error, ChannelError::TooLong { .. }), "{error}");
    });
}

#[test]
fn invalid_transport_data_is_an_error() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut peer = TcpStream::connect(address).await.unwrap();
        peer.write_all(&[0xff; 100]).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let error = Channel::accept(stream, LIMIT).await.unwrap_err();
        assert!(matches!(error, ChannelError::Framing(_)), "{error}");

        let error = Channel::connect("http://127.0.0.1:1/", LIMIT).await.unwrap_err();
        assert!(error.to_string().contains("does not begin with ws://"), "{error}");
        drop(listener);
        let error = Channel::connect(&format!("ws://{address}/"), LIMIT).await.unwrap_err();
        assert!(matches!(error, ChannelError::Broken(_)), "{error}");
    });
}

#[test]
fn an_invalid_message_differs_from_the_end() {
    block_on(async {
        for (mut ours, mut theirs) in pairs().await {
            ours.sender.text("nonsense".to_owned()).await.unwrap();
            ours.sender.text("{\"type\":\"bye\"}".to_owned()).await.unwrap();
            let first = theirs.receiver.message::<ToController>().await.unwrap();
            assert!(first.is_err());
            let second = theirs.receiver.message::<ToController>().await.unwrap().unwrap();
            assert_eq!(second.to_text(), "{\"type\":\"bye\"}");
        }
    });
}
