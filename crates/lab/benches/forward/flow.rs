//! Both ends of the flows that run inside the lab.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// UDP payload of a packet of 1500 bytes.
pub(crate) const CONTENT: usize = 1_472;
/// Time at the start that is not counted.
const WARMUP: Duration = Duration::from_secs(1);

/// Runs the command given by the arguments.
pub(crate) fn run(words: &[&str]) -> io::Result<()> {
    match *words {
        ["datagrams", to, rate, seconds] => send(to, number(rate), number(seconds) as u64),
        ["count", port, seconds] => count(number(port) as u16, number(seconds)),
        ["echo"] => echo(),
        ["ping", to, times] => ping(to, number(times) as u64),
        ["stream", seconds] => stream(number(seconds) as u64),
        ["fetch", from, seconds] => fetch(from, number(seconds)),
        _ => Err(io::Error::other(format!("what is {words:?}?"))),
    }
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

/// Sends datagrams at a rate per second.
fn send(to: &str, rate: f64, seconds: u64) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    let content = [0; CONTENT];
    let (began, mut sent) = (Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(seconds) {
        let due = (began.elapsed().as_secs_f64() * rate) as u64;
        while sent < due {
            // Datagrams that do not fit into a full queue are lost, as on any host.
            let _ = socket.send(&content);
            sent += 1;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(())
}

/// Counts datagrams; prints Mbit/s.
fn count(port: u16, seconds: f64) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", port))?;
    println!("ready");
    let mut buffer = [0; 2_048];
    socket.recv(&mut buffer)?;
    let from = Instant::now() + WARMUP;
    let until = from + Duration::from_secs_f64(seconds);
    let mut bytes = 0;
    loop {
        let length = socket.recv(&mut buffer)?;
        let now = Instant::now();
        if now >= until {
            break;
        }
        if now >= from {
            bytes += length;
        }
    }
    println!("{}", bytes as f64 * 8.0 / seconds / 1e6);
    Ok(())
}

fn echo() -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 7))?;
    println!("ready");
    let mut buffer = [0; 2_048];
    loop {
        let (length, from) = socket.recv_from(&mut buffer)?;
        socket.send_to(&buffer[..length], from)?;
    }
}

/// Measures round trips of 64 bytes one at a time; prints the median in µs.
fn ping(to: &str, times: u64) -> io::Result<()> {
    let socket = UdpSocket::bind(("0.0.0.0", 0))?;
    socket.connect(to)?;
    let mut all = Vec::new();
    let mut buffer = [0; 64];
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(5));
        let began = Instant::now();
        socket.send(&[0; 64])?;
        socket.recv(&mut buffer)?;
        all.push(began.elapsed().as_secs_f64() * 1e6);
    }
    all.sort_by(f64::total_cmp);
    println!("{}", all[all.len() / 2]);
    Ok(())
}

fn stream(seconds: u64) -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", 9))?;
    println!("ready");
    let (mut stream, _) = listener.accept()?;
    let (began, content) = (Instant::now(), vec![0; 1 << 20]);
    while began.elapsed() < Duration::from_secs(seconds) {
        if stream.write_all(&content).is_err() {
            break;
        }
    }
    Ok(())
}

fn fetch(from: &str, seconds: f64) -> io::Result<()> {
    let mut stream = TcpStream::connect(from)?;
    let mut buffer = vec![0; 1 << 20];
    let from = Instant::now() + WARMUP;
    let until = from + Duration::from_secs_f64(seconds);
    let mut bytes = 0;
    loop {
        let length = stream.read(&mut buffer)?;
        let now = Instant::now();
        if length == 0 || now >= until {
            break;
        }
        if now >= from {
            bytes += length;
        }
    }
    println!("{}", bytes as f64 * 8.0 / seconds / 1e6);
    Ok(())
}
