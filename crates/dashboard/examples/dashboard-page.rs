//! Dashboard server: `cargo run -p netburn-dashboard --example dashboard-page -- DIR [ADDRESS:PORT]`.

use netburn_dashboard::{Config, Server};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut config = Config::new(arguments.next().unwrap_or_else(|| "runs".to_owned()).into());
    if let Some(listen) = arguments.next() {
        config.listen = listen.parse().map_err(std::io::Error::other)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = Server::bind(config).await?;
        println!("{}", server.local_url());
        server.run(std::future::pending()).await;
        Ok(())
    })
}
