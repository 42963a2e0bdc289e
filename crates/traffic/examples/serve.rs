//! The traffic server alone, for benchmarks: `serve [ADDRESS] [THREADS] [RATE]`, until its standard input is closed.

use netburn_traffic::server::{Server, ServerConfig};
use std::error::Error;
use std::io::Read;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let threads = arguments.next().map(|text| text.parse()).transpose()?;
    let rate = arguments.next().map(|text| text.parse()).transpose()?;
    let config = ServerConfig {
        listen: vec![address.parse()?],
        threads,
        rate,
        ..ServerConfig::default()
    };
    let server = Server::bind(config).await?;
    println!("{}", server.addresses().http[0]);
    let handle = server.handle();
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = ended.send(());
    });
    server.run(async { drop(end.await) }).await?;
    println!("{:#?}", handle.health());
    Ok(())
}
