//! The page of metrics for Prometheus.

use crate::exit::CliError;
use netburn_interop::export::openmetrics::live::{self, PartValues, Values};
use netburn_record::UnixTime;
use netburn_units::Probability;
use netburn_watch::Part;
use netburn_watch::live::Live;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Default port.
pub(super) const PORT: u16 = 4488;
/// Maximum length of the head of a request.
const MAX_HEAD: usize = 8 * 1024;
/// Maximum number of connections at one time.
const MAX_CONNECTIONS: usize = 16;
/// Time limit of a connection.
const LIMIT: Duration = Duration::from_secs(10);
/// Content type of OpenMetrics (the OpenMetrics specification, 1.0).
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Values that are not counters of probes.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    /// Rules, and whether their alerts are active.
    pub(super) alerts: Vec<(String, bool)>,
    /// Causes of the last finished hour.
    pub(super) causes: Vec<&'static str>,
    /// Time at which the last record with a load was complete.
    pub(super) last_load: Option<UnixTime>,
    /// True if there is a record.
    pub(super) is_recording: bool,
}

/// The server of the page.
pub(super) struct Metrics {
    pub(super) address: SocketAddr,
    text: Arc<Mutex<String>>,
}

impl Metrics {
    /// Listens at an address.
    pub(super) async fn bind(wanted: SocketAddr) -> Result<Metrics, CliError> {
        let listener = TcpListener::bind(wanted).await;
        let listener =
            listener.map_err(|error| CliError::Usage(format!("--metrics: can't listen at {wanted}: {error}")))?;
        let address = listener.local_addr().unwrap_or(wanted);
        let text = Arc::new(Mutex::new(String::from("# EOF\n")));
        tokio::spawn(serve(listener, Arc::clone(&text)));
        Ok(Metrics { address, text })
    }

    /// Replaces the values.
    pub(super) fn show(&self, live: &Live, shown: &Shown) {
        let parts = Part::ALL.into_iter().filter_map(|part| {
            let of = live.part(part);
            (of.answered + of.lost > 0).then(|| PartValues {
                name: part.name(),
                answered: of.answered,
                lost: of.lost,
                sum_s: of.sum_ns as f64 / 1e9,
                quantiles: live::LEVELS.map(|(_, ppb)| {
                    let level = Probability::from_ppb(ppb)?;
                    of.percentile(level).flatten().map(|delay| delay.as_secs_f64())
                }),
            })
        });
        let text = live::text(&Values {
            parts: parts.collect(),
            alerts: &shown.alerts,
            causes: &shown.causes,
            last_load: shown.last_load,
            is_recording: shown.is_recording,
            version: env!("CARGO_PKG_VERSION"),
        });
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

async fn serve(listener: TcpListener, text: Arc<Mutex<String>>) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(LIMIT, answer(stream, &text)).await;
                    drop(permit);
                });
            }
            // Too many open files, for example.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Answers one request.
async fn answer(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await?;
        if count == 0 || head.len() + count > MAX_HEAD {
            return Ok(());
        }
        head.extend_from_slice(&piece[..count]);
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    let (status, kind, content) = match (method, path) {
        (b"GET" | b"HEAD", b"/metrics") => ("200 OK", TYPE, text),
        (b"GET" | b"HEAD", _) => ("404 Not Found", "text/plain", "metrics are at /metrics\n"),
        _ => ("405 Method Not Allowed", "text/plain", "only GET is supported\n"),
    };
    let mut response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n",
        content.len()
    );
    if method != b"HEAD" {
        response.push_str(content);
    }
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
