//! A server for one test, and a client that sends raw bytes.

use netburn_traffic::server::{Addresses, Limits, Server, ServerConfig, ServerHandle};
use netburn_traffic::tls::Identity;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::time::Duration;
use tokio::sync::oneshot;

/// A running server; stopped when dropped.
pub(crate) struct Served {
    pub(crate) addresses: Addresses,
    pub(crate) handle: ServerHandle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Timeout that only failing tests reach.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a configuration with free loopback ports and two threads.
pub(crate) fn config() -> ServerConfig {
    ServerConfig {
        listen: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        listen_tls: vec![SocketAddr::from(([127, 0, 0, 1], 0))],
        threads: NonZeroUsize::new(2),
        ..ServerConfig::default()
    }
}

/// The same with these limits.
pub(crate) fn limited(limits: Limits) -> ServerConfig {
    ServerConfig { limits, ..config() }
}

/// The same with a generated certificate.
pub(crate) fn with_tls() -> ServerConfig {
    let identity = Identity::generate(&["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    ServerConfig {
        tls: Some(identity),
        ..config()
    }
}

/// Starts a server.
pub(crate) fn serve(config: ServerConfig) -> Served {
    let (tell, told) = std::sync::mpsc::channel();
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let server = Server::bind(config).await.unwrap();
            tell.send((server.addresses().clone(), server.handle())).unwrap();
            server.run(async { drop(stopped.await) }).await.unwrap();
        });
    });
    let (addresses, handle) = told.recv().unwrap();
    Served {
        addresses,
        handle,
        stop: Some(stop),
        thread: Some(thread),
    }
}

impl Served {
    pub(crate) fn http(&self) -> SocketAddr {
        self.addresses.http[0]
    }

    pub(crate) fn connect(&self) -> Client {
        Client::to(self.http())
    }

    /// Waits until this many requests are counted, shortly after their responses arrive.
    pub(crate) fn health_after(&self, requests: u64) -> netburn_record::Health {
        let begun = std::time::Instant::now();
        loop {
            let health = self.handle.health();
            if health.operations >= requests {
                return health;
            }
            assert!(begun.elapsed() < PATIENCE, "{requests} requests: {health:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops the server and waits for its end.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A client that sends raw bytes.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
}

/// Head of a response.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn length(&self) -> u64 {
        self.field("content-length").unwrap().parse().unwrap()
    }
}

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that rejects a request may close the connection before it has read everything.
        let _ = self.stream.get_mut().write_all(bytes.as_ref());
    }

    pub(crate) fn half_close(&mut self) {
        self.stream.get_mut().shutdown(Shutdown::Write).unwrap();
    }

    /// Returns the head of the next response; `None` if the connection ended.
    pub(crate) fn head(&mut self) -> Option<Head> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let status = lines[0].strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
        let split = |line: &String| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_owned(), value.to_owned())
        };
        Some(Head {
            status,
            fields: lines[1..].iter().map(split).collect(),
        })
    }

    pub(crate) fn body(&mut self, length: u64) -> Vec<u8> {
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body).unwrap();
        body
    }

    /// Sends a request and returns its response with the body.
    pub(crate) fn ask(&mut self, request: impl AsRef<[u8]>) -> (Head, Vec<u8>) {
        self.send(request);
        let head = self.head().expect("an answer");
        let body = self.body(head.length());
        (head, body)
    }

    /// Returns whether the server closes the connection without further data.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => rest.is_empty(),
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// Returns a GET request.
pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}

/// Returns the expected content.
pub(crate) fn content(from: u64, length: u64) -> Vec<u8> {
    let pool = netburn_traffic::content::Content::get().unwrap();
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < length {
        let at = from + bytes.len() as u64;
        bytes.extend_from_slice(&pool.piece(at, length - bytes.len() as u64));
    }
    bytes
}
