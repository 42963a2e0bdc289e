//! Accept loops of the listening sockets.

use super::*;

/// Accepts TCP connections.
pub(super) async fn accept_tcp(
    listener: TcpListener,
    tls: TlsAcceptor,
    pending: PendingConnections,
    router: Arc<Router>,
) {
    loop {
        let ticket = router.admission_limit.ticket().await;
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                backoff(&error).await;
                continue;
            }
        };
        let (tls, router) = (tls.clone(), Arc::clone(&router));
        let stays = Arc::new(AtomicBool::new(false));
        let address = Some(peer.ip().to_canonical());
        admit(&pending, address, Arc::clone(&stays), async move {
            match open(stream, peer, tls, ticket).await {
                Ok(accepted) => http::answer(accepted, router, &stays).await,
                Err(error) => tracing::debug!(%peer, %error, "connection failed"),
            }
        });
    }
}

/// Accepts connections of this user's other commands.
pub(super) async fn accept_local(listener: LocalListener, pending: PendingConnections, router: Arc<Router>) {
    loop {
        match listener.accept().await {
            Ok(stream) => {
                let accepted = Accepted {
                    stream: Box::new(stream),
                    from: PeerAddr {
                        address: None,
                        tls: false,
                    },
                    ticket: Ticket::uncounted(),
                };
                let (stays, router) = (Arc::new(AtomicBool::new(false)), Arc::clone(&router));
                admit(&pending, None, Arc::clone(&stays), async move {
                    http::answer(accepted, router, &stays).await;
                });
            }
            Err(error) => backoff(&error).await,
        }
    }
}

/// Runs a connection in a slot. Its time is limited unless `stays` is set.
fn admit(
    pending: &PendingConnections,
    address: Option<IpAddr>,
    stays: Arc<AtomicBool>,
    accepted: impl Future<Output = ()> + Send + 'static,
) {
    let slot: PendingSlot = pending.add(address);
    let number = slot.number();
    let task = tokio::spawn(async move {
        let mut accepted = std::pin::pin!(accepted);
        let over = timeout(to_std(crate::hub::admission::UNAUTHENTICATED_TIMEOUT), &mut accepted)
            .await
            .is_ok();
        if !over && stays.load(Ordering::Relaxed) {
            accepted.await;
        }
        drop(slot);
    });
    pending.set_task(number, task.abort_handle());
}

/// The process has no free descriptors, or the peer closed the connection. Existing connections have
/// priority.
async fn backoff(error: &io::Error) {
    tracing::warn!(%error, "accept failed");
    tokio::time::sleep(to_std(ACCEPT_BACKOFF)).await;
}

pub(super) fn acceptor(identity: &Identity) -> TlsAcceptor {
    let mut config = (*identity.server_config()).clone();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

pub(super) fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
    if at.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // So that a controller can restart at once after it was killed.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&at.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}
